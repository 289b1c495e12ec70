//! Where calls went to NumPy: how often, by function, file and line of the user's.
//!
//! Owns [`count`] and the counts. Invariant: a line is the user's, never one of this package or of NumPy's.
//!
//! Not here: what else a call to NumPy leads to, a warning or an error (`python/gpupy/_fallback.py`).

use crate::array::NdArray;
use crate::protocols::module;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether each call is told to `_fallback`, which warns or forbids.
static TOLD: AtomicBool = AtomicBool::new(false);

/// Tells `_fallback` of each call to NumPy from here on, or no longer.
#[pyfunction]
pub fn tell_of_fallbacks(told: bool) {
    TOLD.store(told, Ordering::Relaxed);
}

struct Sites {
    /// The number of calls by `(function, file, line)`.
    counts: Py<PyDict>,
    /// Whether a file is one of ours or NumPy's, for each that was met.
    inside: Py<PyDict>,
    /// `sys._getframe`.
    frame: Py<PyAny>,
}

static SITES: PyOnceLock<Sites> = PyOnceLock::new();

fn sites(py: Python<'_>) -> PyResult<&'static Sites> {
    SITES.get_or_try_init(py, || {
        Ok(Sites {
            counts: PyDict::new(py).unbind(),
            inside: PyDict::new(py).unbind(),
            frame: py.import("sys")?.getattr("_getframe")?.unbind(),
        })
    })
}

/// The number of calls by `(function, file, line)`: the dictionary itself.
#[pyfunction]
pub fn fallback_counts(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    Ok(sites(py)?.counts.bind(py).clone())
}

/// Counts a call to NumPy with these arrays, and says it where the mode asks for that. A call without an
/// element is none.
///
/// # Errors
/// What the mode makes of the call.
#[pyfunction]
#[pyo3(name = "count_fallback")]
pub fn count(name: &Bound<'_, PyString>, arrays: Vec<Bound<'_, NdArray>>) -> PyResult<()> {
    note(name, &arrays)
}

/// As [`count`].
pub fn note(name: &Bound<'_, PyString>, arrays: &[Bound<'_, NdArray>]) -> PyResult<()> {
    let py = name.py();
    let mut empty = true;
    for array in arrays {
        empty = empty && NdArray::size(array)? == 0;
    }
    if empty {
        return Ok(());
    }
    let sites = sites(py)?;
    let (frame, file, line) = users_line(py, sites)?;
    let counts = sites.counts.bind(py);
    let site = (name, &file, &line).into_pyobject(py)?;
    let before: usize = match counts.get_item(&site)? {
        Some(count) => count.extract()?,
        None => 0,
    };
    counts.set_item(site, before + 1)?;
    if TOLD.load(Ordering::Relaxed) {
        let arrays = arrays.to_vec();
        module(py)?.call_method1("_tell", (name, arrays, frame, file, line))?;
    }
    Ok(())
}

/// The frame that called us or NumPy from outside of both, its file and its line. Where there is none, `None`,
/// `?` and 0.
fn users_line<'py>(
    py: Python<'py>,
    sites: &Sites,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let mut frame = sites.frame.bind(py).call0()?;
    let inside = sites.inside.bind(py);
    while !frame.is_none() {
        let file = frame.getattr(intern!(py, "f_code"))?.getattr(intern!(py, "co_filename"))?;
        let skipped = match inside.get_item(&file)? {
            Some(known) => known.is_truthy()?,
            None => {
                let packages = module(py)?.getattr("_INSIDE")?;
                let is_inside = file.call_method1("startswith", (packages,))?;
                inside.set_item(&file, &is_inside)?;
                is_inside.is_truthy()?
            }
        };
        if !skipped {
            let line = frame.getattr(intern!(py, "f_lineno"))?;
            return Ok((frame, file, line));
        }
        frame = frame.getattr(intern!(py, "f_back"))?;
    }
    Ok((frame, PyString::new(py, "?").into_any(), 0i32.into_pyobject(py)?.into_any()))
}
