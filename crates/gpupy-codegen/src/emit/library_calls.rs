//! Calls of library functions.
//!
//! Owns [`call`] and [`full_name`]. Not here: the functions (`library/`), their text (`definitions.rs`).

use crate::dialect::Width;
use gpupy_core::DType;

/// A call of function `name` on operands in registers of `dtype`.
pub fn call(name: &str, dtype: DType, width: Width, args: &[&str]) -> String {
    format!("{}({})", full_name(name, dtype, width), args.join(", "))
}

/// A function's name in the text: its own name, the dtype of its operands, and their width.
pub fn full_name(name: &str, dtype: DType, width: Width) -> String {
    let four = if width == Width::Four { "_four" } else { "" };
    format!("{name}_{dtype}{four}")
}
