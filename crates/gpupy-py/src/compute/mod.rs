//! Operations on arrays: ufuncs, operators, reductions, and library ops (scans, sorts, matrix products).
//!
//! A [`Promotion`](promotion::Promotion) is the dtypes in which an operation computes; a
//! [`UfuncLowering`](ufunc_lowering::UfuncLowering) the operations of the core that a ufunc becomes. A
//! [`Ufunc`](ufunc::Ufunc) has both for each combination of operands, and a
//! [`DispatchCache`](dispatch_cache::DispatchCache) that skips them. `scalar_arithmetic.rs` computes with known
//! scalars. An [`Operator`](operator::Operator) is one of Python's operators; `operators.rs` implements them,
//! `subclass_operands.rs` for instances of subclasses. `ufunc_call.rs` is the call of a ufunc, `py_function.rs` has
//! compiled functions. `reduce.rs`, `scan_sort_matmul.rs`, `fourier.rs` and `select.rs` have reductions, library ops,
//! transforms, and choices.
//!
//! Imports `session`, `convert`, `array`, `fallback` and `index`. Not here: numerics of any kind (`gpupy-engine`).

pub mod dispatch_cache;
pub mod fourier;
pub mod operator;
pub mod operators;
pub mod promotion;
pub mod py_function;
pub mod reduce;
pub mod scalar_arithmetic;
pub mod scan_sort_matmul;
pub mod select;
pub mod subclass_operands;
pub mod ufunc;
pub mod ufunc_call;
pub mod ufunc_lowering;
