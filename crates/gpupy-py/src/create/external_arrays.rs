//! External arrays: their elements are in a file, or a function of the program reads them.
//!
//! Owns `file_array`, `read_array` and `bytes_read`, on which `python/gpupy/_outside` builds. Invariant: a reading
//! function is called by the thread that waits for an evaluation, which holds the engine meanwhile; so the function
//! may not evaluate arrays, and gets an error if it does.
//!
//! Not here: when elements are read (`gpupy-engine/src/execute/external_elements.rs`); chunks, and files of NumPy's
//! format (`python/gpupy/_outside`).

use crate::array::ndarray::NdArray;
use crate::convert::{dtypes, numpy_arrays};
use crate::session::errors::to_py;
use crate::session::waiting;
use gpupy_core::{DType, Error, ErrorKind, Result};
use gpupy_engine::{Array, FileReader, Reader};
use numpy::PyUntypedArrayMethods;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::Arc;

fn known_dtype(dtype: &Bound<'_, PyAny>) -> PyResult<DType> {
    dtypes::from_any(dtype)?.ok_or_else(|| PyTypeError::new_err("the dtype is NumPy's own"))
}

/// An array of the elements that lie in a file from these bytes on, in C order; they are read when they are needed.
#[pyfunction]
pub fn file_array(
    py: Python<'_>,
    path: PathBuf,
    offset: u64,
    shape: Vec<usize>,
    dtype: &Bound<'_, PyAny>,
) -> PyResult<NdArray> {
    let dtype = known_dtype(dtype)?;
    let len = shape.iter().product();
    let opened = waiting::wait(py, || FileReader::open(&path, offset, dtype, len));
    let reader = Arc::new(opened.map_err(to_py)?);
    Ok(read_only(Array::of_reader(dtype, &shape, reader).map_err(to_py)?))
}

/// An array whose elements a function reads when they are needed: called with the first element's number in C order
/// and the one behind the last, at multiples of `unit`, it returns an ndarray of these.
#[pyfunction]
pub fn read_array(
    read: Py<PyAny>,
    name: String,
    unit: usize,
    shape: Vec<usize>,
    dtype: &Bound<'_, PyAny>,
) -> PyResult<NdArray> {
    let dtype = known_dtype(dtype)?;
    let reader = Arc::new(CallbackReader { read, name, unit: unit.max(1), dtype });
    Ok(read_only(Array::of_reader(dtype, &shape, reader).map_err(to_py)?))
}

/// The bytes that were read from external_elements so far; waits for no evaluation.
#[pyfunction]
pub fn bytes_read() -> u64 {
    gpupy_engine::bytes_read()
}

fn read_only(array: Array) -> NdArray {
    let made = NdArray::lazy(array);
    made.set_writable(false);
    made
}

/// A function of the program's that reads elements.
struct CallbackReader {
    read: Py<PyAny>,
    name: String,
    unit: usize,
    dtype: DType,
}

impl Reader for CallbackReader {
    fn read(&self, first: usize, into: &mut [u8]) -> Result<()> {
        let size = self.dtype.size();
        let end = first + into.len() / size;
        let failed =
            || Error::new(ErrorKind::File, "reader").with("file", format!("`{}`", self.name));
        let done = waiting::reading(|py| {
            let told = |error: PyErr| {
                let words = format!("while reading elements {first} to {end} of `{}`", self.name);
                // An exception that takes no notes tells itself.
                let _ = error.value(py).call_method1("add_note", (words,));
                error
            };
            self.call(py, first, into).map_err(told)
        });
        match done {
            Some(true) => Ok(()),
            Some(false) => Err(failed().says("the reader raised an exception")),
            None => Err(failed().says("Python is shutting down")),
        }
    }

    fn unit(&self) -> usize {
        self.unit
    }

    fn name(&self) -> String {
        self.name.clone()
    }
}

impl CallbackReader {
    fn call(&self, py: Python<'_>, first: usize, into: &mut [u8]) -> PyResult<()> {
        let count = into.len() / self.dtype.size();
        let given =
            numpy_arrays::ndarray(self.read.bind(py).call1((first, first + count))?.as_any())?;
        let known = dtypes::from_numpy(&given.dtype())?;
        let bytes = numpy_arrays::bytes(&given).filter(|bytes| bytes.len() == into.len());
        let Some(bytes) = bytes.filter(|_| known == Some(self.dtype)) else {
            return Err(PyValueError::new_err(format!(
                "a reader gave {} elements of {} where {count} of {} were to be read",
                given.len(),
                given.dtype(),
                self.dtype
            )));
        };
        into.copy_from_slice(bytes);
        if self.dtype == DType::Bool {
            into.iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
        }
        Ok(())
    }
}
