//! Exchange of whole arrays with NumPy.
//!
//! Owns [`Exported`], which keeps evaluated host memory alive while NumPy looks at it, and describes it
//! as a buffer. Invariant:
//! NumPy never gets a writable view of memory that the core may share between values.
//!
//! Not here: what NumPy functions do with the arrays (`python/gpupy/_fallback.py`).

use crate::dtypes::{self, numpy};
use crate::errors::to_py;
use crate::session::{holds, ready};
use crate::waiting::wait;
use gpupy_core::{Array, DType, HostArray, Op, Scalar, op_eval};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use smallvec::SmallVec;
use std::ffi::{CStr, c_int};

/// Evaluated memory, described as the buffer protocol and NumPy's array interface want it.
pub struct Exported {
    host: HostArray,
    shape: SmallVec<[isize; 4]>,
    /// In bytes.
    strides: SmallVec<[isize; 4]>,
}

/// Evaluated memory as an object, for who has no array of ours to ask.
#[pyclass(module = "gpupy._gpupy", frozen)]
pub struct Export(Exported);

impl Exported {
    /// The elements of a lazy array, evaluated if need be.
    pub fn of(py: Python<'_>, array: &Array) -> PyResult<Exported> {
        let host = match array.in_memory() {
            Some(host) => host,
            None => {
                let context = ready(py)?;
                wait(py, || context.read(array)).map_err(to_py)?
            }
        };
        let size = host.dtype().size() as isize;
        let shape = host.shape().iter().map(|extent| *extent as isize).collect();
        let strides = host.strides().iter().map(|stride| stride * size).collect();
        Ok(Exported { host, shape, strides })
    }

    /// Fills a description of a buffer in, but for its owner.
    ///
    /// # Errors
    /// What is asked for is not how the elements lie.
    ///
    /// # Safety
    /// `view` is a description to fill in, which nobody reads once this is gone or moved.
    pub unsafe fn describe(&self, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let (host, size) = (&self.host, self.host.dtype().size());
        let asks = |flag| flags & flag == flag;
        let row_major = contiguous(&self.shape, &self.strides, size, true);
        let column_major = contiguous(&self.shape, &self.strides, size, false);
        // Who asks for no strides takes elements to be in C order.
        let in_order = row_major
            || asks(ffi::PyBUF_STRIDES)
                && !asks(ffi::PyBUF_C_CONTIGUOUS)
                && (column_major
                    || !asks(ffi::PyBUF_F_CONTIGUOUS) && !asks(ffi::PyBUF_ANY_CONTIGUOUS));
        if asks(ffi::PyBUF_WRITABLE) || !in_order || asks(ffi::PyBUF_F_CONTIGUOUS) && !column_major
        {
            return Err(PyBufferError::new_err(
                "the elements are read-only, in C order or strided",
            ));
        }
        // SAFETY: `view` is a description to fill in; what it points to lives as long as it is read.
        unsafe {
            (*view).buf = host.as_ptr().cast_mut().cast();
            (*view).len = self.shape.iter().product::<isize>() * size as isize;
            (*view).itemsize = size as isize;
            (*view).readonly = 1;
            (*view).ndim = self.shape.len() as c_int;
            let format = format(host.dtype()).as_ptr().cast_mut();
            let wanted = |flag, pointer| if asks(flag) { pointer } else { std::ptr::null_mut() };
            (*view).format = if asks(ffi::PyBUF_FORMAT) { format } else { std::ptr::null_mut() };
            (*view).shape = wanted(ffi::PyBUF_ND, self.shape.as_ptr().cast_mut());
            (*view).strides = wanted(ffi::PyBUF_STRIDES, self.strides.as_ptr().cast_mut());
            (*view).suboffsets = std::ptr::null_mut();
            (*view).internal = std::ptr::null_mut();
        }
        Ok(())
    }
}

const LONG_IS_64: bool = size_of::<std::ffi::c_long>() == 8;

