//! The attribute `__class__` of arrays, which `isinstance` asks for.
//!
//! Owns [`lend_to`], the packages that take NumPy's class alone. To code of these an array is lent as NumPy's when it
//! asks; to all other code the class is the array's own. Invariant: without such a package in the process the answer
//! costs one load.
//!
//! Not here: what is lent, and how the asking code gets it (`python/gpupy/_libraries/lending.py`).

use crate::array::classes::subclass::is_plain;
use crate::array::ndarray::NdArray;
use crate::session::python_objects;
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether there are such packages.
static ASKED_FOR: AtomicBool = AtomicBool::new(false);

/// By the name of a package: which arrays its code is lent.
static PACKAGES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();

/// By the name of a module: the same, as the innermost package around it has it.
static MODULES: PyOnceLock<Py<PyDict>> = PyOnceLock::new();

/// What code of a package is lent: nothing.
const NONE: u8 = 0;
/// Arrays of subclasses, and those whose elements no driver has.
const NO_DRIVERS: u8 = 1;
/// These, and arrays without axes, which may be keys.
const KEYS: u8 = 4;

/// Lends arrays to the code of a package that takes NumPy's class alone: none (0), those of subclasses and those whose
/// elements no driver has (1), all (2), those that the code which called it is lent (3), or the first and arrays
/// without axes (4).
#[pyfunction]
pub fn lend_to(py: Python<'_>, package: &Bound<'_, PyString>, which: u8) -> PyResult<()> {
    table(py, &PACKAGES).set_item(package, which)?;
    table(py, &MODULES).clear();
    ASKED_FOR.store(true, Ordering::Relaxed);
    Ok(())
}

fn table<'py>(py: Python<'py>, table: &'static PyOnceLock<Py<PyDict>>) -> &'py Bound<'py, PyDict> {
    table.get_or_init(py, || PyDict::new(py).unbind()).bind(py)
}

#[pymethods]
impl NdArray {
    #[getter(__class__)]
    fn asked_class<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        if ASKED_FOR.load(Ordering::Relaxed) {
            let which = lent_to_caller(slf.py())?;
            let is_asked = match which {
                NONE => false,
                NO_DRIVERS => is_no_drivers(slf),
                KEYS => is_no_drivers(slf) || NdArray::ndim(slf)? == 0,
                _ => true,
            };
            if is_asked {
                return python_objects::LEND.get(slf.py())?.call1((slf,));
            }
        }
        Ok(slf.get_type().into_any())
    }

    #[setter(__class__)]
    fn set_asked_class(slf: &Bound<'_, Self>, class: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = slf.py();
        let objects = py.get_type::<PyAny>().getattr(intern!(py, "__dict__"))?;
        let own = objects.get_item(intern!(py, "__class__"))?;
        own.call_method1(intern!(py, "__set__"), (slf, class)).map(drop)
    }
}

fn is_no_drivers(array: &Bound<'_, NdArray>) -> bool {
    !is_plain(array) || array.get().read(array.py()).as_lazy().is_none()
}

/// What the Python code that runs is lent.
fn lent_to_caller(py: Python<'_>) -> PyResult<u8> {
    // SAFETY: Python's lock is held; the dictionary is borrowed from the running frame, which stays meanwhile.
    let globals = unsafe { Bound::from_borrowed_ptr_or_opt(py, ffi::PyEval_GetGlobals()) };
    let Some(globals) = globals.as_ref().and_then(|globals| globals.cast::<PyDict>().ok()) else {
        return Ok(NONE);
    };
    let Some(name) = globals.get_item(intern!(py, "__name__"))? else {
        return Ok(NONE);
    };
    let Ok(name) = name.cast::<PyString>() else {
        return Ok(NONE);
    };
    let modules = table(py, &MODULES);
    if let Some(which) = modules.get_item(name)? {
        return which.extract();
    }
    let which = lent_to(table(py, &PACKAGES), &name.to_cow()?)?;
    modules.set_item(name, which)?;
    Ok(which)
}

/// What the innermost package around a module is lent.
fn lent_to(packages: &Bound<'_, PyDict>, module: &str) -> PyResult<u8> {
    let mut package = module;
    loop {
        if let Some(which) = packages.get_item(package)? {
            return which.extract();
        }
        match package.rsplit_once('.') {
            Some((outer, _)) => package = outer,
            None => return Ok(NONE),
        }
    }
}
