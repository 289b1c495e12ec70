//! Calls of the functions of the library.
//!
//! Owns [`call`] and [`full_name`]. Not here: what they compute (`library/`), their text (`definitions.rs`).

use crate::dialect::Width;
use gpupy_core::DType;

/// A call of the function of this name on operands that registers of `dtype` hold.
pub fn call(name: &str, dtype: DType, width: Width, args: &[&str]) -> String {
    format!("{}({})", full_name(name, dtype, width), args.join(", "))
}

/// The name of a function in the text: its own, the dtype of its operands, and how many elements it takes.
pub fn full_name(name: &str, dtype: DType, width: Width) -> String {
    let four = if width == Width::Four { "_four" } else { "" };
    format!("{name}_{dtype}{four}")
}
