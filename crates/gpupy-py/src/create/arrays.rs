//! Arrays from nothing: constants and index values, which take no memory until they are needed.
//!
//! Owns the functions of `gpupy._gpupy` that `python/gpupy/_creation` builds on, and the fast path of NumPy's
//! most called ones: plain arguments are handled here, others in that file.
//!
//! Not here: NumPy's signatures and defaults (there).

use crate::array::ndarray::NdArray;
use crate::array::operand::{classify, complex_array};
use crate::convert::dtypes;
use crate::index::basic_key::integer;
use crate::index::listed_numbers;
use crate::session::context::{self, holds, ready};
use crate::session::errors::to_py;
use crate::session::python_objects;
use gpupy_core::{DType, Op, Scalar, op_eval};
use gpupy_engine::{Array, ArrayOrScalar, Context};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyString, PyTuple};
use smallvec::{SmallVec, smallvec};

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
        return spread(ready(py)?, &array, &shape);
    }
    Ok(NdArray::lazy(Array::full(&shape, scalar(value, dtype)?).map_err(to_py)?))
}

/// NumPy's `full` of a number, where shape and dtype are said as plainly as most are; `None` leaves it to the slow
/// path.
#[pyfunction]
pub fn full_plainly(
    shape: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
    dtype: &Bound<'_, PyAny>,
) -> PyResult<Option<NdArray>> {
    let (Some(shape), Some((context, _))) = (plain_shape(shape), context::open()) else {
        return Ok(None);
    };
    let spec = Some(dtype).filter(|spec| !spec.is_none());
    let dtype = spec.map(dtypes::known).transpose()?;
    if dtype == Some(None) {
        return Ok(None);
    }
    let dtype = dtype.flatten();
    if dtype == Some(DType::Bool) && value.is_exact_instance_of::<PyInt>() {
        // NumPy refuses ints beyond 64 bits, whose truth it takes elsewhere.
        return Ok(None);
    }
    let Some(number) = listed_numbers::number_of(value, dtype)? else { return Ok(None) };
    if !holds(number.dtype)? {
        return Ok(None);
    }
    context.full(&shape, number).map(NdArray::lazy).map(Some).map_err(to_py)
}

/// An array of one complex number: a constant of the core is a scalar, which these are not.
fn spread(context: &Context, number: &Array, shape: &[usize]) -> PyResult<NdArray> {
    let spread = number.broadcast_to(shape).and_then(|view| context.copy(&view));
    spread.map(NdArray::lazy).map_err(to_py)
}

/// NumPy's `zeros`.
pub fn zeros<'py>(
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    constant_of("zeros", 0.0, args, kwargs)
}

/// NumPy's `ones`.
pub fn ones<'py>(
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    constant_of("ones", 1.0, args, kwargs)
}

/// NumPy's `empty`.
pub fn empty<'py>(
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    constant_of("empty", 0.0, args, kwargs)
}

/// An array of one value, as the function of this name makes it.
fn constant_of<'py>(
    name: &str,
    value: f64,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = args.py();
    let given = |at| if at < args.len() { args.get_item(at).map(Some) } else { Ok(None) };
    let (shape, dtype, order) = (given(0)?, given(1)?, given(2)?);
    let (dtype, is_plain) = match kwargs {
        None => (dtype, args.len() <= 3),
        Some(kwargs) => {
            let named = kwargs.get_item(pyo3::intern!(py, "dtype"))?;
            let is_plain = args.len() == 1 && kwargs.len() == 1 && named.is_some();
            (named, is_plain)
        }
    };
    if let Some(shape) = shape.filter(|_| is_plain)
        && let Some(array) = constant(&shape, value, dtype.as_ref(), order.as_ref())?
    {
        return Ok(Bound::new(py, array)?.into_any());
    }
    let longer = python_objects::CONSTANTS.get(py)?.get_item(name)?;
    longer.call(args, kwargs)
}

/// An array of one value, where shape and dtype are said as plainly as most are and the order is C;
/// `None` leaves it to the slow path.
fn constant(
    shape: &Bound<'_, PyAny>,
    value: f64,
    dtype: Option<&Bound<'_, PyAny>>,
    order: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<NdArray>> {
    let (Some(shape), Some((context, _))) = (plain_shape(shape), context::open()) else {
        return Ok(None);
    };
    if order.is_some_and(|it| !it.cast_exact::<PyString>().is_ok_and(|it| it == "C")) {
        return Ok(None);
    }
    let dtype = dtype.filter(|dtype| !dtype.is_none());
    let dtype = dtype.map_or(Ok(Some(DType::F64)), dtypes::from_any)?;
    let Some(dtype) = dtype else { return Ok(None) };
    if let Some(number) = complex_array(dtype, value, 0.0) {
        return if holds(dtype)? { spread(context, &number, &shape).map(Some) } else { Ok(None) };
    }
    // All bits of a zero are 0 in each dtype.
    let scalar = match value.to_bits() {
        0 => Some(Scalar::zero(dtype)),
        _ => op_eval::eval(Op::Cast, dtype, &[Scalar::f64(value)]),
    };
    match scalar {
        Some(scalar) if holds(dtype)? => {
            context.full(&shape, scalar).map(NdArray::lazy).map(Some).map_err(to_py)
        }
        _ => Ok(None),
    }
}

/// A shape that is an int, a tuple or a list of ints, none of them negative; `None` for others.
fn plain_shape(shape: &Bound<'_, PyAny>) -> Option<SmallVec<[usize; 4]>> {
    let extent = |extent: &Bound<'_, PyAny>| -> Option<usize> {
        integer(extent.cast_exact::<PyInt>().ok()?)?.try_into().ok()
    };
    if let Ok(all) = shape.cast_exact::<PyTuple>() {
        return all.iter_borrowed().map(|one| extent(&one)).collect();
    }
    match shape.cast_exact::<PyList>() {
        Ok(all) => all.iter().map(|one| extent(&one)).collect(),
        Err(_) => extent(shape).map(|one| smallvec![one]),
    }
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
        // Of floats, a first element may be -0.0.
        let is = |scalar: Scalar, x: u64| dtype.is_int() && scalar == Scalar::new(dtype, x);
        let scaled = match is(step, 1) {
            true => number,
            false => context.apply(Op::Mul, &[(&number).into(), step.into()])?,
        };
        let sum = match is(start, 0) {
            true => scaled,
            false => context.apply(Op::Add, &[start.into(), (&scaled).into()])?,
        };
        let Some(last) = last else { return Ok(sum) };
        let end = Scalar::i32(len.saturating_sub(1) as i32);
        let at_end = context.apply(Op::Eq, &[(&index).into(), end.into()])?;
        context.apply(Op::Select, &[ArrayOrScalar::Array(&at_end), last.into(), (&sum).into()])
    };
    Ok(NdArray::lazy(record().map_err(to_py)?))
}
