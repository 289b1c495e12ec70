//! Writing into lazy arrays.
//!
//! Owns [`set`] (`a[key] = value`) and [`output`] (`out=`, in-place operators). Invariant: a write
//! that is refused leaves the array as it was.
//!
//! Not here: which elements a key means (`basic.rs`), writes by index arrays (`pick.rs`).

use crate::array::ndarray::{Elements, NdArray, elements};
use crate::array::operand::{Held, Operand, classify, int_scalar};
use crate::array::standin::hollow;
use crate::array::subclass::is_plain;
use crate::convert::dtypes::{self, numpy};
use crate::convert::host;
use crate::convert::lend;
use crate::convert::unfit;
use crate::index::basic::Selection;
use crate::session::context::{context, ready};
use crate::session::errors::{shape_words, to_py, warn_of_lost_parts};
use gpupy_core::{DType, Op, Scalar, op_eval};
use gpupy_engine::{Array, ArrayOrScalar};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyInt};

/// Writes the result of an operation into the array given for it.
pub fn output(dest: &Array, result: &Array) -> PyResult<()> {
    let extra = dest.ndim().checked_sub(result.ndim());
    let fits = extra.is_some_and(|extra| {
        (result.shape().iter().zip(&dest.shape()[extra..])).all(|(r, d)| r == d || *r == 1)
    });
    if !fits {
        return Err(PyValueError::new_err(format!(
            "non-broadcastable output operand with shape {} doesn't match the broadcast shape {}",
            shape_words(dest.shape()),
            shape_words(result.shape())
        )));
    }
    write(dest, ArrayOrScalar::Array(result))
}

/// Writes any value that NumPy would take into a view.
///
/// # Errors
/// Shapes that do not fit, values that cannot be converted; the words are those of an assignment
/// to the view as a whole.
pub fn set(py: Python<'_>, dest: &Array, value: &Bound<'_, PyAny>) -> PyResult<()> {
    match source(py, dest.dtype(), dest.ndim(), value)? {
        Source::Array(array) => {
            check_shape(dest, &array)?;
            warn_of(value, dest.dtype())?;
            write(dest, ArrayOrScalar::Array(&array))
        }
        Source::Scalar(scalar) => write(dest, ArrayOrScalar::Scalar(scalar)),
    }
}

/// NumPy's warning where `value` is complex and `dtype`, to which it is written, is not.
///
/// # Errors
/// The warning, where the user made an exception of it.
pub fn warn_of(value: &Bound<'_, PyAny>, dtype: DType) -> PyResult<()> {
    match value.cast::<NdArray>().map(elements) {
        Ok(Elements::Lazy(array)) => warn_of_lost_parts(value.py(), array.dtype(), dtype),
        _ => Ok(()),
    }
}

/// What is written, in the dtype of where it goes.
pub enum Source {
    Array(Array),
    Scalar(Scalar),
}

impl Source {
    pub fn arg(&self) -> ArrayOrScalar<'_> {
        match self {
            Source::Array(array) => ArrayOrScalar::Array(array),
            Source::Scalar(scalar) => ArrayOrScalar::Scalar(*scalar),
        }
    }
}

/// Any value that NumPy would take, as what can be written to elements of a dtype with so many axes.
///
/// # Errors
/// Values that cannot be converted.
pub fn source(
    py: Python<'_>,
    dtype: DType,
    ndim: usize,
    value: &Bound<'_, PyAny>,
) -> PyResult<Source> {
    if let Some(operand) = classify(value)? {
        if let Some(array) = operand.as_array() {
            if array.dtype() == dtype {
                return Ok(Source::Array(array.clone()));
            }
            if let Held::Scalar(scalar) = &operand.held
                && dtype.is_int()
                && array.dtype() != DType::Bool
            {
                // Whether a number fits is known when it is.
                let number = scalar.value(py)?;
                return source(py, dtype, ndim, &number);
            }
            unfit::warn_of(py, array, dtype)?;
            return Ok(Source::Array(ready(py)?.cast(array, dtype).map_err(to_py)?));
        }
        if let Some(scalar) = plain(&operand, dtype) {
            return Ok(Source::Scalar(scalar));
        }
    }
    // Everything else is converted by NumPy, which also has the words for what cannot be.
    let kwargs = PyDict::new(py);
    kwargs.set_item("dtype", dtypes::to_numpy(py, dtype)?)?;
    let numpy = numpy(py)?;
    let given = match value.cast::<NdArray>() {
        Ok(array) => match elements(array) {
            Elements::Numpy(array) => array,
            Elements::Lazy(array) => lend::to_numpy(py, &array)?,
        },
        // NumPy's numbers have to fit into signed dtypes, as Python's do; into others they are cast.
        Err(_)
            if dtype.is_signed_int()
                && (value.is_instance(numpy.integer.bind(py))?
                    || value.is_instance(numpy.floating.bind(py))?) =>
        {
            value.call_method0("item")?
        }
        Err(_) => value.clone(),
    };
    let is_array = given.hasattr("__array__")?;
    let converted = numpy.array.bind(py).call((given,), Some(&kwargs))?;
    match host::from_numpy(&converted)? {
        // NumPy drops leading axes of arrays, but not of lists.
        Some(array) if is_array || array.ndim() <= ndim => Ok(Source::Array(array)),
        _ => Err(PyValueError::new_err("setting an array element with a sequence.")),
    }
}

