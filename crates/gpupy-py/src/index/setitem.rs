//! Assignment: writes to lazy arrays.
//!
//! Owns [`set`] (`a[key] = value`) and [`output`] (`out=`, in-place operators). Invariant: a refused write leaves
//! the array unchanged, but for a warning that the user made an exception, as in NumPy.
//!
//! Not here: which elements a key selects (`basic.rs`), writes by index arrays (`fancy.rs`).

use crate::array::classes::subclass::is_plain;
use crate::array::meta::meta_array;
use crate::array::ndarray::{ArrayElements, NdArray, elements};
use crate::array::operand::{OperandValue, UfuncOperand, classify, int_scalar};
use crate::convert::array_export;
use crate::convert::cast_warnings;
use crate::convert::dtypes::{self, numpy};
use crate::convert::numpy_arrays;
use crate::index::basic::Selection;
use crate::session::context::{context, ready};
use crate::session::errors::{shape_words, to_py, warn_of_lost_parts};
use crate::session::python_objects;
use gpupy_core::{DType, Op, Scalar, op_eval};
use gpupy_engine::{Array, ArrayOrScalar};
use pyo3::exceptions::{PyFloatingPointError, PyRuntimeWarning, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict, PyFloat, PyInt};

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
    if dest.size() == 0 && is_array(value)? {
        return set_nothing(dest, value);
    }
    match source(py, dest.dtype(), dest.ndim(), value) {
        Ok(AssignSource::Array(array)) => {
            check_shape(dest, &array)?;
            warn_of(value, dest.dtype())?;
            write(dest, ArrayOrScalar::Array(&array))
        }
        Ok(AssignSource::Scalar(scalar)) => write(dest, ArrayOrScalar::Scalar(scalar)),
        Err(error) => {
            // Objects are cast one by one.
            if is_array(value)? && !value.getattr("dtype")?.getattr("hasobject")?.is_truthy()? {
                write_in_spite_of(&error, dest, value)?;
            }
            Err(error)
        }
    }
}

/// Writes an array, or a number of NumPy's to an element, whose cast warned, where the user made an exception of the
/// warning: NumPy casts these into their place before it looks whether it has to warn.
///
/// # Errors
/// As of `set`.
fn write_in_spite_of(error: &PyErr, dest: &Array, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = value.py();
    let is_of_cast = error.is_instance_of::<PyRuntimeWarning>(py)
        || error.is_instance_of::<PyFloatingPointError>(py);
    if !is_of_cast {
        return Ok(());
    }
    let ignored = [("all", "ignore")].into_py_dict(py)?;
    let quiet = numpy(py)?.module.bind(py).call_method("errstate", (), Some(&ignored))?;
    quiet.call_method0("__enter__")?;
    let again = source(py, dest.dtype(), dest.ndim(), value);
    quiet.call_method1("__exit__", (py.None(), py.None(), py.None()))?;
    let again = again?;
    if let AssignSource::Array(array) = &again {
        check_shape(dest, array)?;
    }
    write(dest, again.arg())
}

/// Whether a value is an array, of whichever library.
fn is_array(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(value.is_instance_of::<NdArray>()
        || value.is_instance(numpy(value.py())?.ndarray.bind(value.py()))?)
}

/// Writes an array to a view without elements: its shape and dtype have to fit, of its elements none is looked at.
fn set_nothing(dest: &Array, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = value.py();
    if let Ok(array) = value.cast::<NdArray>()
        && let ArrayElements::Lazy(array) = elements(array)
    {
        check_shape(dest, &array)?;
        return warn_of(value, dest.dtype());
    }
    let meta = meta_array(py, dest.shape(), dest.dtype())?;
    meta.set_item(py.Ellipsis(), python_objects::TO_HOST.get(py)?.call1((value,))?)
}

/// NumPy's warning where `value` is complex and `dtype`, to which it is written, is not.
///
/// # Errors
/// The warning, where the user made an exception of it.
pub fn warn_of(value: &Bound<'_, PyAny>, dtype: DType) -> PyResult<()> {
    match value.cast::<NdArray>().map(elements) {
        Ok(ArrayElements::Lazy(array)) => warn_of_lost_parts(value.py(), array.dtype(), dtype),
        _ => Ok(()),
    }
}

/// The source of an assignment, in the destination's dtype.
pub enum AssignSource {
    Array(Array),
    Scalar(Scalar),
}

impl AssignSource {
    pub fn arg(&self) -> ArrayOrScalar<'_> {
        match self {
            AssignSource::Array(array) => ArrayOrScalar::Array(array),
            AssignSource::Scalar(scalar) => ArrayOrScalar::Scalar(*scalar),
        }
    }
}

