//! Export of our memory: NumPy arrays over it, and descriptions for the buffer protocol.
//!
//! Owns [`to_numpy`], [`to_numpy_pinned`] and [`Exported`]. Other code gets the memory of a pinned base
//! (`gpupy-engine/src/context/exports/pin.rs`), with NumPy's strides and NumPy's permission to write. A NumPy function
//! that keeps no reference gets the elements as they are now, read-only. Invariants: elements in host memory are not
//! copied, except few elements that only their array has; exported memory lives as long as it has a reader; memory that
//! values may share is never exported writable, but to functions that only read, for the time of a call
//! (`fallback/fast_call.rs`).
//!
//! Not here: the way from NumPy to us (`numpy_arrays.rs`).

use crate::convert::dtypes;
use crate::session::context::ready;
use crate::session::errors::to_py;
use crate::session::waiting::wait;
use gpupy_core::DType;
use gpupy_engine::{Array, HostArray, Pin};
use numpy::npyffi::{NPY_ARRAY_WRITEABLE, NpyTypes, PY_ARRAY_API, get_type_object};
use pyo3::exceptions::PyValueError;
use pyo3::ffi;
use pyo3::prelude::*;
use smallvec::SmallVec;
use std::ffi::{CStr, c_int};

/// Keeps memory while an array of NumPy's shows it: that array's `base`.
#[pyclass(module = "gpupy._gpupy", frozen)]
struct BaseObject {
    _lent: MemoryOwner,
}

/// The elements of a lazy array as a read-only `numpy.ndarray`, evaluated if need be: as they are now, or, where
/// the base is pinned anyway, as they are at any time.
pub fn to_numpy<'py>(py: Python<'py>, array: &Array) -> PyResult<Bound<'py, PyAny>> {
    let pinned = array.is_pinned().then(|| array.pin_now(false)).flatten();
    let exported = match pinned {
        Some(pin) => Exported::pinned(pin, false),
        None => Exported::of(py, array)?,
    };
    exported.into_numpy(py)
}

/// The elements of a lazy array as a read-only `numpy.ndarray` whose memory is never written, evaluated if need be; a
/// copy if the base is pinned.
pub fn to_numpy_constant<'py>(py: Python<'py>, array: &Array) -> PyResult<Bound<'py, PyAny>> {
    Exported::of(py, array)?.into_numpy(py)
}

/// The elements of a lazy array as a `numpy.ndarray` over the very memory that its base has, evaluated if need
/// be. The base stays pinned as long as the ndarray lives, or for the base's own life.
pub fn to_numpy_pinned<'py>(
    py: Python<'py>,
    array: &Array,
    writable: bool,
    for_life: bool,
) -> PyResult<Bound<'py, PyAny>> {
    Exported::pinned(pin(py, array, for_life)?, writable).into_numpy(py)
}

/// An export of the memory of an array's base.
pub fn pin(py: Python<'_>, array: &Array, for_life: bool) -> PyResult<Pin> {
    match array.pin_now(for_life) {
        Some(pin) => Ok(pin),
        None => {
            let context = ready(py)?;
            wait(py, || context.pin(array, for_life)).map_err(to_py)
        }
    }
}

/// The owner that keeps exported memory alive.
#[expect(dead_code, reason = "they are there to be dropped")]
enum MemoryOwner {
    /// Elements as they were when they were read.
    Read(HostArray),
    /// The memory of a base.
    Pinned(Pin),
}

/// Evaluated memory, described as NumPy and the buffer protocol want it.
pub struct Exported {
    owner: MemoryOwner,
    first: *mut u8,
    dtype: DType,
    shape: SmallVec<[isize; 4]>,
    /// In bytes.
    strides: SmallVec<[isize; 4]>,
    writable: bool,
}

/// Extents as NumPy has them, and strides in bytes.
fn layout(dtype: DType, shape: &[usize], strides: &[isize]) -> [SmallVec<[isize; 4]>; 2] {
    let size = dtype.size() as isize;
    // No extent is beyond isize, which an array's size is not.
    let shape = SmallVec::from_slice(bytemuck::cast_slice(shape));
    let mut strides = SmallVec::from_slice(strides);
    strides.iter_mut().for_each(|stride| *stride *= size);
    [shape, strides]
}

