//! NumPy's warnings for numbers that do not fit the dtype that they are cast to.
//!
//! Owns [`warn_of`]. Invariants: NumPy itself decides whether and how it warns, by casting the number that fits
//! least, so that its modes hold; warnings are given only for few numbers that are known already, because nothing
//! is evaluated for a warning.
//!
//! Not here: complex numbers that lose a part (`errors.rs`), Python's numbers (`setitem.rs`).

use crate::convert::{dtypes, numpy_arrays};
use crate::thresholds::T;
use gpupy_core::{DType, Op, Scalar, op_eval};
use gpupy_engine::Array;
use pyo3::prelude::*;

/// Warns where NumPy would: a float that no integer of the dtype is near, a number beyond the greatest float.
///
/// # Errors
/// The warning, where the user made an exception of it.
#[inline]
pub fn warn_of(py: Python<'_>, array: &Array, to: DType) -> PyResult<()> {
    let from = array.dtype();
    let parts = if from.is_complex() && !to.is_complex() { 2 } else { 1 };
    let (from, to) = (from.part().unwrap_or(from), to.part().unwrap_or(to));
    if is_safe(from, to) || array.size() > T.checked_casts {
        return Ok(());
    }
    match worst(array, from, to, parts) {
        Some(worst) => numpy_arrays::numpy_scalar(py, worst)?
            .call_method1("astype", (dtypes::to_numpy(py, to)?,))
            .map(|_| ()),
        None => Ok(()),
    }
}

/// Whether no number of one dtype can be too much for the other.
fn is_safe(from: DType, to: DType) -> bool {
    match to {
        DType::Bool => true,
        _ if to.is_float() && from.is_float() => to.info().greatest >= from.info().greatest,
        // Of the integers' dtypes, some have numbers beyond the greatest float16.
        DType::F16 => from == DType::Bool || from.size() == 1,
        _ => !to.is_int() || !from.is_float(),
    }
}

/// The number that fits least, if any does not, among the first of so many parts each.
fn worst(array: &Array, from: DType, to: DType, parts: usize) -> Option<Scalar> {
    let limit = limit(to)?;
    let among = |bytes: &[u8]| {
        let may_be = doubtful(bytes, from, limit, to.is_int());
        if may_be { worst_of(bytes, from, (limit, to.is_int()), parts) } else { None }
    };
    if let Some(found) = array.of_known_elements(among) {
        return found;
    }
    // All elements of a constant are its first.
    let first = array.known_at(array.offset()).filter(|_| array.size() > 0)?;
    (excess(float(first)?, to.is_int()) > limit).then_some(first)
}

fn worst_of(
    bytes: &[u8],
    from: DType,
    (limit, to_int): (f64, bool),
    parts: usize,
) -> Option<Scalar> {
    let size = from.size();
    // The imaginary parts count where the result has them, too.
    let (mut most, mut worst) = (limit, None);
    for element in bytes.chunks(parts * size) {
        let scalar = Scalar::read(from, element.get(..size)?)?;
        let excess = excess(float(scalar)?, to_int);
        if excess > most {
            (most, worst) = (excess, Some(scalar));
        }
    }
    worst
}

/// The magnitude of a number; infinity and NaN are too large for integers, and fit any float.
fn excess(x: f64, to_int: bool) -> f64 {
    match x.is_finite() {
        true => x.abs(),
        false if to_int => f64::INFINITY,
        false => 0.0,
    }
}

/// Whether a part of some element may be too much: one pass without a branch, which vectors do.
fn doubtful(bytes: &[u8], from: DType, limit: f64, to_int: bool) -> bool {
    // Where floats are wanted, infinity is one.
    let most = if to_int { f64::INFINITY } else { f64::MAX };
    let narrow_most = if to_int { f32::INFINITY } else { f32::MAX };
    let nearest = limit as f32;
    let narrow_limit = if f64::from(nearest) > limit { nearest.next_down() } else { nearest };
    let (wide, _) = bytes.as_chunks::<8>();
    let (narrow, _) = bytes.as_chunks::<4>();
    match from {
        DType::F64 => wide.iter().fold(false, |any, x| {
            let x = f64::from_ne_bytes(*x).abs();
            // NaN fits a float.
            any | ((x.is_nan() | (x > limit)) & (to_int | (x <= most)))
        }),
        DType::F32 => narrow.iter().fold(false, |any, x| {
            let x = f32::from_ne_bytes(*x).abs();
            any | ((x.is_nan() | (x > narrow_limit)) & (to_int | (x <= narrow_most)))
        }),
        _ => true,
    }
}

/// The magnitude above which a number may not fit a dtype.
fn limit(to: DType) -> Option<f64> {
    (!to.is_complex() && to != DType::Bool).then_some(to.info().greatest)
}

/// A number as a float, near enough to compare it.
fn float(scalar: Scalar) -> Option<f64> {
    Some(f64::from_bits(op_eval::eval(Op::Cast, DType::F64, &[scalar])?.bits))
}
