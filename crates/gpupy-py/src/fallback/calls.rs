//! Calls that NumPy serves.
//!
//! Owns [`CountedFunction`] and [`fallback_ufunc`]. Invariant: every fallback is counted (`call_sites.rs`).
//!
//! Not here: the policy (`python/gpupy/_fallback/policy.py`), the way of arguments to NumPy and back (`fast_call.rs`).

use crate::fallback::fast_call::call;
use crate::session::python_objects;
use pyo3::BoundObject;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

/// A function of NumPy's, or of Python's, with the name under which its calls are counted.
pub struct CountedFunction {
    name: Py<PyString>,
    function: Py<PyAny>,
}

impl CountedFunction {
    /// `function`, counted as `name`.
    pub fn new(name: &str, function: Bound<'_, PyAny>) -> CountedFunction {
        let name = PyString::intern(function.py(), name).unbind();
        CountedFunction { name, function: function.unbind() }
    }

    /// Calls it with flushed arguments.
    pub fn call<'py>(
        &self,
        py: Python<'py>,
        args: impl IntoPyObject<'py, Target = PyTuple, Error: Into<PyErr>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let args = args.into_pyobject(py).map_err(Into::into)?.into_bound();
        call(self.name.bind(py), self.function.bind(py), &args, &PyDict::new(py))
    }
}

/// A ufunc's call as a composition of others, or by NumPy.
pub fn fallback_ufunc<'py>(
    ufunc: &Bound<'py, PyAny>,
    name: &str,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = ufunc.py();
    let kwargs = kwargs.map_or_else(|| PyDict::new(py), Clone::clone);
    let name = PyString::intern(py, name);
    let composed = python_objects::UFUNCS_AS_COMPOSED.get(py)?.cast::<PyDict>()?;
    if let Some(own) = composed.get_item(&name)? {
        let made = own.call(args, Some(&kwargs))?;
        if !made.is(py.NotImplemented()) {
            return Ok(made);
        }
    }
    call(&name, ufunc, args, &kwargs)
}
