//! Arrays on their way to other processes: elements for pickle, and names for caches.
//!
//! Owns these methods of [`NdArray`]. Invariants: what is handed out is never written again; a name is given without an
//! evaluation, and no two arrays of a process with other elements ever have the same one.
//!
//! Not here: what pickle makes of them (`python/gpupy/_methods.py`), and Dask (`python/gpupy/_libraries`).

use crate::array::ndarray::{ArrayElements, NdArray, elements};
use crate::convert::array_export;
use gpupy_engine::Unread;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

#[pymethods]
impl NdArray {
    /// The elements as a NumPy array that nobody writes, evaluated if need be; of memory that other code may write, a copy.
    fn _constant<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        match elements(slf) {
            ArrayElements::Lazy(array) => array_export::to_numpy_constant(slf.py(), &array),
            ArrayElements::Numpy(array) => array.call_method0("copy"),
        }
    }

    /// What tells the elements apart from all others where they are not in host memory: of a value, its number and
    /// what is shown of it; of equal elements, one of them. `None` where the elements can be read.
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
