//! Meta arrays: NumPy arrays with our shape, dtype and strides, and no elements.
//!
//! Owns the two ways of asking NumPy without evaluating anything. NumPy's view functions (`flip`, `diagonal`,
//! `split`, …) run on a meta array with an array's own strides; where their result lies in it says which view of
//! our array they mean. And NumPy words mistakes itself: the call is made again on a meta array.
//!
//! Invariant: a meta array's memory is never initialised or read; the system commits no pages for it.
//!
//! Not here: basic indexing and reshaping, which need no NumPy (`index/basic.rs`, `views/reshape.rs`).

use crate::array::classes::wrap::wrap_array;
use crate::convert::dtypes::{self, numpy};
use crate::convert::numpy_arrays::{self, ndarray};
use crate::session::errors::to_py;
use gpupy_core::DType;
use gpupy_core::shape::contiguous_strides;
use gpupy_engine::Array;
use numpy::npyffi::{NpyTypes, PY_ARRAY_API, get_type_object};
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyMemoryError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use smallvec::SmallVec;
use std::ffi::c_int;

/// First and one past the last element of its base that an array touches.
fn extent(array: &Array) -> (isize, isize) {
    let (mut low, mut high) = (array.offset(), array.offset());
    if array.size() == 0 {
        return (low, low);
    }
    for (n, stride) in array.shape().iter().zip(array.strides()) {
        let reach = (*n as isize - 1) * stride;
        low += reach.min(0);
        high += reach.max(0);
    }
    (low, high + 1)
}

/// A NumPy array with this array's shape and strides over `memory`, whose element 0 stands for
/// element `low` of the base.
fn over<'py>(
    array: &Array,
    memory: &Bound<'py, PyAny>,
    low: isize,
    size: isize,
) -> PyResult<Bound<'py, PyAny>> {
    let py = memory.py();
    let strides: Vec<isize> = array.strides().iter().map(|s| s * size).collect();
    let offset = if array.size() == 0 { 0 } else { (array.offset() - low) * size };
    let args = (
        PyTuple::new(py, array.shape())?,
        dtypes::to_numpy(py, array.dtype())?,
        memory,
        offset,
        PyTuple::new(py, strides)?,
    );
    numpy(py)?.ndarray.bind(py).call1(args)
}

/// Memory that is never read or written.
fn untouched(py: Python<'_>, len: isize, dtype: DType) -> PyResult<Bound<'_, PyAny>> {
    let (numpy, len) = (numpy(py)?, len.max(1));
    let made = numpy.module.bind(py).call_method1("empty", (len, dtypes::to_numpy(py, dtype)?));
    match made {
        Err(error) if error.is_instance_of::<PyMemoryError>(py) => {
            addresses(py, len.unsigned_abs().saturating_mul(dtype.size()), dtype).map_err(|_| error)
        }
        made => made,
    }
}

/// Addresses alone, for views of more elements than memory has room for.
///
/// # Errors
/// Where the system has no such mappings.
fn addresses(py: Python<'_>, bytes: usize, dtype: DType) -> PyResult<Bound<'_, PyAny>> {
    /// Linux's number of it, which older Pythons do not name.
    const NORESERVE: i32 = 0x4000;
    let mmap = py.import("mmap")?;
    let flag = |name| mmap.getattr(name)?.extract::<i32>();
    let flags = flag("MAP_PRIVATE")? | flag("MAP_ANONYMOUS")?;
    let flags = if cfg!(target_os = "linux") { flags | NORESERVE } else { flags };
    let pages = mmap.call_method1("mmap", (-1, bytes, flags))?;
    let numpy = numpy(py)?.module.bind(py);
    numpy.call_method1("frombuffer", (pages, dtypes::to_numpy(py, dtype)?))
}

/// A meta array with this array's shape and strides; an address in it, and the index of the element of the base
/// that has this address.
fn meta_like<'py>(
    py: Python<'py>,
    array: &Array,
) -> PyResult<(Bound<'py, PyUntypedArray>, usize, isize)> {
    // Of one element a step may be any number, which NumPy's views show.
    if array.size() > 0 && contiguous_strides(array.shape())[..] == *array.strides() {
        match blank(py, array) {
            Ok(made) => {
                let start = address(&made);
                return Ok((made, start, array.offset()));
            }
            Err(error) if error.is_instance_of::<PyMemoryError>(py) => {}
            Err(error) => return Err(error),
        }
    }
    let (low, high) = extent(array);
    let memory = untouched(py, high - low, array.dtype())?;
    let made = over(array, &memory, low, array.dtype().size() as isize)?;
    Ok((ndarray(&made)?, address(&ndarray(&memory)?), low))
}

/// A NumPy array of this shape in C order.
fn blank<'py>(py: Python<'py>, array: &Array) -> PyResult<Bound<'py, PyUntypedArray>> {
    let dtype = dtypes::to_numpy(py, array.dtype())?;
    let mut shape: SmallVec<[isize; 4]> = array.shape().iter().map(|n| *n as isize).collect();
    // SAFETY: the shape has as many numbers as axes; the call takes over a reference to the dtype; with null for
    // strides and address NumPy allocates the memory.
    let made = unsafe {
        let made = PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            get_type_object(py, NpyTypes::PyArray_Type),
            dtype.into_ptr().cast(),
            shape.len() as c_int,
            shape.as_mut_ptr(),
            std::ptr::null_mut(),
            std::ptr::null_mut(),
            0,
            std::ptr::null_mut(),
        );
        Bound::from_owned_ptr_or_err(py, made)?
    };
    ndarray(&made)
}

