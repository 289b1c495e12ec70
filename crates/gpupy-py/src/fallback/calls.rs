//! Calls that NumPy serves.
//!
//! Owns [`fallback`] and its neighbours. Invariant: every fallback is counted (`call_sites.rs`).
//!
//! Not here: the policy (`python/gpupy/_fallback/policy.py`), the way of arguments to NumPy and back (`fast_call.rs`).

use crate::fallback::fast_call::call;
use pyo3::BoundObject;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

/// Calls a function of NumPy's with flushed arguments; counted.
pub fn fallback<'py>(
    name: &str,
    function: &Bound<'py, PyAny>,
    args: impl IntoPyObject<'py, Target = PyTuple, Error: Into<PyErr>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = function.py();
    let args = args.into_pyobject(py).map_err(Into::into)?.into_bound();
    call(&PyString::intern(py, name), function, &args, &PyDict::new(py))
}

/// A binary operator by NumPy.
pub fn fallback_operator<'py>(
    operator: &str,
    name: &str,
    lhs: &Bound<'py, PyAny>,
    rhs: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = lhs.py();
    let function = py.import("operator")?.getattr(operator)?;
    fallback(name, &function, (lhs, rhs))
}

/// A ufunc's call by NumPy.
pub fn fallback_ufunc<'py>(
    ufunc: &Bound<'py, PyAny>,
    name: &str,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = ufunc.py();
    let kwargs = kwargs.map_or_else(|| PyDict::new(py), Clone::clone);
    call(&PyString::intern(py, name), ufunc, args, &kwargs)
}
