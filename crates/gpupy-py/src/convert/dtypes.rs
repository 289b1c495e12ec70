//! NumPy's dtypes and ours: the Python objects for each dtype.
//!
//! Owns [`Numpy`], the NumPy objects that the hot paths compare by identity. Invariant: numbers in native byte
//! order and of at most 128 bits have a dtype of ours, and so has bfloat16 of the package ml_dtypes, once a program has
//! imported that; strings, objects, dates, records and long doubles are
//! NumPy's own.
//!
//! Not here: promotion (`compute/ufunc.rs` asks NumPy for it, once for each combination); whether a driver holds a
//! dtype (`session/context.rs`).

use crate::session::context::holds;
use crate::session::errors::to_py;
use gpupy_core::{DType, Scalar};
use gpupy_engine::Array;
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::exceptions::{PyImportError, PyTypeError};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyModule, PyString, PyType};

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
    /// `numpy.generic`.
    pub generic: Py<PyAny>,
    /// `numpy.integer`.
    pub integer: Py<PyAny>,
    /// `numpy.ufunc`.
    pub ufunc: Py<PyAny>,
    /// The default of arguments that are not given.
    pub no_value: Py<PyAny>,
    /// `numpy.False_` and `numpy.True_`.
    truths: [Py<PyAny>; 2],
    /// The objects of NumPy's own dtypes, in the order of [`DType::ALL`], of which they are the first.
    own: Vec<DTypeObjects>,
    /// The scalar types of NumPy's other dtypes, whose scalars have no parts.
    others: Vec<Py<PyAny>>,
    /// `sys.modules`.
    modules: Py<PyDict>,
    /// Those of the package ml_dtypes, from the first need after a program has imported it.
    bfloat16: PyOnceLock<DTypeObjects>,
}

/// The Python objects of a dtype.
struct DTypeObjects {
    /// The scalar type.
    scalar: Py<PyAny>,
    /// The `numpy.dtype` object.
    dtype: Py<PyAny>,
}

impl Numpy {
    fn objects(&self, py: Python<'_>, dtype: DType) -> Option<&DTypeObjects> {
        self.own.get(dtype as usize).or_else(|| self.bfloat16(py))
    }

    /// The objects of bfloat16, where the program has imported ml_dtypes, which is never imported here.
    fn bfloat16(&self, py: Python<'_>) -> Option<&DTypeObjects> {
        if let Some(found) = self.bfloat16.get(py) {
            return Some(found);
        }
        let module = self.modules.bind(py).get_item(intern!(py, "ml_dtypes")).ok()??;
        // A module that is being imported may lack it still.
        let scalar = module.getattr(intern!(py, "bfloat16")).ok()?;
        let dtype = self.module.bind(py).call_method1("dtype", (&scalar,)).ok()?.unbind();
        Some(self.bfloat16.get_or_init(py, || DTypeObjects { scalar: scalar.unbind(), dtype }))
    }

    /// The scalar type of a dtype.
    ///
    /// # Errors
    /// ImportError for bfloat16 where ml_dtypes is not imported; here and below.
    pub fn scalar(&self, py: Python<'_>, dtype: DType) -> PyResult<&Py<PyAny>> {
        self.objects(py, dtype).map(|objects| &objects.scalar).ok_or_else(is_not_imported)
    }

    /// NumPy's object for a dtype.
    pub fn dtype(&self, py: Python<'_>, dtype: DType) -> PyResult<&Py<PyAny>> {
        self.objects(py, dtype).map(|objects| &objects.dtype).ok_or_else(is_not_imported)
    }

    /// The dtypes that objects are known of, with these.
    fn known(&self) -> impl Iterator<Item = (DType, &DTypeObjects)> {
        DType::ALL.into_iter().zip(&self.own)
    }

    /// The dtype of ours that has this object.
    pub fn exactly(&self, dtype: &Bound<'_, PyAny>) -> Option<DType> {
        let found = self.known().find(|(_, objects)| dtype.is(&objects.dtype));
        let is_bfloat16 = || self.bfloat16(dtype.py()).is_some_and(|own| dtype.is(&own.dtype));
        found.map(|(dtype, _)| dtype).or_else(|| is_bfloat16().then_some(DType::BF16))
    }

    /// NumPy's truth value.
    pub fn truth<'py>(&self, py: Python<'py>, value: bool) -> Bound<'py, PyAny> {
        self.truths[usize::from(value)].bind(py).clone()
    }

    /// Whether this class is a scalar type of ours.
    pub fn is_scalar_type(&self, class: &Bound<'_, PyAny>) -> bool {
        self.dtype_of_scalar(class).is_some()
    }

    /// Whether this class is a scalar type of a dtype that has no drivers: of dates, text and long doubles.
    pub fn is_other_scalar_type(&self, class: &Bound<'_, PyAny>) -> bool {
        self.others.iter().any(|other| class.is(other))
    }

    /// The dtype of which this class is the scalar type.
    pub fn dtype_of_scalar(&self, class: &Bound<'_, PyAny>) -> Option<DType> {
        // Most numbers that are met are of these.
        let usual = [DType::F64, DType::F32, DType::I64];
        let usual = usual.into_iter().map(|dtype| (dtype, &self.own[dtype as usize]));
        let mut all = usual.chain(self.known());
        let found = all.find(|(_, objects)| class.is(&objects.scalar));
        // Whether ml_dtypes is there is asked for no other numbers than NumPy's.
        let is_numpys =
            || class.cast::<PyType>().is_ok_and(|class| is_subclass(class, &self.generic));
        let is_bfloat16 = || self.bfloat16(class.py()).is_some_and(|own| class.is(&own.scalar));
        found
            .map(|(dtype, _)| dtype)
            .or_else(|| (is_numpys() && is_bfloat16()).then_some(DType::BF16))
    }
}

