//! The package's own functions and classes in Python that this crate uses.
//!
//! Owns [`PythonObject`], the table of them, and `register_python`. The package registers its objects by one call when
//! it is imported (`python/gpupy/_namespace/rust_calls.py`), and recordings register theirs when the first one loads
//! them. Invariants: no other file names a module of the package; an object that is not in the table is refused; the
//! first object that is registered stays.
//!
//! Not here: objects of NumPy's (`convert/dtypes.rs`) and of Python's library.

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

/// An object of the package's, once it is registered.
pub struct PythonObject {
    name: &'static str,
    object: PyOnceLock<Py<PyAny>>,
}

impl PythonObject {
    const fn new(name: &'static str) -> PythonObject {
        PythonObject { name, object: PyOnceLock::new() }
    }

    /// The object.
    ///
    /// # Errors
    /// `RuntimeError` while the package is not imported.
    pub fn get<'py>(&self, py: Python<'py>) -> PyResult<&Bound<'py, PyAny>> {
        let missing = || PyRuntimeError::new_err(format!("gpupy: `{}` is not loaded", self.name));
        self.object.get(py).map(|object| object.bind(py)).ok_or_else(missing)
    }
}

macro_rules! objects {
    ($($(#[$page:meta])* $place:ident $name:literal;)*) => {
        $($(#[$page])* pub static $place: PythonObject = PythonObject::new($name);)*

        static ALL: &[&PythonObject] = &[$(&$place),*];
    };
}

objects! {
    /// The slow path of `arange`.
    ARANGE "arange";
    /// The slow path of `array`.
    ARRAY "array";
    /// The slow path of `asanyarray`.
    ASANYARRAY "asanyarray";
    /// The slow path of `asarray`.
    ASARRAY "asarray";
    /// What libraries are told when there is an array.
    ARRAY_IS_MADE "array_is_made";
    /// NumPy's functions, called with arrays of ours.
    ARRAY_FUNCTION "array_function";
    /// NumPy's ufuncs, called with arrays of ours.
    ARRAY_UFUNC "array_ufunc";
    /// The result of a ufunc in a dtype and where a mask says so.
    CALLED "called";
    /// The slow paths of `zeros`, `ones` and `empty`, by name.
    CONSTANTS "constants";
    /// The method `copy` with an order.
    COPY "copy";
    /// What the program does with the number that it gets: whether it may stay pending, or else drops what it is of.
    FATE "fate";
    /// The flags of an array.
    FLAGS "flags";
    /// A result of NumPy's for arguments in host memory.
    GIVEN_BACK "given_back";
    /// Keys that are left to NumPy.
    GETITEM "getitem";
    /// An operator in place, by NumPy.
    IN_PLACE "in_place";
    /// The class that code of a library is answered, which has NumPy's array from then on.
    LEND "lend";
    /// The slow path of calls to NumPy.
    LONGER_CALL "longer_call";
    /// The namespace of arrays, by the version of the Array API.
    NAMESPACE "namespace";
    /// The class of calls that another class decides.
    ONWARD "onward";
    /// Our implementation of a call that reads numeric fields of records.
    OWN_OF_FIELDS "own_of_fields";
    /// The folders of code that is no program's.
    PACKAGES "packages";
    /// The operation that reads elements while a function is recorded.
    READING "reading";
    /// What follows a call that NumPy refused.
    REFUSED "refused";
    /// The method `reshape` in an order that is not C.
    RESHAPE_AS "reshape_as";
    /// The method `resize`.
    RESIZE "resize";
    /// The class of elements that a mask selects while a function is recorded.
    SELECTION "selection";
    /// The setter of `dtype`.
    SET_DTYPE "set_dtype";
    /// Assignments that are left to NumPy.
    SETITEM "setitem";
    /// The warning or the error that a call to NumPy leads to.
    TELL "tell";
    /// The text of an array by its corners.
    TEXT "text";
    /// NumPy's arrays and scalars in place of ours.
    TO_HOST "to_host";
    /// The memory of an instance as an array of a subclass of NumPy's.
    TWIN "twin";
    /// Our ufunc for one of NumPy's.
    UFUNC_OF "ufunc_of";
    /// Compositions in the place of ufuncs that no operation is, by name.
    UFUNCS_AS_COMPOSED "ufuncs_as_composed";
    /// NumPy's words about `__array_finalize__ = None`.
    WARN_OF_NONE "warn_of_none";
    /// NumPy's words about an output by position.
    WARN_OF_POSITION "warn_of_position";
    /// Results of NumPy's that are no plain arrays, as ours.
    WRAP_INSIDE "wrap_inside";
    /// A result of NumPy's on arrays of ours, which may be a view.
    WRAPPED "wrapped";
}

/// Registers objects by their names, and returns the names of those that are still missing.
#[pyfunction]
#[pyo3(signature = (**objects))]
pub fn register_python(
    py: Python<'_>,
    objects: Option<&Bound<'_, PyDict>>,
) -> PyResult<Vec<&'static str>> {
    for (name, object) in objects.into_iter().flat_map(|objects| objects.iter()) {
        let name: String = name.extract()?;
        let unknown = || PyTypeError::new_err(format!("gpupy: nothing is called `{name}`"));
        let place = ALL.iter().find(|place| place.name == name).ok_or_else(unknown)?;
        // A package that is imported again finds those of the first one.
        let _ = place.object.set(py, object.unbind());
    }
    Ok(ALL.iter().filter(|place| place.object.get(py).is_none()).map(|place| place.name).collect())
}
