//! Results as the user gets them: arrays and scalars of ours.
//!
//! Owns [`wrap`] and its neighbours. Invariant: wrapping evaluates nothing.
//!
//! Not here: calls that NumPy serves (`fallback`), results inside lists and tuples
//! (`python/gpupy/_fallback/containers.py`).

use crate::array::classes::subclass::like;
use crate::array::lazy_scalar::{self, LazyScalar};
use crate::array::ndarray::NdArray;
use crate::array::operand::{OperandValue, UfuncOperand};
use crate::convert::dtypes::numpy;
use crate::convert::numpy_arrays;
use crate::session::context::context;
use crate::session::python_objects;
use gpupy_engine::Array;
use pyo3::prelude::*;

/// A lazy result as the user gets it: a scalar if it has no axes, otherwise an array.
pub fn wrap_array(py: Python<'_>, array: Array) -> PyResult<Bound<'_, PyAny>> {
    if array.ndim() == 0 {
        lazy_scalar::leaving(py, array)
    } else {
        Ok(Bound::new(py, NdArray::lazy(array))?.into_any())
    }
}

/// The result of an operation on these operands as the user gets it.
pub fn wrap_recorded<'py>(
    py: Python<'py>,
    array: Array,
    operands: &[UfuncOperand<'_>],
) -> PyResult<Bound<'py, PyAny>> {
    if array.ndim() == 0 {
        let pending = operands.iter().map(|operand| match &operand.held {
            OperandValue::Scalar(scalar) => scalar.pending(py),
            _ => 0,
        });
        LazyScalar::recorded(py, array, pending)
    } else {
        Ok(Bound::new(py, NdArray::lazy(array))?.into_any())
    }
}

/// A result of NumPy's as the user gets it: plain ndarrays become arrays of ours, also inside
/// lists, tuples and dictionaries; everything else stays.
#[pyfunction]
pub fn wrap<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    if object.get_type().is(&numpy(py)?.ndarray) {
        let array = match numpy_arrays::from_numpy(object)? {
            Some(array) => {
                // Elements that lie at one place are several in name only.
                let overlaps = array.size() > array.base_len();
                let made = NdArray::lazy(array);
                if overlaps && !object.getattr("flags")?.getattr("writeable")?.is_truthy()? {
                    made.set_writable(false);
                }
                made
            }
            None => NdArray::numpy(object),
        };
        return Ok(Bound::new(py, array)?.into_any());
    }
    python_objects::WRAP_INSIDE.get(py)?.call1((object,))
}

/// A result of NumPy's that is a new ndarray. Where it owns its memory and has no references but the known ones,
/// nothing can read or write there any more: its elements stay where they are.
pub fn wrap_new<'py>(object: &Bound<'py, PyAny>, known: isize) -> PyResult<Bound<'py, PyAny>> {
    // Where memory is limited, it had better be ours, which may go to the disk.
    let is_limited = context()?.settings().host_bytes > 0;
    if !is_limited && references(object) == known && numpy_arrays::is_alone(object) {
        // SAFETY: all references are `known` ones, which the caller gives up, and `is_alone` found no views: nothing
        // reads or writes the memory any more.
        let made = match unsafe { numpy_arrays::of_sole(object) }? {
            Some(array) => NdArray::lazy(array),
            None => NdArray::numpy(object),
        };
        return Ok(Bound::new(object.py(), made)?.into_any());
    }
    wrap(object)
}

/// How many references there are to an object.
pub fn references(object: &Bound<'_, PyAny>) -> isize {
    // SAFETY: the object is alive.
    unsafe { pyo3::ffi::Py_REFCNT(object.as_ptr()) }
}

/// An array of ours over a NumPy array's memory that is never written again, such as unpickled or received memory: the
/// elements are read in place.
#[pyfunction]
pub fn wrap_constant<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: the callers in Python (`_methods/pickling.py`) pass memory to which no other object refers.
    let array = match unsafe { numpy_arrays::of_constant(object) }? {
        Some(array) => NdArray::lazy(array),
        None => NdArray::numpy(object),
    };
    Ok(Bound::new(object.py(), array)?.into_any())
}

/// Wraps a result of NumPy's on an array that NumPy owns: a view of its memory, or a new array.
pub fn wrap_of<'py>(
    owner: &Bound<'py, NdArray>,
    host: &Bound<'py, PyAny>,
    result: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    python_objects::WRAPPED.get(owner.py())?.call1(("view", result, (owner,), (host,)))
}

/// An array of ours that holds one of NumPy's, on which NumPy alone works; its memory may be that of an array
/// that holds another one.
#[pyfunction]
#[pyo3(signature = (array, of=None))]
pub fn hold<'py>(
    array: &Bound<'py, PyAny>,
    of: Option<&Bound<'py, NdArray>>,
) -> PyResult<Bound<'py, PyAny>> {
    match of {
        Some(of) => like(of, NdArray::numpy_view(array, of)),
        None => Ok(Bound::new(array.py(), NdArray::numpy(array))?.into_any()),
    }
}

/// An array whose elements are those of an ndarray: both see writes to either. Where no driver in use
/// holds such elements, or they do not lie at multiples of their size, it is one that NumPy works on.
#[pyfunction]
pub fn adopt(object: &Bound<'_, PyAny>) -> PyResult<NdArray> {
    let array = numpy_arrays::ndarray(object)?;
    let Some(lazy) = numpy_arrays::over(&array)? else { return Ok(NdArray::numpy(array.as_any())) };
    let made = NdArray::lazy(lazy);
    made.set_writable(array.getattr("flags")?.getattr("writeable")?.is_truthy()?);
    Ok(made)
}
