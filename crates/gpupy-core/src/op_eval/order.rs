//! The order of elements that a sort gives.
//!
//! Owns [`order`]. Invariant: it is a total order of classes of equal elements: NaN equals NaN, and is
//! behind all numbers; zeros of both signs are equal.
//!
//! Not here: complex numbers, which sort by their parts (`whole.rs`).

use super::element::{Element, Wide};
use crate::dtype::DType;
use crate::for_real_type;
use std::cmp::Ordering;

/// The order of two elements of a real dtype, by their bits, zero-extended.
pub fn order(dtype: DType, a: u64, b: u64) -> Ordering {
    match (wide(dtype, a), wide(dtype, b)) {
        (Wide::Signed(a), Wide::Signed(b)) => a.cmp(&b),
        (Wide::Float(a), Wide::Float(b)) => {
            a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
        }
        _ => a.cmp(&b),
    }
}

fn wide(dtype: DType, bits: u64) -> Wide {
    for_real_type!(dtype, T => T::of(bits).wide(), _ => Wide::Unsigned(bits))
}
