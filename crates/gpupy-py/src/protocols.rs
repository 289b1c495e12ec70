//! The borders to Python and NumPy: wrapping results, falling back, NumPy's dispatch protocols.
//!
//! Owns [`wrap`]. Invariant: every fallback is counted (`sites.rs`).
//!
//! Not here: the policy (`python/gpupy/_fallback.py`).

use crate::array::NdArray;
use crate::dtypes::numpy;
use crate::host;
use crate::operand::Operand;
use crate::plain::call;
use crate::scalar::{self, LazyScalar};
use crate::ufunc::Ufunc;
use gpupy_engine::Array;
use pyo3::BoundObject;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyModule, PyString, PyTuple};

/// A lazy result as the user gets it: a scalar if it has no axes, otherwise an array.
pub fn wrap_array(py: Python<'_>, array: Array) -> PyResult<Bound<'_, PyAny>> {
    if array.ndim() == 0 {
        match array.known_element() {
            Some(known) => scalar::of(py, known),
            None => Ok(Bound::new(py, LazyScalar::new(array))?.into_any()),
        }
    } else {
        Ok(Bound::new(py, NdArray::lazy(array))?.into_any())
    }
}

/// The result of an operation on these operands as the user gets it.
pub fn wrap_recorded<'py>(
    py: Python<'py>,
    array: Array,
    operands: &[Operand<'_>],
) -> PyResult<Bound<'py, PyAny>> {
    if array.ndim() == 0 {
        LazyScalar::recorded(py, array, operands)
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
        let array = match host::from_numpy(object)? {
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
    module(py)?.call_method1("wrap_inside", (object,))
}

/// What NumPy made of an array that is its own: a view of the same memory, or a result.
pub fn wrap_of<'py>(
    owner: &Bound<'py, NdArray>,
    host: &Bound<'py, PyAny>,
    result: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    module(owner.py())?.call_method1("wrapped", ("view", result, (owner,), (host,)))
}

/// An array of ours that holds one of NumPy's, on which NumPy alone works; its memory may be that of an array
/// that holds another one.
#[pyfunction]
#[pyo3(signature = (array, of=None))]
pub fn hold(array: &Bound<'_, PyAny>, of: Option<&Bound<'_, NdArray>>) -> NdArray {
    match of {
        Some(of) => NdArray::numpy_view(array, of),
        None => NdArray::numpy(array),
    }
}

/// `gpupy._fallback`, which decides about calls to NumPy.
pub fn module(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    MODULE
        .get_or_try_init(py, || py.import("gpupy._fallback").map(Bound::unbind))
        .map(|module| module.bind(py).clone())
}

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

/// Our ufunc for one of NumPy's.
fn ours<'py>(ufunc: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Ufunc>> {
    static OURS: PyOnceLock<Py<PyDict>> = PyOnceLock::new();
    let py = ufunc.py();
    let known = OURS.get_or_init(py, || PyDict::new(py).unbind()).bind(py);
    let found = match known.get_item(ufunc)? {
        Some(found) => found,
        None => {
            let found = py.import("gpupy._namespace")?.call_method1("ufunc_of", (ufunc,))?;
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
    module(py)?.call_method1("array_ufunc", (ufunc, method, inputs, kwargs))
}

/// `__array_function__`.
pub fn array_function<'py>(
    function: &Bound<'py, PyAny>,
    types: &Bound<'py, PyAny>,
    args: &Bound<'py, PyAny>,
    kwargs: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    module(function.py())?.call_method1("array_function", (function, types, args, kwargs))
}
