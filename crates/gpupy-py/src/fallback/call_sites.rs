//! Call sites of fallbacks: how often NumPy was called, by function, file and line of the user's code.
//!
//! Owns [`count`] and the counts. The line is looked up only for a new site, because Python walks a table for it.
//! Invariant: a line is the user's, never one of this package or of NumPy.
//!
//! Not here: the warning or error that a call to NumPy leads to (`python/gpupy/_fallback/policy.py`).

use crate::array::ndarray::{ArrayElements, NdArray, elements};
use crate::convert::dtypes::numpy;
use crate::session::python_objects;
use crate::thresholds::T;
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyInt, PyString, PyTuple};
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Whether each call is told to `_fallback`, which warns or forbids.
static TOLD: AtomicBool = AtomicBool::new(false);

/// Tells `_fallback` of each call to NumPy from here on, or no longer.
#[pyfunction]
pub fn tell_of_fallbacks(told: bool) {
    TOLD.store(told, Ordering::Relaxed);
}

/// A function's name, the code that called and the instruction in it, the first two by address.
type CodeLocation = (usize, usize, i32);

/// Calls from a place that were not added to their site's yet. The objects keep their addresses theirs.
struct CallCount {
    number: u64,
    site: Py<PyTuple>,
    _name: Py<PyString>,
    _code: Py<PyAny>,
}

/// Code objects that were seen, by address. No Python code runs while it is locked.
#[derive(Default)]
struct SeenCode {
    places: FxHashMap<CodeLocation, CallCount>,
    /// Code of ours and of NumPy's.
    inside: FxHashMap<usize, Py<PyAny>>,
}

struct CallSites {
    /// The number of calls by `(function, file, line)`.
    counts: Py<PyDict>,
    met: Mutex<SeenCode>,
    /// `sys._getframe`.
    frame: Py<PyAny>,
}

static SITES: PyOnceLock<CallSites> = PyOnceLock::new();

impl CallSites {
    fn of(py: Python<'_>) -> PyResult<&'static CallSites> {
        SITES.get_or_try_init(py, || {
            let counts = PyDict::new(py).unbind();
            let frame = py.import("sys")?.getattr("_getframe")?.unbind();
            Ok(CallSites { counts, met: Mutex::default(), frame })
        })
    }

    fn met(&self) -> MutexGuard<'_, SeenCode> {
        self.met.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts one call more from a place that is known.
    fn again(&self, place: CodeLocation) -> bool {
        let mut met = self.met();
        let calls = met.places.get_mut(&place);
        calls.map(|calls| calls.number += 1).is_some()
    }

    /// Whether code is known for ours or NumPy's.
    fn knows_inside(&self, code: &Bound<'_, PyAny>) -> bool {
        self.met().inside.contains_key(&(code.as_ptr() as usize))
    }

    /// Whether a file is ours or NumPy's, and notes it of its code.
    fn is_inside(&self, file: &Bound<'_, PyAny>, code: &Bound<'_, PyAny>) -> PyResult<bool> {
        let packages = python_objects::PACKAGES.get(file.py())?;
        let inside = file.call_method1("startswith", (packages,))?.is_truthy()?;
        if inside {
            self.met().inside.insert(code.as_ptr() as usize, code.clone().unbind());
        }
        Ok(inside)
    }

    /// Counts the first call from a place.
    fn first(
        &self,
        place: CodeLocation,
        site: Bound<'_, PyTuple>,
        name: &Bound<'_, PyString>,
        code: Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let py = site.py();
        if self.met().places.len() >= T.call_sites {
            self.gather(py)?;
        }
        let (site, _name, _code) = (site.unbind(), name.clone().unbind(), code.unbind());
        let before = self.met().places.insert(place, CallCount { number: 1, site, _name, _code });
        before.map_or(Ok(()), |calls| self.add(calls.site.bind(py), calls.number))
    }

    /// Adds the calls from all places to their sites', and forgets the places.
    fn gather(&self, py: Python<'_>) -> PyResult<()> {
        let met = std::mem::take(&mut *self.met());
        for calls in met.places.values() {
            self.add(calls.site.bind(py), calls.number)?;
        }
        Ok(())
    }

    fn add(&self, site: &Bound<'_, PyTuple>, number: u64) -> PyResult<()> {
        let counts = self.counts.bind(site.py());
        let before = counts.get_item(site)?.map_or(Ok(0), |count| count.extract::<u64>())?;
        counts.set_item(site, before + number)
    }
}

/// The number of calls by `(function, file, line)`.
#[pyfunction]
pub fn fallback_counts(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let sites = CallSites::of(py)?;
    sites.gather(py)?;
    sites.counts.bind(py).copy()
}

/// Forgets all calls.
#[pyfunction]
pub fn reset_fallback_counts(py: Python<'_>) -> PyResult<()> {
    let sites = CallSites::of(py)?;
    sites.gather(py)?;
    sites.counts.bind(py).clear();
    Ok(())
}

/// Counts a call to NumPy with these arrays, and reports it if the mode says so. A call whose arrays have no elements
/// does not count.
///
/// # Errors
/// The warning or error of the mode (`GPUPY_FALLBACK`).
#[pyfunction]
pub fn count_fallback(name: &Bound<'_, PyString>, arrays: Vec<Bound<'_, NdArray>>) -> PyResult<()> {
    count(name, &arrays)
}

/// Functions whose arrays come from elsewhere: NumPy reads them, and computes nothing.
const READING: [&str; 9] = [
    "frombuffer",
    "fromfile",
    "fromiter",
    "fromregex",
    "fromstring",
    "genfromtxt",
    "load",
    "loadtxt",
    "require",
];

/// Counts a call without arrays of ours, where NumPy made arrays of its arguments, or a number of arrays.
///
/// # Errors
/// The warning or error of the mode (`GPUPY_FALLBACK`).
#[pyfunction]
pub fn count_made(
    name: &Bound<'_, PyString>,
    args: &Bound<'_, PyTuple>,
    result: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let is_number = || -> PyResult<bool> {
        let generic = numpy(name.py())?.generic.bind(name.py());
        Ok(args.iter_borrowed().any(|arg| is_array(&arg)) && result.is_instance(generic)?)
    };
    let made = match result.cast::<PyTuple>() {
        Ok(parts) => parts.iter_borrowed().any(|part| is_array(&part)),
        Err(_) => is_array(result) || is_number()?,
    };
    if !args.is_empty() && args.iter_borrowed().all(|arg| is_shape(&arg)) {
        return Ok(());
    }
    let told = name.to_cow()?;
    if made && !READING.contains(&&*told) && !told.starts_with("assert_") {
        return count_at(name, &[]);
    }
    Ok(())
}

/// Whether it is an array of NumPy's with axes and elements.
fn is_array(object: &Bound<'_, PyAny>) -> bool {
    object.cast::<PyUntypedArray>().is_ok_and(|array| array.ndim() > 0 && array.len() > 0)
}

/// Whether it is a tuple of Python's integers, as shapes are: results of these are no arrays of the program's data.
fn is_shape(object: &Bound<'_, PyAny>) -> bool {
    let items = object.cast_exact::<PyTuple>();
    items.is_ok_and(|items| items.iter_borrowed().all(|item| item.is_exact_instance_of::<PyInt>()))
}

/// As [`count_fallback`].
pub fn count(name: &Bound<'_, PyString>, arrays: &[Bound<'_, NdArray>]) -> PyResult<()> {
    let mut empty = true;
    for array in arrays {
        empty = empty && NdArray::size(array)? == 0;
    }
    if empty || moves_records(name, arrays)? { Ok(()) } else { count_at(name, arrays) }
}