/// Whether a class is another one or comes from it; no code of metaclasses is asked.
fn is_subclass(class: &Bound<'_, PyType>, other: &Py<PyAny>) -> bool {
    // SAFETY: both are classes, and Python's lock is held.
    unsafe { ffi::PyType_IsSubtype(class.as_type_ptr(), other.as_ptr().cast()) != 0 }
}

/// The names of these scalar types.
const OTHERS: [&str; 6] =
    ["datetime64", "timedelta64", "longdouble", "clongdouble", "str_", "bytes_"];

static NUMPY: PyOnceLock<Numpy> = PyOnceLock::new();

/// NumPy's objects.
pub fn numpy(py: Python<'_>) -> PyResult<&'static Numpy> {
    NUMPY.get_or_try_init(py, || {
        let module = py.import("numpy")?;
        let get = |name: &str| -> PyResult<Py<PyAny>> { Ok(module.getattr(name)?.unbind()) };
        let objects = |dtype: DType| -> PyResult<DTypeObjects> {
            let scalar = get(dtype.name())?;
            Ok(DTypeObjects { dtype: module.call_method1("dtype", (&scalar,))?.unbind(), scalar })
        };
        let own = DType::ALL.into_iter().filter(|dtype| *dtype != DType::BF16);
        Ok(Numpy {
            ndarray: get("ndarray")?,
            asarray: get("asarray")?,
            array: get("array")?,
            generic: get("generic")?,
            integer: get("integer")?,
            ufunc: get("ufunc")?,
            no_value: get("_NoValue")?,
            truths: [get("False_")?, get("True_")?],
            others: OTHERS.into_iter().map(get).collect::<PyResult<_>>()?,
            own: own.map(objects).collect::<PyResult<_>>()?,
            modules: py.import("sys")?.getattr("modules")?.cast_into()?.unbind(),
            bfloat16: PyOnceLock::new(),
            module: module.unbind(),
        })
    })
}

/// NumPy's dtype object for a dtype of ours.
pub fn to_numpy(py: Python<'_>, dtype: DType) -> PyResult<Bound<'_, PyAny>> {
    Ok(numpy(py)?.dtype(py, dtype)?.bind(py).clone())
}

fn is_not_imported() -> PyErr {
    PyImportError::new_err("bfloat16 is a dtype of the package ml_dtypes; import ml_dtypes first")
}

/// The dtype of ours behind a `numpy.dtype` object, if there is one.
pub fn from_numpy(dtype: &Bound<'_, PyAny>) -> PyResult<Option<DType>> {
    let numpy = numpy(dtype.py())?;
    if let Some(found) = numpy.exactly(dtype) {
        return Ok(Some(found));
    }
    let Ok(dtype) = dtype.cast::<PyArrayDescr>() else { return Ok(None) };
    if dtype.kind() == b'V' {
        // bfloat16 has the kind of records, and is known by its scalar type.
        let known = numpy.bfloat16(dtype.py()).filter(|own| dtype.typeobj().is(&own.scalar));
        return Ok(known
            .filter(|_| dtype.is_native_byteorder() != Some(false))
            .map(|_| DType::BF16));
    }
    if !matches!(dtype.kind(), b'b' | b'i' | b'u' | b'f' | b'c') {
        return Ok(None);
    }
    if !dtype.getattr(intern!(dtype.py(), "metadata"))?.is_none() {
        // What a library says of the elements, such as the names of an enumeration; a driver's array would lose it.
        return Ok(None);
    }
    // One that is equal but not identical is the same number under another name (`longlong`); another byte order is
    // not equal.
    for (found, objects) in numpy.known() {
        if dtype.is_equiv_to(objects.dtype.bind(dtype.py()).cast()?) {
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
        let named = DType::from_name(&name.to_cow()?);
        return Ok(match named {
            Some(DType::BF16) => numpy(py)?.bfloat16(py).map(|_| DType::BF16),
            named => named,
        });
    }
    let numpy = numpy(py)?;
    Ok(numpy.dtype_of_scalar(spec).or_else(|| numpy.exactly(spec)))
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

/// NumPy's letter for the kind of a dtype; "f" for bfloat16 as well, which NumPy counts among records.
#[pyfunction]
pub fn kind_of(dtype: &Bound<'_, PyAny>) -> PyResult<String> {
    match from_numpy(dtype)? {
        Some(DType::BF16) => Ok("f".to_owned()),
        _ => dtype.getattr(intern!(dtype.py(), "kind"))?.extract(),
    }
}

/// The dtype in which sums of this one are accumulated: float32 for narrower floats.
#[pyfunction]
pub fn accumulated<'py>(dtype: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    match from_numpy(dtype)? {
        Some(known) if known.accumulated() != known => to_numpy(dtype.py(), known.accumulated()),
        _ => Ok(dtype.clone()),
    }
}

/// Whether arrays of this dtype, in any form that `numpy.dtype` takes, are lazy.
#[pyfunction]
pub fn is_lazy(spec: &Bound<'_, PyAny>) -> PyResult<bool> {
    from_any(spec)?.map_or(Ok(false), holds)
}