/// The views of `array` that `function(meta, *args, **kwargs)` gives; `found` makes something of
/// each, in the structure (array, list or tuple of arrays) that the function gave.
pub fn views<'py>(
    array: &Array,
    function: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
    found: &dyn Fn(Array, bool) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = function.py();
    let size = array.dtype().size() as isize;
    let (meta, start, first) = meta_like(py, array)?;
    let mut all: SmallVec<[Bound<'py, PyAny>; 4]> = SmallVec::new();
    all.push(meta.into_any());
    all.extend(args.iter());
    let result = function.call(PyTuple::new(py, all)?, kwargs)?;
    let place = |view: &Bound<'py, PyUntypedArray>| -> PyResult<Bound<'py, PyAny>> {
        let strides: SmallVec<[isize; 4]> = view.strides().iter().map(|s| s / size).collect();
        let offset = match view.shape().contains(&0) {
            true => array.offset(),
            false => (address(view).wrapping_sub(start) as isize) / size + first,
        };
        let seen = array.view(view.shape(), &strides, offset).map_err(to_py)?;
        found(seen, numpy_arrays::is_writeable(view))
    };
    if let Ok(view) = result.cast::<PyUntypedArray>() {
        return place(view);
    }
    if array.ndim() == 0 && result.hasattr("dtype")? {
        // The element itself, which views of 0-d arrays may come down to.
        return wrap_array(py, array.snapshot().map_err(to_py)?);
    }
    let parts: Vec<_> =
        result.try_iter()?.map(|part| place(&ndarray(&part?)?)).collect::<PyResult<_>>()?;
    result.get_type().call1((PyTuple::new(py, parts)?,))
}

/// A view of a base under another dtype; offset and strides are in bytes.
pub struct MetaView {
    /// `None` for NumPy's own dtypes.
    pub dtype: Option<DType>,
    pub shape: SmallVec<[usize; 4]>,
    pub strides: SmallVec<[isize; 4]>,
    pub offset: isize,
}

impl MetaView {
    /// The view under a dtype of the same size.
    pub fn as_it_lies(array: &Array, dtype: DType) -> MetaView {
        let size = dtype.size() as isize;
        MetaView {
            dtype: Some(dtype),
            shape: array.shape().into(),
            strides: array.strides().iter().map(|stride| stride * size).collect(),
            offset: array.offset() * size,
        }
    }
}

/// The shape, strides and offset of NumPy's view of `array` under another dtype.
///
/// # Errors
/// NumPy's, where there is no such view.
pub fn under(array: &Array, dtype: &Bound<'_, PyAny>) -> PyResult<MetaView> {
    let py = dtype.py();
    let (low, high) = extent(array);
    let memory = untouched(py, high - low, array.dtype())?;
    let size = array.dtype().size() as isize;
    let view = over(array, &memory, low, size)?.call_method1("view", (dtype,))?;
    let shape: Vec<usize> = view.getattr("shape")?.extract()?;
    let strides: Vec<isize> = view.getattr("strides")?.extract()?;
    let away = match shape.contains(&0) {
        true => 0,
        false => {
            let (view, memory) = (ndarray(&view)?, ndarray(&memory)?);
            address(&view).wrapping_sub(address(&memory)) as isize
        }
    };
    Ok(MetaView {
        dtype: dtypes::from_numpy(&view.getattr("dtype")?)?,
        shape: shape.into(),
        strides: strides.into(),
        offset: low * size + away,
    })
}

/// Where an ndarray's first element lies.
fn address(array: &Bound<'_, PyUntypedArray>) -> usize {
    numpy_arrays::address(array).addr()
}

/// A meta array of this shape and dtype, all of whose elements share one address: for calls that should fail.
pub fn meta_array<'py>(
    py: Python<'py>,
    shape: &[usize],
    dtype: DType,
) -> PyResult<Bound<'py, PyAny>> {
    let memory = untouched(py, 1, dtype)?;
    let strides = vec![0isize; shape.len()];
    let args = (
        PyTuple::new(py, shape)?,
        dtypes::to_numpy(py, dtype)?,
        memory,
        0,
        PyTuple::new(py, strides)?,
    );
    numpy(py)?.ndarray.bind(py).call1(args)
}

/// The exception that NumPy raises for `call` on a meta array of this array's shape and dtype.
pub fn numpy_error<'py>(
    py: Python<'py>,
    array: &Array,
    call: impl FnOnce(Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>,
) -> PyErr {
    match meta_array(py, array.shape(), array.dtype()).and_then(call) {
        Err(error) => error,
        Ok(_) => PyRuntimeError::new_err("gpupy refused what NumPy accepts"),
    }
}