/// What the buffer protocol calls a dtype: of two C types of one size, the one that NumPy's dtype is.
fn format(dtype: DType) -> &'static CStr {
    match dtype {
        DType::Bool => c"?",
        DType::I8 => c"b",
        DType::I16 => c"h",
        DType::I32 => c"i",
        DType::I64 if LONG_IS_64 => c"l",
        DType::I64 => c"q",
        DType::U8 => c"B",
        DType::U16 => c"H",
        DType::U32 => c"I",
        DType::U64 if LONG_IS_64 => c"L",
        DType::U64 => c"Q",
        DType::F16 => c"e",
        DType::F32 => c"f",
        DType::F64 => c"d",
        DType::C64 => c"Zf",
        DType::C128 => c"Zd",
    }
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
        let Exported { host, shape, strides } = &self.0;
        let row = PyDict::new(py);
        row.set_item("shape", PyTuple::new(py, shape)?)?;
        row.set_item("typestr", typestr(host.dtype()))?;
        row.set_item("data", (host.as_ptr() as usize, true))?;
        row.set_item("strides", PyTuple::new(py, strides)?)?;
        row.set_item("version", 3)?;
        Ok(row)
    }

    // SAFETY: the caller gives a buffer description to fill in.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        // SAFETY: `view` is a description to fill in, which keeps its owner alive, which never changes.
        unsafe {
            slf.get().0.describe(view, flags)?;
            (*view).obj = slf.into_ptr();
        }
        Ok(())
    }
}

/// Whether elements follow each other without gaps, the last axis first or the first.
fn contiguous(shape: &[isize], strides: &[isize], size: usize, row_major: bool) -> bool {
    let mut step = size as isize;
    let mut follows = |(extent, stride): (&isize, &isize)| {
        let fits = *extent == 1 || *stride == step;
        step *= extent;
        fits
    };
    let mut axes = shape.iter().zip(strides);
    let empty = shape.contains(&0);
    empty || if row_major { axes.rev().all(follows) } else { axes.all(&mut follows) }
}

/// The elements of a lazy array as a read-only `numpy.ndarray`, evaluated if need be.
pub fn to_numpy<'py>(py: Python<'py>, array: &Array) -> PyResult<Bound<'py, PyAny>> {
    let export = Bound::new(py, Export(Exported::of(py, array)?))?;
    numpy(py)?.asarray.bind(py).call1((export,))
}

/// The element of a lazy array without axes as a NumPy scalar, evaluated if need be.
pub fn scalar<'py>(py: Python<'py>, array: &Array) -> PyResult<Bound<'py, PyAny>> {
    if array.dtype().is_complex() {
        // They have no scalar form in the core.
        let class = numpy(py)?.scalar(array.dtype()).bind(py);
        return class.call1((to_numpy(py, array)?,));
    }
    let scalar = match array.known_element() {
        Some(scalar) => scalar,
        None => {
            let context = ready(py)?;
            wait(py, || context.item(array, &[])).map_err(to_py)?
        }
    };
    numpy_scalar(py, scalar)
}

