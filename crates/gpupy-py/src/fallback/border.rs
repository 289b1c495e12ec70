//! Functions of other libraries in whose place something else is done where arrays of ours are among the arguments.
//!
//! Owns [`Border`], a function and what is called instead of it. Invariants: without arrays of ours the function sees
//! its own arguments, no frame is between it and its caller, and the price is a look at each argument's class; bound to
//! an instance it is a method, as the function was.
//!
//! Not here: which functions these are, and what is called instead (`python/gpupy/_libraries`).

use crate::array::lazy_scalar::LazyScalar;
use crate::array::ndarray::NdArray;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};

/// Lists that are longer are looked at by their first item: they are numbers, or rows alike.
const SHORT: usize = 32;

/// Containers in containers that are looked into.
const DEPTH: usize = 4;

/// The class of NumPy's records, which may have arrays in them.
static RECORD: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// The class of Python's bound methods.
static METHOD: PyOnceLock<Py<PyType>> = PyOnceLock::new();

/// A function, and what is called where arrays of ours are among the arguments. The package gives it the function's
/// name, page and signature (`functools.update_wrapper`).
#[pyclass(frozen, dict, module = "gpupy._gpupy")]
pub struct Border {
    function: Py<PyAny>,
    instead: Py<PyAny>,
    is_static: bool,
}

#[pymethods]
impl Border {
    #[new]
    #[pyo3(signature = (function, instead, is_static=false))]
    fn new(function: Py<PyAny>, instead: Py<PyAny>, is_static: bool) -> Border {
        Border { function, instead, is_static }
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = args.py();
        let mut ours = false;
        for value in args.iter_borrowed() {
            ours = ours || is_ours(&value, DEPTH)?;
        }
        for (_, value) in kwargs.into_iter().flat_map(|kwargs| kwargs.iter()) {
            ours = ours || is_ours(&value, DEPTH)?;
        }
        let called = if ours { &self.instead } else { &self.function };
        called.bind(py).call(args, kwargs)
    }

    fn __get__<'py>(
        slf: &Bound<'py, Self>,
        instance: &Bound<'py, PyAny>,
        _owner: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if slf.get().is_static || instance.is_none() {
            return Ok(slf.clone().into_any());
        }
        METHOD.import(slf.py(), "types", "MethodType")?.call1((slf, instance))
    }

    fn __getattr__(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
        self.function.getattr(py, name)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.function.bind(py).repr()?.to_string())
    }

    /// By this name pickles find it.
    fn __reduce__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.function.getattr(py, "__qualname__")
    }
}

/// Whether a value is an array or a scalar of ours, or may have one among its items.
fn is_ours(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<bool> {
    if value.is_instance_of::<NdArray>() || value.is_exact_instance_of::<LazyScalar>() {
        return Ok(true);
    }
    if depth == 0 {
        return Ok(false);
    }
    if let Ok(items) = value.cast_exact::<PyTuple>() {
        let few = if items.len() > SHORT { 1 } else { SHORT };
        return any(items.iter().take(few), depth);
    }
    if let Ok(items) = value.cast_exact::<PyList>() {
        let few = if items.len() > SHORT { 1 } else { SHORT };
        return any(items.iter().take(few), depth);
    }
    if let Ok(items) = value.cast_exact::<PyDict>() {
        return any(items.iter().map(|(_, item)| item), depth);
    }
    Ok(value.get_type().is(RECORD.import(value.py(), "numpy", "void")?))
}

fn any<'py>(items: impl Iterator<Item = Bound<'py, PyAny>>, depth: usize) -> PyResult<bool> {
    for item in items {
        if is_ours(&item, depth - 1)? {
            return Ok(true);
        }
    }
    Ok(false)
}