/// Functions that only move the elements of their arrays.
const MOVING: [&str; 24] = [
    "__getitem__",
    "append",
    "astype",
    "broadcast_to",
    "compress",
    "concatenate",
    "copyto",
    "delete",
    "expand_dims",
    "extract",
    "flip",
    "hstack",
    "insert",
    "moveaxis",
    "ravel",
    "repeat",
    "roll",
    "stack",
    "swapaxes",
    "take",
    "tile",
    "view",
    "vstack",
    "atleast_2d",
];

/// Whether a call only moves records: no driver has any, so there is nothing that one could compute.
fn moves_records(name: &Bound<'_, PyString>, arrays: &[Bound<'_, NdArray>]) -> PyResult<bool> {
    if !MOVING.contains(&name.to_str()?) {
        return Ok(false);
    }
    let (py, Some(ArrayElements::Numpy(first))) = (name.py(), arrays.first().map(elements)) else {
        return Ok(false);
    };
    let names = first.getattr(intern!(py, "dtype"))?.getattr(intern!(py, "names"))?;
    Ok(!names.is_none())
}

/// Counts a call at the user's line.
fn count_at(name: &Bound<'_, PyString>, arrays: &[Bound<'_, NdArray>]) -> PyResult<()> {
    let py = name.py();
    let sites = CallSites::of(py)?;
    let told = TOLD.load(Ordering::Relaxed);
    let mut frame = sites.frame.bind(py).call0()?;
    while !frame.is_none() {
        let code = frame.getattr(intern!(py, "f_code"))?;
        if !sites.knows_inside(&code) {
            let instruction = frame.getattr(intern!(py, "f_lasti"))?.extract()?;
            let place = (name.as_ptr() as usize, code.as_ptr() as usize, instruction);
            if !told && sites.again(place) {
                return Ok(());
            }
            let file = code.getattr(intern!(py, "co_filename"))?;
            if !sites.is_inside(&file, &code)? {
                let line = frame.getattr(intern!(py, "f_lineno"))?;
                let site = (name, file, line).into_pyobject(py)?;
                if told {
                    sites.add(&site, 1)?;
                    return tell(site, arrays, frame);
                }
                return sites.first(place, site, name, code);
            }
        }
        frame = frame.getattr(intern!(py, "f_back"))?;
    }
    let site = (name, "?", 0).into_pyobject(py)?;
    sites.add(&site, 1)?;
    if told { tell(site, arrays, frame) } else { Ok(()) }
}

/// Tells `_fallback` of a call.
fn tell<'py>(
    site: Bound<'py, PyTuple>,
    arrays: &[Bound<'py, NdArray>],
    frame: Bound<'py, PyAny>,
) -> PyResult<()> {
    python_objects::TELL.get(site.py())?.call1((site, arrays.to_vec(), frame)).map(drop)
}
