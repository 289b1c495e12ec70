//! Arrays from nothing: constants and index values, which take no memory until something needs it.
//!
//! Owns the functions of `gpupy._gpupy` that `python/gpupy/_creation.py` builds on.
//!
//! Not here: NumPy's signatures and defaults (there).

use crate::array::NdArray;
use crate::dtypes;
use crate::errors::to_py;
use crate::operand::{classify, complex_array};
use crate::session::ready;
use gpupy_core::{Arg, Array, DType, Op, Scalar};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

fn known_dtype(dtype: &Bound<'_, PyAny>) -> PyResult<DType> {
    dtypes::from_any(dtype)?.ok_or_else(|| PyTypeError::new_err("the dtype is NumPy's own"))
}

/// A number as a scalar of a real dtype that holds it.
fn scalar(value: &Bound<'_, PyAny>, dtype: DType) -> PyResult<Scalar> {
    let found = classify(value)?.and_then(|operand| operand.scalar(dtype));
    found.ok_or_else(|| PyTypeError::new_err(format!("not a number of dtype {dtype}")))
}

/// An array of one value, which is a NumPy or Python number that the dtype holds.
#[pyfunction]
pub fn full(
    py: Python<'_>,
    shape: Vec<usize>,
    value: &Bound<'_, PyAny>,
    dtype: &Bound<'_, PyAny>,
) -> PyResult<NdArray> {
    let dtype = known_dtype(dtype)?;
    if let Some(array) = complex(value, dtype)? {
        // A constant of the core is a scalar, which complex numbers are not.
        let context = ready(py)?;
        let spread = array.broadcast_to(&shape).and_then(|view| context.copy(&view));
        return Ok(NdArray::lazy(spread.map_err(to_py)?));
    }
    Ok(NdArray::lazy(Array::full(&shape, scalar(value, dtype)?).map_err(to_py)?))
}

/// A number as a complex array without axes; `None` for real dtypes.
fn complex(value: &Bound<'_, PyAny>, dtype: DType) -> PyResult<Option<Array>> {
    if !dtype.is_complex() {
        return Ok(None);
    }
    let found = classify(value)?.and_then(|operand| operand.complex(dtype));
    Ok(found.or_else(|| complex_array(dtype, 0.0, 0.0)))
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
    let dtype = known_dtype(dtype)?;
    if dtype == DType::I32 {
        return Ok(NdArray::lazy(array));
    }
    Ok(NdArray::lazy(context.cast(&array, dtype).map_err(to_py)?))
}

/// `start + i * step` in the arithmetic of a real dtype, as NumPy fills a range; but for the last
/// element where that is given.
#[pyfunction]
#[pyo3(signature = (len, start, step, dtype, last=None))]
pub fn ramp(
    py: Python<'_>,
    len: usize,
    start: &Bound<'_, PyAny>,
    step: &Bound<'_, PyAny>,
    dtype: &Bound<'_, PyAny>,
    last: Option<&Bound<'_, PyAny>>,
) -> PyResult<NdArray> {
    let context = ready(py)?;
    let dtype = known_dtype(dtype)?;
    let (start, step) = (scalar(start, dtype)?, scalar(step, dtype)?);
    let last = last.map(|last| scalar(last, dtype)).transpose()?;
    let record = || {
        let index = context.index(&[len], 0)?;
        let number =
            if dtype == DType::I32 { index.clone() } else { context.cast(&index, dtype)? };
        let scaled = context.apply(Op::Mul, &[(&number).into(), step.into()])?;
        let sum = context.apply(Op::Add, &[start.into(), (&scaled).into()])?;
        let Some(last) = last else { return Ok(sum) };
        let end = Scalar::i32(len.saturating_sub(1) as i32);
        let at_end = context.apply(Op::Eq, &[(&index).into(), end.into()])?;
        context.apply(Op::Select, &[Arg::Array(&at_end), last.into(), (&sum).into()])
    };
    Ok(NdArray::lazy(record().map_err(to_py)?))
}