/// What an instance of a subclass without axes gives for itself as a number, by a method of its class, where it is
/// to be one element; `None` for others.
fn own_number<'py>(value: &Bound<'py, PyAny>, dtype: DType) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Ok(array) = value.cast::<NdArray>() else { return Ok(None) };
    if is_plain(array) || dtype == DType::Bool || NdArray::ndim(array)? > 0 {
        return Ok(None);
    }
    let name = if dtype.is_int() { "__int__" } else { "__float__" };
    let own = array.get_type().getattr(name)?;
    let has_own = !own.is(&value.py().get_type::<NdArray>().getattr(name)?);
    if has_own && !dtype.is_complex() { value.call_method0(name).map(Some) } else { Ok(None) }
}

/// `array[key] = value`, where the key is basic; NumPy words a refusal.
pub fn set_item(
    array: &Array,
    key: &Bound<'_, PyAny>,
    selected: &Selection,
    value: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let py = key.py();
    let dest = &selected.view;
    // A single element takes no array with axes, where a view of one element would.
    let too_much = selected.element && axes_of(value)? > 0;
    let outcome = if too_much {
        Err(PyValueError::new_err("setting an array element with a sequence."))
    } else {
        let own = if selected.element { own_number(value, dest.dtype())? } else { None };
        set(py, dest, own.as_ref().unwrap_or(value))
    };
    let Err(error) = outcome else { return Ok(()) };
    if !error.is_instance_of::<PyValueError>(py) && !error.is_instance_of::<PyTypeError>(py) {
        return Err(error);
    }
    let standin = hollow(py, array.shape(), array.dtype())?;
    let value = py.import("gpupy._fallback")?.call_method1("to_host", (value,))?;
    standin.set_item(key, value)?;
    // NumPy took it, in a way of its own (the truth of a list, for one): all elements of the
    // stand-in are now what it made of the value.
    let taken = numpy(py)?.array.bind(py).call1((standin.get_item(key)?,))?;
    match host::from_numpy(&taken)? {
        Some(taken) if dest.size() == 1 => write(dest, ArrayOrScalar::Array(&taken)),
        _ => Err(error),
    }
}

/// How many axes an array has; 0 for what is none.
fn axes_of(value: &Bound<'_, PyAny>) -> PyResult<usize> {
    if value.cast_exact::<PyFloat>().is_ok() || value.cast_exact::<PyInt>().is_ok() {
        return Ok(0);
    }
    match value.getattr_opt("ndim")? {
        Some(ndim) => Ok(ndim.extract().unwrap_or(0)),
        None => Ok(0),
    }
}

/// A scalar in the destination's dtype, when the conversion needs no warning and no refusal.
pub fn plain(operand: &Operand<'_>, dtype: DType) -> Option<Scalar> {
    let value = match operand.held {
        Held::Float(value) => value,
        Held::Known(scalar) if scalar.dtype.is_float() => {
            f64::from_bits(op_eval::eval(Op::Cast, DType::F64, &[scalar])?.bits)
        }
        // Numbers have to fit into signed dtypes, and are cast to others.
        Held::Known(scalar) if scalar.dtype.is_int() && dtype.is_signed_int() => {
            return int_scalar(scalar.as_int(), dtype);
        }
        _ => return operand.scalar(dtype),
    };
    if dtype.is_int() {
        // What is in range after truncation, and exactly so.
        let inside = value.abs() < 9_007_199_254_740_992.0;
        return inside.then(|| int_scalar(value as i128, dtype)).flatten();
    }
    let largest = match dtype {
        DType::F16 => 65504.0,
        DType::F32 => f64::from(f32::MAX),
        _ => f64::INFINITY,
    };
    // A number just above the largest may round down to it; NumPy decides about that.
    (value.abs() <= largest || !value.is_finite()).then(|| operand.scalar(dtype)).flatten()
}

fn check_shape(dest: &Array, array: &Array) -> PyResult<()> {
    // Axes that the destination lacks may be dropped where their extent is 1.
    let extra = array.ndim().saturating_sub(dest.ndim());
    let (dropped, kept) = array.shape().split_at(extra);
    let wanted = &dest.shape()[dest.ndim() - kept.len()..];
    let fits = dropped.iter().all(|n| *n == 1)
        && kept.iter().zip(wanted).all(|(n, wanted)| n == wanted || *n == 1);
    if fits {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "could not broadcast input array from shape {} into shape {}",
        shape_words(array.shape()),
        shape_words(dest.shape())
    )))
}

fn write(dest: &Array, source: ArrayOrScalar<'_>) -> PyResult<()> {
    if let ArrayOrScalar::Array(array) = source {
        check_shape(dest, array)?;
    }
    context()?.assign(dest, source).map_err(to_py)
}

/// Writes a value into a whole array of ours, as `a[...] = value` does.
#[pyfunction]
pub fn assign_all(dest: &Bound<'_, NdArray>, value: &Bound<'_, PyAny>) -> PyResult<()> {
    match elements(dest) {
        Elements::Lazy(array) => {
            if !dest.get().is_writable() {
                return Err(PyValueError::new_err("assignment destination is read-only"));
            }
            set(dest.py(), &array, value)
        }
        Elements::Numpy(array) => array.set_item(dest.py().Ellipsis(), value),
    }
}
