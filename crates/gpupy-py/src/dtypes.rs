//! NumPy's dtypes and ours: which run on drivers, and the Python objects that stand for them.
//!
//! Owns [`Numpy`], the NumPy objects that the hot paths compare by identity. Invariant: only
//! float32, int32 and bool are lazy; every other dtype is NumPy's own.
//!
//! Not here: promotion (`ufunc.rs` asks NumPy for it, once for each combination).

use crate::errors::to_py;
use gpupy_core::{Array, DType, Scalar};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyModule;

/// NumPy objects, looked up once.
pub struct Numpy {
    /// The module `numpy`.
    pub module: Py<PyModule>,
    /// `numpy.ndarray`.
    pub ndarray: Py<PyAny>,
    /// `numpy.asarray`.
    pub asarray: Py<PyAny>,
    /// `numpy.array`.
    pub array: Py<PyAny>,
    /// `numpy.integer`.
    pub integer: Py<PyAny>,
    /// Scalar types of the lazy dtypes, in the order of [`LAZY`].
    pub scalars: [Py<PyAny>; 3],
    /// Dtypes of the lazy dtypes, in the order of [`LAZY`].
    pub dtypes: [Py<PyAny>; 3],
}

/// The dtypes that run on drivers.
pub const LAZY: [DType; 3] = [DType::F32, DType::I32, DType::Bool];

static NUMPY: PyOnceLock<Numpy> = PyOnceLock::new();

/// NumPy's objects.
pub fn numpy(py: Python<'_>) -> PyResult<&'static Numpy> {
    NUMPY.get_or_try_init(py, || {
        let module = py.import("numpy")?;
        let get = |name: &str| -> PyResult<Py<PyAny>> { Ok(module.getattr(name)?.unbind()) };
        let dtype = |name: &str| -> PyResult<Py<PyAny>> {
            Ok(module.call_method1("dtype", (name,))?.unbind())
        };
        Ok(Numpy {
            ndarray: get("ndarray")?,
            asarray: get("asarray")?,
            array: get("array")?,
            integer: get("integer")?,
            scalars: [get("float32")?, get("int32")?, get("bool")?],
            dtypes: [dtype("float32")?, dtype("int32")?, dtype("bool")?],
            module: module.unbind(),
        })
    })
}

/// The position of a lazy dtype in [`LAZY`].
pub fn lazy_index(dtype: DType) -> Option<usize> {
    LAZY.iter().position(|d| *d == dtype)
}

/// NumPy's dtype object for a dtype of ours.
pub fn to_numpy<'py>(py: Python<'py>, dtype: DType) -> PyResult<Bound<'py, PyAny>> {
    let numpy = numpy(py)?;
    match lazy_index(dtype) {
        Some(i) => Ok(numpy.dtypes[i].bind(py).clone()),
        None => numpy.module.bind(py).call_method1("dtype", (dtype.name(),)),
    }
}

/// The lazy dtype behind a `numpy.dtype` object, if it is one.
pub fn from_numpy(dtype: &Bound<'_, PyAny>) -> PyResult<Option<DType>> {
    let py = dtype.py();
    let numpy = numpy(py)?;
    for (i, known) in numpy.dtypes.iter().enumerate() {
        if dtype.is(known) {
            return Ok(Some(LAZY[i]));
        }
    }
    // A dtype that is equal but not identical carries metadata; another byte order is not equal.
    for (i, known) in numpy.dtypes.iter().enumerate() {
        if dtype.eq(known)? {
            return Ok(Some(LAZY[i]));
        }
    }
    Ok(None)
}

/// The lazy dtype of anything that `numpy.dtype` accepts, if it is one.
pub fn from_any(spec: &Bound<'_, PyAny>) -> PyResult<Option<DType>> {
    let numpy = numpy(spec.py())?;
    for (i, known) in numpy.scalars.iter().enumerate() {
        if spec.is(known) {
            return Ok(Some(LAZY[i]));
        }
    }
    from_numpy(&numpy.module.bind(spec.py()).call_method1("dtype", (spec,))?)
}

/// An array with the shape and dtype of a NumPy array, and with no elements to ask for.
///
/// # Errors
/// TypeError for dtypes that only NumPy has.
pub fn nothing_like(array: &Bound<'_, PyAny>) -> PyResult<Array> {
    let dtype = array.getattr("dtype")?;
    let name: String = dtype.getattr("name")?.extract()?;
    let known = DType::from_name(&name).ok_or_else(|| {
        PyTypeError::new_err(format!(
            "an array of {name} is NumPy's own, and cannot be disposed of"
        ))
    })?;
    let shape: Vec<usize> = array.getattr("shape")?.extract()?;
    let nothing = Array::full(&shape, Scalar::zero(known)).map_err(to_py)?;
    nothing.dispose();
    Ok(nothing)
}
