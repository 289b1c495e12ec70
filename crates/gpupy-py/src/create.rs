//! Arrays from nothing: constants and index values, which take no memory until something needs it.
//!
//! Owns the functions of `gpupy._gpupy` that `python/gpupy/_creation.py` builds on.
//!
//! Not here: NumPy's signatures and defaults (there).

use crate::array::NdArray;
use crate::dtypes;
use crate::errors::to_py;
use crate::session::ready;
use gpupy_core::{Arg, Array, DType, Op, Scalar};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

fn lazy_dtype(dtype: &Bound<'_, PyAny>) -> PyResult<DType> {
    dtypes::from_any(dtype)?.ok_or_else(|| PyTypeError::new_err("the dtype is not a lazy one"))
}

/// An array of one value, which is a NumPy or Python scalar that the dtype holds exactly.
#[pyfunction]
pub fn full(shape: Vec<usize>, value: f64, dtype: &Bound<'_, PyAny>) -> PyResult<NdArray> {
    let scalar = match lazy_dtype(dtype)? {
        DType::F32 => Scalar::f32(value as f32),
        DType::I32 => Scalar::i32(value as i32),
        _ => Scalar::bool(value != 0.0),
    };
    Ok(NdArray::lazy(Array::full(&shape, scalar).map_err(to_py)?))
}

/// The coordinate along `axis` of every element.
#[pyfunction]
pub fn index(
    py: Python<'_>,
    shape: Vec<usize>,
    axis: usize,
    dtype: &Bound<'_, PyAny>,
) -> PyResult<NdArray> {
    let context = ready(py)?;
    let array = context.index(&shape, axis).map_err(to_py)?;
    let dtype = lazy_dtype(dtype)?;
    if dtype == DType::I32 {
        return Ok(NdArray::lazy(array));
    }
    Ok(NdArray::lazy(context.cast(&array, dtype).map_err(to_py)?))
}

/// `start + i * delta` in float32 arithmetic, as NumPy fills a range.
#[pyfunction]
pub fn ramp(py: Python<'_>, len: usize, start: f32, delta: f32) -> PyResult<NdArray> {
    let context = ready(py)?;
    let record = || {
        let index = context.index(&[len], 0)?;
        let index = context.cast(&index, DType::F32)?;
        let step = Arg::Scalar(Scalar::f32(delta));
        let scaled = context.apply(Op::Mul, &[Arg::Array(&index), step])?;
        context.apply(Op::Add, &[Arg::Scalar(Scalar::f32(start)), Arg::Array(&scaled)])
    };
    Ok(NdArray::lazy(record().map_err(to_py)?))
}

/// `start + i * step` in int32 arithmetic.
#[pyfunction]
pub fn int_ramp(py: Python<'_>, len: usize, start: i32, step: i32) -> PyResult<NdArray> {
    let context = ready(py)?;
    let record = || {
        let index = context.index(&[len], 0)?;
        let scaled =
            context.apply(Op::Mul, &[Arg::Array(&index), Arg::Scalar(Scalar::i32(step))])?;
        context.apply(Op::Add, &[Arg::Scalar(Scalar::i32(start)), Arg::Array(&scaled)])
    };
    Ok(NdArray::lazy(record().map_err(to_py)?))
}