/// Any value that NumPy would take, converted so that it can be written to an array of this dtype and rank.
///
/// # Errors
/// Values that cannot be converted.
pub fn source(
    py: Python<'_>,
    dtype: DType,
    ndim: usize,
    value: &Bound<'_, PyAny>,
) -> PyResult<AssignSource> {
    if let Some(operand) = classify(value)? {
        if let Some(array) = operand.as_array() {
            if array.dtype() == dtype {
                return Ok(AssignSource::Array(array.clone()));
            }
            if let OperandValue::Scalar(scalar) = &operand.held
                && dtype.is_int()
                && array.dtype() != DType::Bool
            {
                // Whether a number fits is known only once it is evaluated.
                let number = scalar.value(py)?;
                return source(py, dtype, ndim, &number);
            }
            cast_warnings::warn_of(py, array, dtype)?;
            return Ok(AssignSource::Array(ready(py)?.cast(array, dtype).map_err(to_py)?));
        }
        if let Some(scalar) = plain(&operand, dtype) {
            return Ok(AssignSource::Scalar(scalar));
        }
    }
    // Everything else is converted by NumPy, which also words the errors.
    let kwargs = PyDict::new(py);
    kwargs.set_item("dtype", dtypes::to_numpy(py, dtype)?)?;
    let numpy = numpy(py)?;
    let given = match value.cast::<NdArray>() {
        Ok(array) => match elements(array) {
            ArrayElements::Numpy(array) => array,
            ArrayElements::Lazy(array) => array_export::to_numpy(py, &array)?,
        },
        Err(_) => value.clone(),
    };
    let is_array = given.hasattr("__array__")?;
    let converted = if given.is_instance(numpy.generic.bind(py))? {
        // A number of NumPy's becomes an element as NumPy makes one: it has to fit into signed dtypes, as Python's
        // do, and is cast to others.
        let element = numpy.module.bind(py).call_method("empty", ((),), Some(&kwargs))?;
        element.set_item(py.Ellipsis(), &given)?;
        element
    } else {
        numpy.array.bind(py).call((given,), Some(&kwargs))?
    };
    match numpy_arrays::from_numpy(&converted)? {
        // NumPy drops leading axes of arrays, but not of lists.
        Some(array) if is_array || array.ndim() <= ndim => Ok(AssignSource::Array(array)),
        _ => Err(PyValueError::new_err("setting an array element with a sequence.")),
    }
}

/// The number to which an instance of a subclass without axes converts itself, if its class overrides the method;
/// `None` for other values.
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
    if selected.element && value.is_instance(numpy(py)?.generic.bind(py))? {
        write_in_spite_of(&error, dest, value)?;
    }
    if !error.is_instance_of::<PyValueError>(py) && !error.is_instance_of::<PyTypeError>(py) {
        return Err(error);
    }
    let meta = meta_array(py, array.shape(), array.dtype())?;
    let value = python_objects::TO_HOST.get(py)?.call1((value,))?;
    meta.set_item(key, value)?;
    // NumPy took it, in a way of its own (the truth of a list, for one): all elements of the meta array, which share
    // one address, are now the converted value.
    let taken = numpy(py)?.array.bind(py).call1((meta.get_item(key)?,))?;
    match numpy_arrays::from_numpy(&taken)? {
        Some(taken) if dest.size() == 1 => write(dest, ArrayOrScalar::Array(&taken)),
        _ => Err(error),
    }
}

/// How many axes an array has; 0 for other objects.
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
pub fn plain(operand: &UfuncOperand<'_>, dtype: DType) -> Option<Scalar> {
    let value = match operand.held {
        OperandValue::Float(value) => value,
        OperandValue::Known(scalar) if scalar.dtype.is_float() => {
            f64::from_bits(op_eval::eval(Op::Cast, DType::F64, &[scalar])?.bits)
        }
        // Numbers have to fit into signed dtypes, and are cast to others.
        OperandValue::Known(scalar) if scalar.dtype.is_int() && dtype.is_signed_int() => {
            return int_scalar(scalar.as_int(), dtype);
        }
        // NumPy warns of those that are beyond the greatest float16.
        OperandValue::Known(scalar) if scalar.dtype.is_int() && dtype == DType::F16 => {
            return operand.scalar(dtype).filter(|_| scalar.as_int().unsigned_abs() <= 65504);
        }
        _ => return operand.scalar(dtype),
    };
    if dtype.is_int() {
        // Below 2⁵³ the truncated float is an exact integer, which can be compared with the range.
        let inside = value.abs() < 9_007_199_254_740_992.0;
        return inside.then(|| int_scalar(value as i128, dtype)).flatten();
    }
    let largest = match dtype {
        DType::F64 => f64::INFINITY,
        _ if dtype.is_float() => dtype.info().greatest,
        _ => f64::INFINITY,
    };
    // A number just above the largest may round down to it; NumPy decides about that.
    (value.abs() <= largest || !value.is_finite()).then(|| operand.scalar(dtype)).flatten()
}

/// The parts of a number as a complex dtype has them, when the conversion needs no warning.
pub fn plain_parts(operand: &UfuncOperand<'_>, dtype: DType) -> Option<(f64, f64)> {
    let (re, im) = operand.complex_parts()?;
    // A part just above the largest may round down to it; NumPy decides about that.
    let largest = dtype.part()?.info().greatest;
    [re, im].iter().all(|part| part.abs() <= largest || !part.is_finite()).then_some((re, im))
}

/// Warns where NumPy would of a number that becomes one of a dtype: a float beyond the greatest of it.
///
/// # Errors
/// The warning, where the user made an exception of it.
#[inline]
pub fn warn_of_number(
    value: &Bound<'_, PyAny>,
    operand: &UfuncOperand<'_>,
    to: DType,
) -> PyResult<()> {
    let is_quiet = match operand.held {
        OperandValue::Float(_) | OperandValue::Complex(..) if to.is_complex() => {
            plain_parts(operand, to).is_some()
        }
        OperandValue::Float(_) if to.is_float() => plain(operand, to).is_some(),
        _ => true,
    };
    if is_quiet {
        return Ok(());
    }
    let py = value.py();
    let number = numpy(py)?.asarray.bind(py).call1((value,))?;
    number.call_method1("astype", (dtypes::to_numpy(py, to)?,)).map(drop)
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
        ArrayElements::Lazy(array) => {
            if !dest.get().may_write(dest.py())? {
                return Err(PyValueError::new_err("assignment destination is read-only"));
            }
            set(dest.py(), &array, value)
        }
        ArrayElements::Numpy(array) => array.set_item(dest.py().Ellipsis(), value),
    }
}
