//! Exchange of whole arrays with NumPy.
//!
//! Owns [`Export`], which keeps evaluated host memory alive while NumPy looks at it. Invariant:
//! NumPy never gets a writable view of memory that the core may share between values.
//!
//! Not here: what NumPy functions do with the arrays (`python/gpupy/_fallback.py`).

use crate::dtypes::{self, numpy};
use crate::errors::to_py;
use crate::session::ready;
use crate::waiting::wait;
use gpupy_core::{Array, DType, HostArray};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// Evaluated memory, as NumPy's array interface shows it.
#[pyclass(module = "gpupy._gpupy", frozen)]
pub struct Export {
    host: HostArray,
}

/// The type string of the array interface.
fn typestr(dtype: DType) -> &'static str {
    match dtype {
        DType::F32 => "<f4",
        DType::I32 => "<i4",
        DType::Bool => "|b1",
        // Only the three above are lazy.
        _ => "|V1",
    }
}

#[pymethods]
impl Export {
    #[getter(__array_interface__)]
    fn interface<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let host = &self.host;
        let size = host.dtype().size() as isize;
        let row = PyDict::new(py);
        row.set_item("shape", PyTuple::new(py, host.shape())?)?;
        row.set_item("typestr", typestr(host.dtype()))?;
        row.set_item("data", (host.as_ptr() as usize, true))?;
        let strides = host.strides().iter().map(|s| s * size);
        row.set_item("strides", PyTuple::new(py, strides.collect::<Vec<_>>())?)?;
        row.set_item("version", 3)?;
        Ok(row)
    }
}

/// The elements of a lazy array as a read-only `numpy.ndarray`, evaluated if need be.
pub fn to_numpy<'py>(py: Python<'py>, array: &Array) -> PyResult<Bound<'py, PyAny>> {
    let context = ready(py)?;
    let host = wait(py, || context.read(array)).map_err(to_py)?;
    let owner = Bound::new(py, Export { host })?;
    numpy(py)?.asarray.bind(py).call1((owner,))
}

/// A lazy array with the elements of a `numpy.ndarray`, copied; `None` when its dtype is NumPy's
/// own.
pub fn from_numpy(array: &Bound<'_, PyAny>) -> PyResult<Option<Array>> {
    let Some(dtype) = dtypes::from_numpy(&array.getattr("dtype")?)? else { return Ok(None) };
    copy_in(array, dtype).map(Some)
}

/// Copies an ndarray of this dtype.
fn copy_in(array: &Bound<'_, PyAny>, dtype: DType) -> PyResult<Array> {
    let py = array.py();
    let shape: Vec<usize> = array.getattr("shape")?.extract()?;
    // `asarray(order="C")` keeps the rank, where `ascontiguousarray` gives at least one axis.
    let kwargs = PyDict::new(py);
    kwargs.set_item("order", "C")?;
    let dense = numpy(py)?.asarray.bind(py).call((array,), Some(&kwargs))?;
    let mut view = std::mem::MaybeUninit::<ffi::Py_buffer>::uninit();
    // SAFETY: `dense` is a live object and `view` has room for one buffer description.
    let status =
        unsafe { ffi::PyObject_GetBuffer(dense.as_ptr(), view.as_mut_ptr(), ffi::PyBUF_SIMPLE) };
    if status != 0 {
        return Err(
            PyErr::take(py).unwrap_or_else(|| PyBufferError::new_err("the array gives no memory"))
        );
    }
    // SAFETY: the call succeeded and filled the description in.
    let mut view = unsafe { view.assume_init() };
    let len = usize::try_from(view.len).unwrap_or(0);
    let bytes = if len == 0 || view.buf.is_null() {
        &[][..]
    } else {
        // SAFETY: the exporter promises `len` readable bytes until the release below, and the GIL,
        // held throughout, keeps other threads of Python from writing to them.
        unsafe { std::slice::from_raw_parts(view.buf.cast::<u8>(), len) }
    };
    let copied = Array::from_bytes(dtype, &shape, bytes).map_err(to_py);
    // SAFETY: acquired above, released once.
    unsafe { ffi::PyBuffer_Release(&mut view) };
    copied
}
