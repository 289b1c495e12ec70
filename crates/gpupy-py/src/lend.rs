//! Memory of ours as others see it: NumPy's arrays over it, and descriptions for the buffer protocol.
//!
//! Owns [`to_numpy`] and [`Exported`]. Invariants: nothing is copied that lies in host memory, but for few
//! elements that only their array has; what is lent lives as long as somebody looks at it; nobody gets
//! a writable view of memory that the core may share between values.
//!
//! Not here: the way from NumPy to us (`host.rs`).

use crate::dtypes;
use crate::errors::to_py;
use crate::session::ready;
use crate::waiting::wait;
use gpupy_core::{Array, DType, HostArray};
use numpy::npyffi::{NpyTypes, PY_ARRAY_API, get_type_object};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use smallvec::SmallVec;
use std::ffi::{CStr, c_int};

/// Keeps memory while an array of NumPy's shows it: that array's `base`.
#[pyclass(module = "gpupy._gpupy", frozen)]
struct Memory {
    _lent: HostArray,
}

/// The elements of a lazy array as a read-only `numpy.ndarray`, evaluated if need be.
pub fn to_numpy<'py>(py: Python<'py>, array: &Array) -> PyResult<Bound<'py, PyAny>> {
    let Exported { host, mut shape, mut strides } = Exported::of(py, array)?;
    let dtype = dtypes::to_numpy(py, host.dtype())?;
    let data = host.as_ptr().cast_mut().cast();
    let memory = Bound::new(py, Memory { _lent: host })?;
    // SAFETY: shape and strides have as many numbers as axes, and what they reach from `data` are elements of
    // the dtype that `memory` keeps. Both calls take their last reference over, to the dtype and to `memory`,
    // and without flags the array is none to write to.
    unsafe {
        let made = PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            get_type_object(py, NpyTypes::PyArray_Type),
            dtype.into_ptr().cast(),
            shape.len() as c_int,
            shape.as_mut_ptr(),
            strides.as_mut_ptr(),
            data,
            0,
            std::ptr::null_mut(),
        );
        let made = Bound::from_owned_ptr_or_err(py, made)?;
        match PY_ARRAY_API.PyArray_SetBaseObject(py, made.as_ptr().cast(), memory.into_ptr()) {
            0 => Ok(made),
            _ => Err(PyErr::fetch(py)),
        }
    }
}

/// Evaluated memory, described as NumPy and the buffer protocol want it.
pub struct Exported {
    host: HostArray,
    shape: SmallVec<[isize; 4]>,
    /// In bytes.
    strides: SmallVec<[isize; 4]>,
}

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
            // Who asks for no extents sees bytes.
            (*view).ndim = if asks(ffi::PyBUF_ND) { self.shape.len() as c_int } else { 1 };
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
