//! NumPy's dispatch protocols: functions and ufuncs of NumPy's that are called with arrays of ours.
//!
//! Owns [`array_ufunc`] and [`array_function`]. Invariant: a plain call of a ufunc that we have runs no Python code.
//!
//! Not here: other calls (`python/gpupy/_namespace/dispatch.py`).

use crate::compute::ufunc::Ufunc;
use crate::session::python_objects;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString, PyTuple};

/// Our ufunc for one of NumPy's.
fn ours<'py>(ufunc: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Ufunc>> {
    static OURS: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let py = ufunc.py();
    let known = OURS.get_or_init(py, || PyDict::new(py).unbind()).bind(py);
    let found = match known.get_item(ufunc)? {
        Some(found) => found,
        None => {
            let found = python_objects::UFUNC_OF.get(py)?.call1((ufunc,))?;
            known.set_item(ufunc, &found)?;
            found
        }
    };
    Ok(found.cast_into::<Ufunc>()?)
}

/// `__array_ufunc__`.
pub fn array_ufunc<'py>(
    ufunc: &Bound<'py, PyAny>,
    method: &Bound<'py, PyAny>,
    inputs: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = ufunc.py();
    let is_call = || method.cast::<PyString>().is_ok_and(|method| method == "__call__");
    if kwargs.is_none_or(|kwargs| kwargs.is_empty())
        && is_call()
        && let Some(result) = ours(ufunc)?.get().call_plain(py, inputs)?
    {
        return Ok(result);
    }
    let kwargs = kwargs.map_or_else(|| PyDict::new(py), Clone::clone);
    python_objects::ARRAY_UFUNC.get(py)?.call1((ufunc, method, inputs, kwargs))
}

/// `__array_function__`.
pub fn array_function<'py>(
    function: &Bound<'py, PyAny>,
    types: &Bound<'py, PyAny>,
    args: &Bound<'py, PyAny>,
    kwargs: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    python_objects::ARRAY_FUNCTION.get(function.py())?.call1((function, types, args, kwargs))
}
