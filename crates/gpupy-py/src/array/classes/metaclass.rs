//! The metaclass of `gpupy.ndarray`, for programs whose NumPy is gpupy.
//!
//! Owns [`give_kind`]. Invariant: the metaclass is a Python class whose objects have the memory layout of `type`'s,
//! so that nothing in the class of arrays moves. Before Python 3.12 the stable interface cannot make a class with a
//! metaclass, so that the metaclass is set afterwards, as NumPy does with its own.
//!
//! Not here: the metaclass (`python/gpupy/_classes/kind.py`), the class of arrays (`ndarray.rs`).

use crate::array::ndarray::NdArray;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// Makes a subclass of `type`, or `type` itself, the class of the class of arrays.
///
/// # Errors
/// TypeError where its objects are not as those of `type`.
#[pyfunction]
pub fn give_kind(kind: &Bound<'_, PyType>) -> PyResult<()> {
    let py = kind.py();
    let plain = py.get_type::<PyType>();
    for name in [intern!(py, "__basicsize__"), intern!(py, "__itemsize__")] {
        if !kind.getattr(name)?.eq(plain.getattr(name)?)? {
            return Err(PyTypeError::new_err("its objects are not as those of `type`"));
        }
    }
    if !kind.is_subclass(&plain)? {
        return Err(PyTypeError::new_err("it is no class of classes"));
    }
    let arrays = py.get_type::<NdArray>();
    // SAFETY: Python's lock is held; the object's reference to its class is exchanged for one to `kind`, whose objects
    // have the same memory layout (checked above).
    unsafe {
        let before = (*arrays.as_ptr()).ob_type;
        (*arrays.as_ptr()).ob_type = kind.clone().into_ptr().cast();
        pyo3::ffi::Py_DECREF(before.cast());
        pyo3::ffi::PyType_Modified(arrays.as_ptr().cast());
    }
    Ok(())
}
