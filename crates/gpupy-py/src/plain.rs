//! Calls of NumPy's functions whose arguments are arrays of ours and plain values: the way to NumPy and
//! back for most of what falls back.
//!
//! Owns [`plain_call`]. Invariant: it does what the longer way does (`python/gpupy/_fallback.py`), which has
//! the policy, the counts, and all that is seldom: other arguments, views, results in containers, refusals.

use crate::array::{NdArray, host_of};
use crate::dtypes::numpy;
use crate::protocols::{module, wrap};
use pyo3::exceptions::PyValueError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyList, PyString, PyTuple};
use smallvec::SmallVec;

/// `function(*args)` by NumPy; `NotImplemented`, with nothing done, where an argument is neither an array
/// nor a plain value.
#[pyfunction]
pub fn plain_call<'py>(
    name: &Bound<'py, PyString>,
    function: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = name.py();
    let ndarray = numpy(py)?.ndarray.bind(py);
    let mut arrays: SmallVec<[Bound<'py, PyAny>; 4]> = SmallVec::new();
    let mut hosts: SmallVec<[Bound<'py, PyAny>; 4]> = SmallVec::new();
    let mut given: SmallVec<[Bound<'py, PyAny>; 6]> = SmallVec::new();
    for value in args.iter() {
        if let Ok(array) = value.cast_exact::<NdArray>() {
            let host = host_of(array)?;
            hosts.push(host.clone());
            given.push(host);
            arrays.push(value);
        } else if is_plain(&value) || value.get_type().is(ndarray) {
            given.push(value);
        } else {
            return Ok(py.NotImplemented().into_bound(py));
        }
    }
    let fallback = module(py)?;
    let arrays = PyList::new(py, arrays)?;
    fallback.call_method1(intern!(py, "_count"), (name, &arrays))?;
    let result = match function.call1(PyTuple::new(py, given)?) {
        Ok(result) => result,
        Err(error) if error.is_instance_of::<PyValueError>(py) => {
            let refused = intern!(py, "_refused");
            return fallback.call_method1(refused, (error.into_value(py), function, args, arrays));
        }
        Err(error) => return Err(error),
    };
    let is_new = |result: &Bound<'py, PyAny>| -> PyResult<bool> {
        Ok(result.getattr(intern!(py, "base"))?.is_none() && !hosts.iter().any(|h| h.is(result)))
    };
    if result.get_type().is(ndarray) && is_new(&result)? {
        return wrap(&result);
    }
    let hosts = PyList::new(py, &hosts)?;
    fallback.call_method1(intern!(py, "_given_back"), (name, result, arrays, hosts))
}

/// Whether NumPy gets a value as it is.
fn is_plain(value: &Bound<'_, PyAny>) -> bool {
    value.is_none()
        || value.is_exact_instance_of::<PyInt>()
        || value.is_exact_instance_of::<PyFloat>()
        || value.is_exact_instance_of::<PyString>()
        || value.is_exact_instance_of::<PyBool>()
}
