//! Exchange of whole arrays with NumPy.
//!
//! Owns [`Export`], which keeps evaluated host memory alive while NumPy looks at it. Invariant:
//! NumPy never gets a writable view of memory that the core may share between values.
//!
//! Not here: what NumPy functions do with the arrays (`python/gpupy/_fallback.py`).

use crate::dtypes::{self, numpy};
use crate::errors::to_py;
use crate::session::{holds, ready};
use crate::waiting::wait;
use gpupy_core::{Array, DType, HostArray, Op, op_eval};
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
        DType::Bool => "|b1",
        DType::I8 => "|i1",
        DType::I16 => "<i2",
        DType::I32 => "<i4",
        DType::I64 => "<i8",
        DType::U8 => "|u1",
        DType::U16 => "<u2",
        DType::U32 => "<u4",
        DType::U64 => "<u8",
        DType::F16 => "<f2",
        DType::F32 => "<f4",
        DType::F64 => "<f8",
        DType::C64 => "<c8",
        DType::C128 => "<c16",
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
    let host = match array.in_memory() {
        Some(host) => host,
        None => {
            let context = ready(py)?;
            wait(py, || context.read(array)).map_err(to_py)?
        }
    };
    let owner = Bound::new(py, Export { host })?;
    numpy(py)?.asarray.bind(py).call1((owner,))
}

/// The element of a lazy array without axes as a NumPy scalar, evaluated if need be.
pub fn scalar<'py>(py: Python<'py>, array: &Array) -> PyResult<Bound<'py, PyAny>> {
    let class = numpy(py)?.scalar(array.dtype()).bind(py);
    if array.dtype().is_complex() {
        // They have no scalar form in the core.
        return class.call1((to_numpy(py, array)?,));
    }
    let scalar = match array.known_element() {
        Some(scalar) => scalar,
        None => {
            let context = ready(py)?;
            wait(py, || context.item(array, &[])).map_err(to_py)?
        }
    };
    let (dtype, bits) = (scalar.dtype, scalar.bits);
    match dtype {
        DType::Bool => class.call1((scalar.as_bool(),)),
        DType::F32 => class.call1((scalar.as_f32(),)),
        DType::F16 | DType::F64 => {
            // Every float16 is a float64; the latter's own bits are passed on as they are.
            let wide =
                op_eval::eval(Op::Cast, DType::F64, &[scalar]).filter(|_| dtype == DType::F16);
            class.call1((f64::from_bits(wide.map_or(bits, |wide| wide.bits)),))
        }
        _ if dtype.is_signed_int() => {
            let above = 64 - 8 * dtype.size() as u32;
            class.call1((((bits << above) as i64) >> above,))
        }
        _ => class.call1((bits,)),
    }
}

/// A lazy array with the elements of a `numpy.ndarray`, copied; `None` when its dtype is NumPy's
/// own, or no driver in use holds it.
pub fn from_numpy(array: &Bound<'_, PyAny>) -> PyResult<Option<Array>> {
    match dtypes::from_numpy(&array.getattr("dtype")?)? {
        Some(dtype) if holds(dtype)? => copy_in(array, dtype).map(Some),
        _ => Ok(None),
    }
}

/// Copies an ndarray of this dtype.
fn copy_in(array: &Bound<'_, PyAny>, dtype: DType) -> PyResult<Array> {
    with_bytes(array, |shape, bytes| Array::from_bytes(dtype, shape, bytes).map_err(to_py))?
}

/// An ndarray of integers as an index array: int32, copied. `None` when one of them is none.
pub fn indices(array: &Bound<'_, PyAny>) -> PyResult<Option<Array>> {
    let dtype: String = array.getattr("dtype")?.getattr("name")?.extract()?;
    let Some(dtype) = DType::from_name(&dtype).filter(|dtype| dtype.is_int()) else {
        return Ok(None);
    };
    with_bytes(array, |shape, bytes| {
        let narrowed = match dtype {
            DType::I8 => narrow(bytes, |b| i8::from_ne_bytes(b).into()),
            DType::I16 => narrow(bytes, |b| i16::from_ne_bytes(b).into()),
            DType::I32 => narrow(bytes, |b| i32::from_ne_bytes(b).into()),
            DType::U8 => narrow(bytes, |b| u8::from_ne_bytes(b).into()),
            DType::U16 => narrow(bytes, |b| u16::from_ne_bytes(b).into()),
            DType::U32 => narrow(bytes, |b| u32::from_ne_bytes(b).into()),
            DType::U64 => {
                narrow(bytes, |b| i64::try_from(u64::from_ne_bytes(b)).unwrap_or(i64::MAX))
            }
            _ => narrow(bytes, i64::from_ne_bytes),
        };
        narrowed.map(|numbers| index_array(shape, &numbers)).transpose()
    })?
}

/// Integers as those of int32; `None` when one of them does not fit.
fn narrow<const N: usize>(bytes: &[u8], read: impl Fn([u8; N]) -> i64) -> Option<Vec<i32>> {
    let mut fits = true;
    let narrowed = bytes.as_chunks::<N>().0.iter().map(|bytes| {
        let wide = read(*bytes);
        fits &= i64::from(wide as i32) == wide;
        wide as i32
    });
    let narrowed = narrowed.collect();
    fits.then_some(narrowed)
}

/// An index array of these numbers.
pub fn index_array(shape: &[usize], numbers: &[i32]) -> PyResult<Array> {
    Array::from_bytes(DType::I32, shape, bytemuck::cast_slice(numbers)).map_err(to_py)
}

/// The positions in C order of a mask's true elements.
pub fn true_positions(mask: &Bound<'_, PyAny>) -> PyResult<Vec<i32>> {
    with_bytes(mask, |_, bytes| {
        let mut found = vec![0; bytes.len()];
        let mut count = 0;
        for (position, is_true) in (0..).zip(bytes) {
            // Every position is written, and the place moves on behind those that count.
            found[count] = position;
            count += usize::from(*is_true != 0);
        }
        found.truncate(count);
        found
    })
}

/// Calls with an ndarray's shape and its elements in C order.
fn with_bytes<T>(array: &Bound<'_, PyAny>, call: impl FnOnce(&[usize], &[u8]) -> T) -> PyResult<T> {
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
    let called = call(&shape, bytes);
    // SAFETY: acquired above, released once.
    unsafe { ffi::PyBuffer_Release(&mut view) };
    Ok(called)
}
