//! The one place that maps the core's errors to Python's exceptions.
//!
//! Owns [`DriverError`], [`to_py`] and [`warn`]. Invariants: where NumPy has words for a mistake, the user
//! reads NumPy's words; a warning stands at a line of the program.
//!
//! Not here: mistakes that NumPy itself is asked to word (`meta.rs`).

use crate::session::{python_objects, waiting};
use gpupy_core::{DType, Error, ErrorKind, memory};
use pyo3::create_exception;
use pyo3::exceptions::{
    PyIndexError, PyMemoryError, PyOSError, PyRuntimeError, PyTypeError, PyValueError,
};
use pyo3::prelude::*;
use std::ffi::CStr;
use std::fmt::Write;

create_exception!(
    gpupy,
    DriverError,
    PyRuntimeError,
    "A driver could not start, or could not evaluate something."
);

create_exception!(
    gpupy,
    OpenError,
    DriverError,
    "The elements of an array were asked for while what is done with it is recorded."
);

create_exception!(
    gpupy,
    FormatError,
    OpenError,
    "An array was made text while what is done with it is recorded."
);

/// The exception that an error of the core becomes.
pub fn to_py(error: Error) -> PyErr {
    let words = match std::error::Error::source(&error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    };
    match error.kind() {
        ErrorKind::Interrupted => waiting::raised(),
        ErrorKind::Shape | ErrorKind::Unknown | ErrorKind::Disposed => {
            PyValueError::new_err(error.message().to_owned())
        }
        ErrorKind::Index => PyIndexError::new_err(error.message().to_owned()),
        ErrorKind::DType => PyTypeError::new_err(error.message().to_owned()),
        ErrorKind::OutOfMemory if memory::is_refusal(&error) => {
            PyMemoryError::new_err(error.message().to_owned())
        }
        ErrorKind::OutOfMemory => PyMemoryError::new_err(words),
        // A device may tell late of what it was told to do before.
        ErrorKind::Poisoned if is_of_memory(&error) => PyMemoryError::new_err(words),
        ErrorKind::Open => OpenError::new_err(error.message().to_owned()),
        ErrorKind::File if error.operation() == "reader" => {
            waiting::not_read().unwrap_or_else(|| PyOSError::new_err(words))
        }
        ErrorKind::Busy => PyRuntimeError::new_err(error.message().to_owned()),
        ErrorKind::File => PyOSError::new_err(words),
        _ => DriverError::new_err(words),
    }
}

/// Whether the cause of an error is that there was no room.
fn is_of_memory(error: &Error) -> bool {
    let cause = std::error::Error::source(error).and_then(|cause| cause.downcast_ref::<Error>());
    cause.is_some_and(|cause| cause.kind() == ErrorKind::OutOfMemory || is_of_memory(cause))
}

/// NumPy's warning for complex numbers that become others.
///
/// # Errors
/// The warning, where the user made an exception of it.
pub fn warn_of_lost_parts(py: Python<'_>, from: DType, to: DType) -> PyResult<()> {
    // A bool asks whether a number is zero, for which both parts count.
    if !from.is_complex() || to.is_complex() || to == DType::Bool {
        return Ok(());
    }
    let category = py.import("numpy.exceptions")?.getattr("ComplexWarning")?;
    let words = c"Casting complex values to real discards the imaginary part";
    warn(py, &category, words)
}

/// Warns at the line of the program that led here, which is neither ours nor NumPy's.
///
/// # Errors
/// The warning, where the user made an exception of it.
pub fn warn(py: Python<'_>, category: &Bound<'_, PyAny>, words: &CStr) -> PyResult<()> {
    let packages = python_objects::PACKAGES.get(py)?;
    let (mut level, mut found) = (0, 1);
    // Where no Python runs, there is no frame.
    let mut frame = py.import("sys")?.call_method0("_getframe").ok();
    while let Some(at) = frame.filter(|frame| !frame.is_none()) {
        level += 1;
        let file = at.getattr("f_code")?.getattr("co_filename")?;
        if !file.call_method1("startswith", (packages,))?.is_truthy()? {
            found = level;
            break;
        }
        frame = Some(at.getattr("f_back")?);
    }
    PyErr::warn(py, category, words, found)
}

/// A shape as NumPy's C code prints it: `(2,3)`, `(3,)`, `()`.
pub fn shape_words(shape: &[usize]) -> String {
    let mut text = String::from("(");
    for (i, n) in shape.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = write!(text, "{}{n}", if i == 0 { "" } else { "," });
    }
    text.push_str(if shape.len() == 1 { ",)" } else { ")" });
    text
}

/// NumPy's words for operands that do not broadcast.
pub fn not_broadcastable<'a>(shapes: impl Iterator<Item = &'a [usize]>) -> PyErr {
    let mut text = String::from("operands could not be broadcast together with shapes ");
    for shape in shapes {
        text.push_str(&shape_words(shape));
        text.push(' ');
    }
    PyValueError::new_err(text)
}
