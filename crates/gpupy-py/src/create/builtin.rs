//! Creation functions as C functions, like many of NumPy's: to call one takes half as long as to call one in
//! Python.
//!
//! Owns [`add`]. Invariant: they have NumPy's docstring, pickle by name, and bind to no instance.
//!
//! Not here: their work (`arrays.rs`, `conversions.rs`, `number_ranges.rs`).

use crate::create::arrays::{empty, ones, zeros};
use crate::create::conversions::{array, asanyarray, asarray};
use crate::create::number_ranges::arange;
use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyTuple};
use std::ffi::{CStr, CString};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The implementation of such a function.
type BuiltinFunction =
    for<'py> fn(&Bound<'py, PyTuple>, Option<&Bound<'py, PyDict>>) -> PyResult<Bound<'py, PyAny>>;

/// Calls a function as Python does.
///
/// # Safety
/// `args` is a tuple, `kwargs` a dictionary or null, and this thread has Python's lock.
unsafe fn called(
    function: BuiltinFunction,
    args: *mut ffi::PyObject,
    kwargs: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    Python::attach(|py| {
        let done = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: `args` is a tuple and `kwargs` a dictionary or null (this function's contract), and Python keeps
            // both for the time of the call.
            let (args, kwargs) =
                unsafe { (Borrowed::from_ptr(py, args), Borrowed::from_ptr_or_opt(py, kwargs)) };
            let kwargs = kwargs.as_ref().map(|kwargs| kwargs.cast::<PyDict>()).transpose()?;
            let args = args.cast::<PyTuple>()?;
            function(&args, kwargs.filter(|kwargs| !kwargs.is_empty()).as_deref())
        }));
        let panicked = |_| Err(PyRuntimeError::new_err("a function of gpupy's panicked"));
        match done.unwrap_or_else(panicked) {
            Ok(made) => made.into_ptr(),
            Err(error) => {
                error.restore(py);
                std::ptr::null_mut()
            }
        }
    })
}

macro_rules! functions {
    ($($name:ident)*) => {
        /// Adds all of them to a module.
        ///
        /// # Errors
        /// NumPy has none of the name.
        pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $({
                unsafe extern "C" fn $name(
                    _module: *mut ffi::PyObject,
                    args: *mut ffi::PyObject,
                    kwargs: *mut ffi::PyObject,
                ) -> *mut ffi::PyObject {
                    // SAFETY: Python calls a `METH_VARARGS | METH_KEYWORDS` function with a tuple and a dictionary
                    // or null, holding its lock.
                    unsafe { called(self::$name, args, kwargs) }
                }
                let name = stringify!($name);
                let (py, page) = (module.py(), page(module.py(), name)?);
                let label = leaked(name)?;
                let made = PyCFunction::new_with_keywords(py, $name, label, page, Some(module))?;
                module.add(name, made)?;
            })*
            Ok(())
        }
    };
}

functions! { arange array asanyarray asarray empty ones zeros }

/// NumPy's page of a name, with the signature in front as Python wants it.
fn page(py: Python<'_>, name: &str) -> PyResult<&'static CStr> {
    let theirs = py.import("numpy")?.getattr(name)?;
    let text = |of: &str| -> PyResult<String> {
        let text = theirs.getattr_opt(of)?.filter(|text| !text.is_none());
        text.map_or(Ok(String::new()), |text| text.extract())
    };
    let (signature, page) = (text("__text_signature__")?, text("__doc__")?);
    match signature.is_empty() {
        true => leaked(&page),
        false => leaked(&format!("{name}{signature}\n--\n\n{page}")),
    }
}

/// Text for a function, leaked because Python keeps the function for ever.
fn leaked(text: &str) -> PyResult<&'static CStr> {
    Ok(Box::leak(CString::new(text)?.into_boxed_c_str()))
}