impl Exported {
    /// The elements of a lazy array as they are now, evaluated if need be.
    pub fn of(py: Python<'_>, array: &Array) -> PyResult<Exported> {
        let host = match array.in_memory() {
            Some(host) => host,
            None => {
                let context = ready(py)?;
                wait(py, || context.read(array)).map_err(to_py)?
            }
        };
        let (first, dtype) = (host.as_ptr().cast_mut(), host.dtype());
        let [shape, strides] = layout(dtype, host.shape(), host.strides());
        Ok(Exported {
            owner: MemoryOwner::Read(host),
            first,
            dtype,
            shape,
            strides,
            writable: false,
        })
    }

    /// The memory of a pinned base.
    pub fn pinned(pin: Pin, writable: bool) -> Exported {
        let (first, dtype) = (pin.as_ptr(), pin.dtype());
        let [shape, strides] = layout(dtype, pin.shape(), pin.strides());
        Exported { owner: MemoryOwner::Pinned(pin), first, dtype, shape, strides, writable }
    }

    /// The elements as an ndarray.
    fn into_numpy(mut self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        let dtype = dtypes::to_numpy(py, self.dtype)?;
        let memory = Bound::new(py, BaseObject { _lent: self.owner })?;
        let flags = if self.writable { NPY_ARRAY_WRITEABLE } else { 0 };
        // SAFETY: shape and strides have as many numbers as axes, and reach from `first` only elements of
        // the dtype, in memory that `memory` keeps alive. Both calls take over a reference, to the dtype and to
        // `memory`. Without the flag the array is read-only; with it, the memory is a pinned base's, which other code
        // may write to.
        unsafe {
            let made = PY_ARRAY_API.PyArray_NewFromDescr(
                py,
                get_type_object(py, NpyTypes::PyArray_Type),
                dtype.into_ptr().cast(),
                self.shape.len() as c_int,
                self.shape.as_mut_ptr(),
                self.strides.as_mut_ptr(),
                self.first.cast(),
                flags,
                std::ptr::null_mut(),
            );
            let made = Bound::from_owned_ptr_or_err(py, made)?;
            match PY_ARRAY_API.PyArray_SetBaseObject(py, made.as_ptr().cast(), memory.into_ptr()) {
                0 => Ok(made),
                _ => Err(PyErr::fetch(py)),
            }
        }
    }

    /// Fills a description of a buffer in, but for its owner.
    ///
    /// # Errors
    /// The elements do not have the requested layout.
    ///
    /// # Safety
    /// `view` is a description to fill in, which is not read once this is gone or moved.
    pub unsafe fn describe(&self, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let (size, format) = (self.dtype.size(), format(self.dtype));
        if format.is_empty() {
            return Err(PyValueError::new_err(format!(
                "cannot include dtype '{}' in a buffer",
                self.dtype
            )));
        }
        let asks = |flag| flags & flag == flag;
        let row_major = contiguous(&self.shape, &self.strides, size, true);
        let column_major = || contiguous(&self.shape, &self.strides, size, false);
        // A consumer that asks for no strides takes elements to be in C order.
        let in_order = row_major
            || asks(ffi::PyBUF_STRIDES)
                && !asks(ffi::PyBUF_C_CONTIGUOUS)
                && (column_major()
                    || !asks(ffi::PyBUF_F_CONTIGUOUS) && !asks(ffi::PyBUF_ANY_CONTIGUOUS));
        // NumPy's words.
        if asks(ffi::PyBUF_WRITABLE) && !self.writable {
            return Err(PyValueError::new_err("buffer source array is read-only"));
        }
        if !in_order || asks(ffi::PyBUF_F_CONTIGUOUS) && !column_major() {
            return Err(PyValueError::new_err(match asks(ffi::PyBUF_F_CONTIGUOUS) {
                true => "ndarray is not Fortran contiguous",
                false => "ndarray is not C-contiguous",
            }));
        }
        // SAFETY: `view` is a description to fill in; the shape, strides and memory live as long as `self`.
        unsafe {
            (*view).buf = self.first.cast();
            (*view).len = self.shape.iter().product::<isize>() * size as isize;
            (*view).itemsize = size as isize;
            (*view).readonly = c_int::from(!self.writable);
            // A consumer that asks for no extents sees bytes.
            (*view).ndim = if asks(ffi::PyBUF_ND) { self.shape.len() as c_int } else { 1 };
            let format = format.as_ptr().cast_mut();
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

/// The buffer protocol's format of a dtype; of two C types of one size, the one that NumPy's dtype has.
fn format(dtype: DType) -> &'static CStr {
    match dtype {
        DType::I64 if LONG_IS_64 => c"l",
        DType::U64 if LONG_IS_64 => c"L",
        _ => dtype.info().format,
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
