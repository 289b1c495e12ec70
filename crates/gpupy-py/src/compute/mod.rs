//! Operations on arrays: ufuncs, operators, reductions, and the whole-program forms.
//!
//! A [`Plan`](plan::Plan) is the dtypes in which an operation computes; a [`Recipe`](recipe::Recipe) what the core is
//! asked for; a [`Ufunc`](ufunc::Ufunc) has both for each combination of operands, and [`Shortcuts`](shortcuts::Shortcuts)
//! past them; `known.rs` computes with known numbers; an [`Operator`](operator::Operator) is Python's, and
//! `operators.rs` does it, `instances.rs` for instances of subclasses; `call.rs` is the call of a ufunc. `function.rs` has compiled functions; `reduce.rs`, `forms.rs` and `select.rs` have reductions,
//! scans, sorts and products, and choices.
//!
//! Imports `session`, `convert`, `array`, `fallback` and `index`. Not here: numerics of any kind (`gpupy-engine`).

pub mod call;
pub mod forms;
pub mod function;
pub mod instances;
pub mod known;
pub mod operator;
pub mod operators;
pub mod plan;
pub mod recipe;
pub mod reduce;
pub mod select;
pub mod shortcuts;
pub mod ufunc;
