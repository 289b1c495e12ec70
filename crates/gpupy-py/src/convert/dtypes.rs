//! NumPy's dtypes and ours: the Python objects for each dtype.
//!
//! Owns [`Numpy`], the NumPy objects that the hot paths compare by identity. Invariant: numbers in native byte
//! order and of at most 128 bits have a dtype of ours; strings, objects, dates, records and long doubles are
//! NumPy's own.
//!
//! Not here: promotion (`compute/ufunc.rs` asks NumPy for it, once for each combination); whether a driver holds a
//! dtype (`session/context.rs`).

use crate::session::context::holds;
use crate::session::errors::to_py;
use gpupy_core::{DType, Scalar};
use gpupy_engine::Array;
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyFloat, PyInt, PyModule, PyString};

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
    /// `numpy.floating`.
    pub floating: Py<PyAny>,
    /// `numpy.ufunc`.
    pub ufunc: Py<PyAny>,
    /// The default of arguments that are not given.
    pub no_value: Py<PyAny>,
    /// `numpy.False_` and `numpy.True_`.
    truths: [Py<PyAny>; 2],
    /// Scalar types, in the order of [`DType::ALL`].
    scalars: Vec<Py<PyAny>>,
    /// Dtypes, in the order of [`DType::ALL`].
    dtypes: Vec<Py<PyAny>>,
}

impl Numpy {
    /// The scalar type of a dtype.
    pub fn scalar(&self, dtype: DType) -> &Py<PyAny> {
        &self.scalars[dtype as usize]
    }

    /// NumPy's object for a dtype.
    pub fn dtype(&self, dtype: DType) -> &Py<PyAny> {
        &self.dtypes[dtype as usize]
    }

    /// The dtype of ours that has this object.
    pub fn exactly(&self, dtype: &Bound<'_, PyAny>) -> Option<DType> {
        DType::ALL.into_iter().find(|known| dtype.is(&self.dtypes[*known as usize]))
    }

    /// NumPy's truth value.
    pub fn truth<'py>(&self, py: Python<'py>, value: bool) -> Bound<'py, PyAny> {
        self.truths[usize::from(value)].bind(py).clone()
    }

    /// Whether this class is a scalar type of ours.
    pub fn is_scalar_type(&self, class: &Bound<'_, PyAny>) -> bool {
        self.scalars.iter().any(|scalar| class.is(scalar))
    }

    /// The dtype of which this class is the scalar type.
    pub fn dtype_of_scalar(&self, class: &Bound<'_, PyAny>) -> Option<DType> {
        // Most numbers that are met are of these.
        let usual = [DType::F64, DType::F32, DType::I64];
        let mut all = usual.into_iter().chain(DType::ALL);
        all.find(|dtype| class.is(&self.scalars[*dtype as usize]))
    }
}

static NUMPY: PyOnceLock<Numpy> = PyOnceLock::new();

/// NumPy's objects.
pub fn numpy(py: Python<'_>) -> PyResult<&'static Numpy> {
    NUMPY.get_or_try_init(py, || {
        let module = py.import("numpy")?;
        let get = |name: &str| -> PyResult<Py<PyAny>> { Ok(module.getattr(name)?.unbind()) };
        let dtype = |dtype: DType| -> PyResult<Py<PyAny>> {
            Ok(module.call_method1("dtype", (dtype.name(),))?.unbind())
        };
        Ok(Numpy {
            ndarray: get("ndarray")?,
            asarray: get("asarray")?,
            array: get("array")?,
            integer: get("integer")?,
            floating: get("floating")?,
            ufunc: get("ufunc")?,
            no_value: get("_NoValue")?,
            truths: [get("False_")?, get("True_")?],
            scalars: DType::ALL.iter().map(|dtype| get(dtype.name())).collect::<PyResult<_>>()?,
            dtypes: DType::ALL.into_iter().map(dtype).collect::<PyResult<_>>()?,
            module: module.unbind(),
        })
    })
}

/// NumPy's dtype object for a dtype of ours.
pub fn to_numpy(py: Python<'_>, dtype: DType) -> PyResult<Bound<'_, PyAny>> {
    Ok(numpy(py)?.dtypes[dtype as usize].bind(py).clone())
}

/// The dtype of ours behind a `numpy.dtype` object, if there is one.
pub fn from_numpy(dtype: &Bound<'_, PyAny>) -> PyResult<Option<DType>> {
    let numpy = numpy(dtype.py())?;
    if let Some(found) = numpy.exactly(dtype) {
        return Ok(Some(found));
    }
    let Ok(dtype) = dtype.cast::<PyArrayDescr>() else { return Ok(None) };
    if !matches!(dtype.kind(), b'b' | b'i' | b'u' | b'f' | b'c') {
        return Ok(None);
    }
    // One that is equal but not identical carries metadata or is the same number under another name
    // (`longlong`); another byte order is not equal.
    for (found, known) in DType::ALL.into_iter().zip(&numpy.dtypes) {
        if dtype.is_equiv_to(known.bind(dtype.py()).cast()?) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The dtype of ours behind a class, a `numpy.dtype` object or a name of ours, if it is one of the
/// usual ones.
pub fn known(spec: &Bound<'_, PyAny>) -> PyResult<Option<DType>> {
    let py = spec.py();
    // The default of most functions comes first.
    if spec.is(py.get_type::<PyFloat>()) {
        return Ok(Some(DType::F64));
    } else if spec.is(py.get_type::<PyInt>()) {
        return Ok(Some(DType::I64));
    } else if spec.is(py.get_type::<PyBool>()) {
        return Ok(Some(DType::Bool));
    }
    if let Ok(name) = spec.cast_exact::<PyString>() {
        return Ok(DType::from_name(&name.to_cow()?));
    }
    let numpy = numpy(py)?;
    let is_its = |dtype: &DType| spec.is(&numpy.dtypes[*dtype as usize]);
    Ok(numpy.dtype_of_scalar(spec).or_else(|| DType::ALL.into_iter().find(is_its)))
}

/// The dtype of ours behind anything that `numpy.dtype` accepts, if there is one.
pub fn from_any(spec: &Bound<'_, PyAny>) -> PyResult<Option<DType>> {
    if let Some(found) = known(spec)? {
        return Ok(Some(found));
    }
    let numpy = numpy(spec.py())?;
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

/// Whether arrays of this dtype, in any form that `numpy.dtype` takes, are lazy.
#[pyfunction]
pub fn is_lazy(spec: &Bound<'_, PyAny>) -> PyResult<bool> {
    from_any(spec)?.map_or(Ok(false), holds)
}
