//! Elements, views and writes by basic keys of arrays that NumPy holds.
//!
//! Owns [`get`] and [`set`]. Invariants: nothing is computed, so that nothing is counted; they do the same as the slow
//! path (`python/gpupy/_indexing/index_arrays.py`), to which they leave objects, which are the program's own, instances
//! of subclasses and other keys.
//!
//! Not here: lazy arrays (`fast_path.rs`).

use crate::array::classes::subclass::is_plain;
use crate::array::ndarray::{ArrayElements, NdArray, elements};
use crate::convert::dtypes::numpy;
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyFloat, PyInt, PyList, PySlice, PyString, PyTuple};

/// The element, the record or the view that a key names; `None` leaves it to the slow path.
pub fn get<'py>(
    slf: &Bound<'py, NdArray>,
    key: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let (py, Some(host)) = (slf.py(), host(slf, key)?) else { return Ok(None) };
    let found = host.get_item(key)?;
    if found.get_type().is(&numpy(py)?.ndarray) {
        return Ok(Some(Bound::new(py, NdArray::numpy_view(&found, slf))?.into_any()));
    }
    Ok((!found.is_instance_of::<PyUntypedArray>()).then_some(found))
}

/// Writes a number, text or an array to what a key names; false, with nothing done, for others.
pub fn set(
    slf: &Bound<'_, NdArray>,
    key: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
) -> PyResult<bool> {
    let Some(host) = host(slf, key)? else { return Ok(false) };
    if let Ok(value) = value.cast_exact::<NdArray>() {
        let ArrayElements::Numpy(value) = elements(value) else { return Ok(false) };
        host.set_item(key, value)?;
        return Ok(true);
    }
    let is_plain = value.is_exact_instance_of::<PyInt>()
        || value.is_exact_instance_of::<PyFloat>()
        || value.is_exact_instance_of::<PyBool>()
        || value.is_exact_instance_of::<PyString>()
        || value.is_instance(numpy(slf.py())?.generic.bind(slf.py()))?;
    if is_plain {
        host.set_item(key, value)?;
    }
    Ok(is_plain)
}

/// NumPy's array, where it has no objects and the key is basic.
fn host<'py>(
    slf: &Bound<'py, NdArray>,
    key: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let ArrayElements::Numpy(host) = elements(slf) else { return Ok(None) };
    let Ok(array) = host.cast_exact::<PyUntypedArray>() else { return Ok(None) };
    let has_object = array.dtype().has_object();
    Ok((is_plain(slf) && !has_object && is_basic(key)).then_some(host))
}

/// Whether a key names fields, elements or ranges: NumPy's result for it is no copy of elements.
fn is_basic(key: &Bound<'_, PyAny>) -> bool {
    let is_part = |part: &Bound<'_, PyAny>| {
        part.is_exact_instance_of::<PyInt>()
            || part.is_exact_instance_of::<PyString>()
            || part.is_exact_instance_of::<PySlice>()
            || part.is_none()
            || part.is_exact_instance_of::<PyEllipsis>()
    };
    if let Ok(parts) = key.cast_exact::<PyTuple>() {
        return parts.iter_borrowed().all(|part| is_part(&part));
    }
    match key.cast_exact::<PyList>() {
        Ok(names) => {
            !names.is_empty() && names.iter().all(|name| name.is_exact_instance_of::<PyString>())
        }
        Err(_) => is_part(key),
    }
}
