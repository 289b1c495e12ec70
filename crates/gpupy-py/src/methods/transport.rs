//! Arrays on their way to other processes: elements for pickle, and keys for caches.
//!
//! Owns these methods of [`NdArray`]. Invariants: exported elements are never written again; a key is given without
//! an evaluation, and no two arrays of a process with different elements ever have the same one.
//!
//! Not here: pickling (`python/gpupy/_methods/pickling.py`), and Dask (`python/gpupy/_libraries`).

use crate::array::ndarray::{ArrayElements, NdArray, elements};
use crate::convert::array_export;
use gpupy_engine::Unread;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

#[pymethods]
impl NdArray {
    /// The elements as a NumPy array that is never written, evaluated if need be; a copy where other code may write to
    /// the memory.
    fn _constant<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        match elements(slf) {
            ArrayElements::Lazy(array) => array_export::to_numpy_constant(slf.py(), &array),
            ArrayElements::Numpy(array) => array.call_method0("copy"),
        }
    }

    /// A key that identifies elements that are not in host memory: a value's number and the view of it; or, where all
    /// elements are equal, one of them. `None` where the elements can be read.
    fn _name<'py>(slf: &Bound<'py, Self>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = slf.py();
        let ArrayElements::Lazy(array) = elements(slf) else { return Ok(None) };
        Ok(match array.unread() {
            None => None,
            Some(Unread::Constant(scalar)) => {
                Some(("constant", scalar.bits).into_bound_py_any(py)?)
            }
            Some(Unread::Value(id)) => {
                let strides = array.strides().to_vec();
                Some(("value", id, array.offset(), strides).into_bound_py_any(py)?)
            }
        })
    }
}