/// An element as a NumPy scalar.
pub fn numpy_scalar(py: Python<'_>, scalar: Scalar) -> PyResult<Bound<'_, PyAny>> {
    let class = numpy(py)?.scalar(scalar.dtype).bind(py);
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

/// Copies an ndarray of this dtype. The copy's axes lie in memory as the ndarray's do.
fn copy_in(array: &Bound<'_, PyAny>, dtype: DType) -> PyResult<Array> {
    let copy = |array: &Bound<'_, PyAny>| {
        with_bytes(array, |shape, bytes| Array::from_bytes(dtype, shape, bytes).map_err(to_py))?
    };
    let strides: SmallVec<[isize; 4]> = array.getattr("strides")?.extract::<Vec<_>>()?.into();
    if strides.is_sorted_by(|a, b| a >= b) {
        return copy(array);
    }
    let mut order: Vec<usize> = (0..strides.len()).collect();
    order.sort_by_key(|axis| std::cmp::Reverse(strides[*axis].abs()));
    let descending = array.call_method1("transpose", (&order,))?;
    if !descending.getattr("flags")?.getattr("c_contiguous")?.is_truthy()? {
        return copy(array);
    }
    let mut back = vec![0; order.len()];
    for (place, axis) in order.iter().enumerate() {
        back[*axis] = place;
    }
    Ok(copy(&descending)?.transpose(&back))
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

/// The positions in C order of a mask's true elements, an int32 array.
pub fn true_positions(mask: &Bound<'_, PyAny>) -> PyResult<Array> {
    with_bytes(mask, |_, bytes| Array::where_true(bytes).map_err(to_py))?
}

/// The elements of an int32 array, evaluated if need be.
pub fn numbers(py: Python<'_>, array: &Array) -> PyResult<Vec<i32>> {
    let context = ready(py)?;
    let bytes = wait(py, || context.read(array)).map_err(to_py)?.to_vec();
    Ok(bytes.as_chunks::<4>().0.iter().map(|bytes| i32::from_ne_bytes(*bytes)).collect())
}

/// Calls with an ndarray's shape and its elements in C order.
fn with_bytes<T>(array: &Bound<'_, PyAny>, call: impl FnOnce(&[usize], &[u8]) -> T) -> PyResult<T> {
    if let Some(view) = Elements::of(array) {
        return Ok(call(&view.shape(), view.bytes()));
    }
    let py = array.py();
    // `asarray(order="C")` keeps the rank, where `ascontiguousarray` gives at least one axis.
    let kwargs = PyDict::new(py);
    kwargs.set_item("order", "C")?;
    let dense = numpy(py)?.asarray.bind(py).call((array,), Some(&kwargs))?;
    let view =
        Elements::of(&dense).ok_or_else(|| PyBufferError::new_err("the array gives no memory"))?;
    Ok(call(&view.shape(), view.bytes()))
}

/// Memory that an object describes, borrowed.
struct Buffer(ffi::Py_buffer);

impl Buffer {
    /// That of an array whose elements lie as the flags ask for; `None` for others.
    fn of(array: &Bound<'_, PyAny>, flags: c_int) -> Option<Buffer> {
        let mut view = std::mem::MaybeUninit::<ffi::Py_buffer>::uninit();
        // SAFETY: `array` is a live object and `view` has room for one buffer description.
        let status = unsafe { ffi::PyObject_GetBuffer(array.as_ptr(), view.as_mut_ptr(), flags) };
        if status != 0 {
            drop(PyErr::take(array.py()));
            return None;
        }
        // SAFETY: the call succeeded and filled the description in.
        Some(Buffer(unsafe { view.assume_init() }))
    }

    /// The numbers of all axes that a list of the description has.
    fn axes(&self, list: *const ffi::Py_ssize_t) -> &[isize] {
        if list.is_null() {
            return &[];
        }
        let ndim = usize::try_from(self.0.ndim).unwrap_or(0);
        // SAFETY: the exporter lists all axes.
        unsafe { std::slice::from_raw_parts(list, ndim) }
    }

    fn shape(&self) -> SmallVec<[usize; 4]> {
        self.axes(self.0.shape).iter().map(|extent| *extent as usize).collect()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: acquired in `of`, released once.
        unsafe { ffi::PyBuffer_Release(&mut self.0) };
    }
}

/// An ndarray's elements in C order, borrowed.
pub struct Elements(Buffer);

impl Elements {
    /// Those of an array that has them so; `None` for others.
    pub fn of(array: &Bound<'_, PyAny>) -> Option<Elements> {
        Buffer::of(array, ffi::PyBUF_ND | ffi::PyBUF_C_CONTIGUOUS).map(Elements)
    }

    fn shape(&self) -> SmallVec<[usize; 4]> {
        self.0.shape()
    }

    /// The elements' memory.
    pub fn bytes(&self) -> &[u8] {
        let description = &self.0.0;
        let len = usize::try_from(description.len).unwrap_or(0);
        if len == 0 || description.buf.is_null() {
            return &[];
        }
        // SAFETY: the exporter promises `len` readable bytes until the release, and the GIL, held
        // throughout, keeps other threads of Python from writing to them.
        unsafe { std::slice::from_raw_parts(description.buf.cast::<u8>(), len) }
    }
}

/// Where the elements of an ndarray lie.
pub struct Place {
    /// The first element's address.
    pub address: usize,
    pub shape: SmallVec<[usize; 4]>,
    /// In bytes.
    pub strides: SmallVec<[isize; 4]>,
}

impl Place {
    /// `None` for arrays that give no memory.
    pub fn of(array: &Bound<'_, PyAny>) -> Option<Place> {
        let buffer = Buffer::of(array, ffi::PyBUF_STRIDES)?;
        let strides = buffer.axes(buffer.0.strides).into();
        Some(Place { address: buffer.0.buf as usize, shape: buffer.shape(), strides })
    }
}
