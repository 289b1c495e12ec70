//! Operations on arrays: ufuncs, operators, reductions, and the whole-program forms.
//!
//! A [`Promotion`](promotion::Promotion) is the dtypes in which an operation computes; a [`UfuncLowering`](ufunc_lowering::UfuncLowering) what the core is
//! asked for; a [`Ufunc`](ufunc::Ufunc) has both for each combination of operands, and [`DispatchCache`](dispatch_cache::DispatchCache)
//! past them; `scalar_arithmetic.rs` computes with known numbers; an [`Operator`](operator::Operator) is Python's, and
//! `operators.rs` does it, `subclass_operands.rs` for instances of subclasses; `ufunc_call.rs` is the call of a ufunc. `py_function.rs` has compiled functions; `reduce.rs`, `library_ops.rs` and `select.rs` have reductions,
//! scans, sorts and products, and choices.
//!
//! Imports `session`, `convert`, `array`, `fallback` and `index`. Not here: numerics of any kind (`gpupy-engine`).

pub mod dispatch_cache;
pub mod library_ops;
pub mod operator;
pub mod operators;
pub mod promotion;
pub mod py_function;
pub mod reduce;
pub mod scalar_arithmetic;
pub mod select;
pub mod subclass_operands;
pub mod ufunc;
pub mod ufunc_call;
pub mod ufunc_lowering;
