//! NumPy's arrays as ours: elements copied or read in place, index arrays; and our elements as NumPy's scalars.
//!
//! Owns [`from_numpy`], [`over`], [`of_constant`] and [`bytes`]. Invariant: an array from NumPy is a copy, or it
//! reads memory that is never written again, or its base is pinned for its life; so NumPy code writes to no memory
//! of the core.
//!
//! Not here: the way to NumPy (`array_export.rs`); the conversion of a call's arguments (`fast_call.rs`).

use crate::convert::array_export::to_numpy;
use crate::convert::dtypes::{self, numpy};
use crate::session::context::{context, holds, ready};
use crate::session::errors::to_py;
use crate::session::waiting::wait;
use crate::thresholds::T;
use gpupy_core::{DType, Scalar, for_integer_type, memory};
use gpupy_engine::Array;
use numpy::npyffi::{_PyArray_GET_ITEM_DATA, NPY_ARRAY_OWNDATA, NPY_ARRAY_WRITEABLE, PY_ARRAY_API};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::ops::Range;
use std::ptr::{NonNull, null_mut};

/// The element of a lazy array without axes as a NumPy scalar, evaluated if need be.
pub fn scalar<'py>(py: Python<'py>, array: &Array) -> PyResult<Bound<'py, PyAny>> {
    scalar_of_values(py, array, false)
}

/// The same, where the program drops what it is computed from before it goes on.
pub fn scalar_of_passing<'py>(py: Python<'py>, array: &Array) -> PyResult<Bound<'py, PyAny>> {
    scalar_of_values(py, array, true)
}

fn scalar_of_values<'py>(
    py: Python<'py>,
    array: &Array,
    passing: bool,
) -> PyResult<Bound<'py, PyAny>> {
    if array.dtype().is_complex() {
        // They have no scalar form in the core.
        if let Some(known) = known_element(py, array, array.offset())? {
            return Ok(known);
        }
        let class = numpy(py)?.scalar(py, array.dtype())?.bind(py);
        return class.call1((to_numpy(py, array)?,));
    }
    let scalar = match array.known_element() {
        Some(scalar) => scalar,
        None => {
            let context = ready(py)?;
            let item = || match passing {
                true => context.item_of_passing(array),
                false => context.item(array, &[]),
            };
            wait(py, item).map_err(to_py)?
        }
    };
    numpy_scalar(py, scalar)
}

/// An element as a NumPy scalar. Of truth values there are two, and programs ask which one it is.
#[inline(always)]
pub fn numpy_scalar(py: Python<'_>, scalar: Scalar) -> PyResult<Bound<'_, PyAny>> {
    let numpy = numpy(py)?;
    if scalar.dtype == DType::Bool {
        return Ok(numpy.truth(py, scalar.as_bool()));
    }
    // SAFETY: a scalar has at least the bytes of its dtype.
    unsafe { scalar_of(py, scalar.dtype, &mut scalar.bytes()) }
}

/// The element at a position of an array's base as a NumPy scalar, if it is in host memory.
pub fn known_element<'py>(
    py: Python<'py>,
    array: &Array,
    position: isize,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let dtype = array.dtype();
    if !dtype.is_complex() {
        return array.known_at(position).map(|element| numpy_scalar(py, element)).transpose();
    }
    let mut element = [0; size_of::<[f64; 2]>()];
    let copied = array.of_known_at(position, |bytes| element[..bytes.len()].copy_from_slice(bytes));
    // SAFETY: the widest dtype has as many bytes.
    copied.map(|()| unsafe { scalar_of(py, dtype, &mut element) }).transpose()
}

/// A NumPy scalar of the element with these bytes.
///
/// # Safety
/// There are as many bytes as an element of the dtype has.
#[inline(always)]
unsafe fn scalar_of<'py>(
    py: Python<'py>,
    dtype: DType,
    bytes: &mut [u8],
) -> PyResult<Bound<'py, PyAny>> {
    let dtype = numpy(py)?.dtype(py, dtype)?.as_ptr();
    // SAFETY: the caller gives enough bytes, and NumPy copies the value out of them.
    unsafe {
        let made =
            PY_ARRAY_API.PyArray_Scalar(py, bytes.as_mut_ptr().cast(), dtype.cast(), null_mut());
        Bound::from_owned_ptr_or_err(py, made)
    }
}

/// A real number of NumPy's, which is no truth value; `None` for all else.
#[inline]
pub fn real(object: &Bound<'_, PyAny>) -> PyResult<Option<Scalar>> {
    let py = object.py();
    let Some(dtype) = numpy(py)?.dtype_of_scalar(&object.get_type()) else { return Ok(None) };
    if dtype == DType::Bool || dtype.is_complex() {
        return Ok(None);
    }
    // SAFETY: the object is of exactly the class of this dtype.
    Ok(Scalar::read(dtype, unsafe { element_of(object, dtype) }))
}

/// The real and the imaginary part of a complex number of NumPy's; `None` for all else.
pub fn complex_parts(object: &Bound<'_, PyAny>) -> PyResult<Option<(f64, f64)>> {
    let dtype = numpy(object.py())?.dtype_of_scalar(&object.get_type());
    let Some((dtype, part)) = dtype.and_then(|dtype| dtype.part().map(|part| (dtype, part))) else {
        return Ok(None);
    };
    // SAFETY: the object is of exactly the class of this dtype.
    let bytes = unsafe { element_of(object, dtype) };
    let (real, imaginary) = bytes.split_at(part.size());
    let number = |bytes| match Scalar::read(part, bytes)? {
        Scalar { dtype: DType::F32, bits } => Some(f64::from(f32::from_bits(bits as u32))),
        Scalar { bits, .. } => Some(f64::from_bits(bits)),
    };
    Ok(number(real).zip(number(imaginary)))
}

/// The bytes of a number of NumPy's.
///
/// # Safety
/// The object is of exactly NumPy's class of this dtype.
unsafe fn element_of<'a>(object: &'a Bound<'_, PyAny>, dtype: DType) -> &'a [u8] {
    // SAFETY: NumPy's scalars have their value behind the head of an object, where the macro `PyArrayScalar_VAL` of its
    // headers reads it; the head is a multiple of a value's alignment.
    unsafe {
        let first = object.as_ptr().cast::<u8>().add(size_of::<ffi::PyObject>());
        std::slice::from_raw_parts(first, dtype.size())
    }
}

/// The real number in a NumPy array without axes, to which some operators convert NumPy's scalars; `None` for other
/// arrays.
pub fn without_axes(object: &Bound<'_, PyAny>) -> PyResult<Option<Scalar>> {
    let Ok(array) = object.cast_exact::<PyUntypedArray>() else { return Ok(None) };
    let Some(dtype) = (array.ndim() == 0).then(|| numpy(object.py())) else { return Ok(None) };
    let known = dtype?.exactly(array.dtype().as_any());
    let Some(dtype) = known.filter(|dtype| !dtype.is_complex()) else { return Ok(None) };
    // SAFETY: an array without axes has one element, of `dtype.size()` bytes.
    let bytes = unsafe { std::slice::from_raw_parts(address(array), dtype.size()) };
    Ok(Scalar::read(dtype, bytes))
}

/// A lazy array with the elements of a `numpy.ndarray`, copied; `None` when its dtype is NumPy's
/// own, or no driver in use holds it.
pub fn from_numpy(array: &Bound<'_, PyAny>) -> PyResult<Option<Array>> {
    let array = ndarray(array)?;
    match dtypes::from_numpy(&array.dtype())? {
        Some(dtype) if holds(dtype)? => copy_in(&array, dtype).map(Some),
        _ => Ok(None),
    }
}

/// A lazy array over the memory of an ndarray, which it keeps; `None` where there cannot be one.
pub fn over(array: &Bound<'_, PyUntypedArray>) -> PyResult<Option<Array>> {
    let Some(place) = NumpyLayout::of(array)? else { return Ok(None) };
    let (dtype, len) = (place.dtype, place.len);
    // SAFETY: the ndarray's elements lie there, aligned, as long as it lives. Python's lock orders reads and writes
    // of them, as it does for NumPy; the caller makes the array read-only where the ndarray is.
    let whole =
        unsafe { Array::over(dtype, &[len], place.first, Box::new(array.clone().unbind())) };
    whole.view(array.shape(), &place.strides, place.offset).map(Some).map_err(to_py)
}

/// A lazy array that reads the memory of an ndarray, which it keeps and nothing writes any more; copied where it
/// cannot be read there. `None` when its dtype is NumPy's own, or no driver in use holds it.
///
/// # Safety
/// The elements in the ndarray's memory stay the same ones as long as it lives.
pub unsafe fn of_constant(array: &Bound<'_, PyAny>) -> PyResult<Option<Array>> {
    // SAFETY: the contract of this function.
    in_place(array, |dtype, extents, first, owner| unsafe {
        Array::of_constant(dtype, extents, first, owner)
    })
}

/// As `of_constant`, of an ndarray to which nothing else leads any more: its memory is written, too.
///
/// # Safety
/// Nothing else reads or writes the ndarray's memory as long as it lives.
pub unsafe fn of_sole(array: &Bound<'_, PyAny>) -> PyResult<Option<Array>> {
    // SAFETY: the contract of this function.
    in_place(array, |dtype, extents, first, owner| unsafe {
        Array::of_sole(dtype, extents, first, owner)
    })
}

/// A lazy array that `make` makes over an ndarray's elements, one behind the other, and the ndarray that keeps them;
/// copied where it cannot be read there. `None` when its dtype is NumPy's own, or no driver in use holds it.
fn in_place(
    array: &Bound<'_, PyAny>,
    make: impl FnOnce(DType, &[usize], NonNull<u8>, Box<dyn Send + Sync>) -> Array,
) -> PyResult<Option<Array>> {
    let object = array;
    let array = ndarray(array)?;
    let is_order = array.is_c_contiguous() || array.is_fortran_contiguous();
    let few = array.len() * array.dtype().itemsize() < T.read_in_place;
    let place = if is_order && !few { NumpyLayout::of(&array)? } else { None };
    let Some(place) = place.filter(|place| place.dtype != DType::Bool) else {
        // Of bools each byte would have to be looked at.
        return from_numpy(object);
    };
    let mut extents: SmallVec<[usize; 4]> = SmallVec::from_slice(array.shape());
    let is_row_major = array.is_c_contiguous();
    if !is_row_major {
        extents.reverse();
    }
    let owner = Box::new(array.clone().unbind());
    let whole = make(place.dtype, &extents, place.first, owner);
    let back: SmallVec<[usize; 4]> = (0..extents.len()).rev().collect();
    Ok(Some(if is_row_major { whole } else { whole.transpose(&back) }))
}

/// Where the elements of an ndarray lie, for the core: in elements.
struct NumpyLayout {
    dtype: DType,
    first: NonNull<u8>,
    len: usize,
    strides: SmallVec<[isize; 4]>,
    /// From the first that lies there to the first that is shown.
    offset: isize,
}

impl NumpyLayout {
    /// `None` for a dtype that no driver in use holds, for no elements, and for those that do not lie at multiples of
    /// their size.
    fn of(array: &Bound<'_, PyUntypedArray>) -> PyResult<Option<NumpyLayout>> {
        let Some(dtype) = dtypes::from_numpy(&array.dtype())? else { return Ok(None) };
        let (size, Some(span)) = (dtype.size() as isize, span(array)) else { return Ok(None) };
        let is_multiple = array.strides().iter().all(|stride| stride % size == 0);
        if !holds(dtype)? || !is_multiple || span.start % size != 0 {
            return Ok(None);
        }
        let away = address(array) as isize - span.start;
        let Some(first) = NonNull::new(address(array).cast_mut().wrapping_offset(-away)) else {
            return Ok(None);
        };
        let len = ((span.end - span.start) / size) as usize;
        let strides = array.strides().iter().map(|s| s / size).collect();
        Ok(Some(NumpyLayout { dtype, first, len, strides, offset: away / size }))
    }
}

/// Copies an ndarray of this dtype. The copy's axes lie in memory as the ndarray's do.
fn copy_in(array: &Bound<'_, PyUntypedArray>, dtype: DType) -> PyResult<Array> {
    let bytes = array.len() * dtype.size();
    if bytes >= T.large_copy {
        let context = context()?;
        wait(array.py(), || context.make_room(bytes)).map_err(to_py)?;
    }
    let copy = |array| {
        with_bytes(array, |shape, bytes| {
            // To NumPy a truth value is any byte but 0, to drivers 1.
            let truths = dtype == DType::Bool && bytes.iter().any(|byte| *byte > 1);
            let one_each = || bytes.iter().map(|byte| u8::from(*byte != 0)).collect::<Vec<u8>>();
            let bytes = if truths { Cow::Owned(one_each()) } else { Cow::Borrowed(bytes) };
            Array::from_bytes(dtype, shape, &bytes).map_err(to_py)
        })?
    };
    let strides = array.strides();
    if array.is_c_contiguous() {
        return copy(array);
    }
    let mut order: SmallVec<[usize; 4]> = (0..strides.len()).collect();
    order.sort_by_key(|axis| std::cmp::Reverse(strides[*axis].abs()));
    let descending = ndarray(&array.call_method1("transpose", (order.as_slice(),))?)?;
    if !descending.is_c_contiguous() {
        return match with_gaps(array, dtype)? {
            Some(view) => Ok(view),
            None => copy(array),
        };
    }
    let mut back: SmallVec<[usize; 4]> = order.iter().map(|_| 0).collect();
    for (place, axis) in order.iter().enumerate() {
        back[*axis] = place;
    }
    Ok(copy(&descending)?.transpose(&back))
}

/// A view of a copy of the memory in which an ndarray's elements lie, with gaps between them or with some at one
/// place; `None` where that is much more than they are, or they lie between multiples of their size.
fn with_gaps(array: &Bound<'_, PyUntypedArray>, dtype: DType) -> PyResult<Option<Array>> {
    let Some(span) = span(array) else { return Ok(None) };
    let size = dtype.size() as isize;
    let count = (span.end - span.start) / size;
    let bytes = (count * size) as usize;
    let apart = array.strides().iter().any(|stride| stride % size != 0);
    let much = bytes > T.kept_bytes && count as usize > T.kept_gaps * array.len();
    // Bytes between bools may be none.
    if apart || much || dtype == DType::Bool {
        return Ok(None);
    }
    let offset = (address(array) as isize - span.start) / size;
    // SAFETY: the first and the last byte belong to one block of memory, which the array keeps; the bytes
    // between its elements belong to that block too, and any bytes are an element of a number's dtype. Python's
    // lock, held throughout, keeps other threads of Python from writing to them.
    let bytes = unsafe { std::slice::from_raw_parts(span.start as *const u8, bytes) };
    let memory = Array::from_bytes(dtype, &[count as usize], bytes).map_err(to_py)?;
    let strides: SmallVec<[isize; 4]> =
        array.strides().iter().map(|stride| stride / size).collect();
    memory.view(array.shape(), &strides, offset).map(Some).map_err(to_py)
}

/// An ndarray of integers as an index array: int32, copied. `None` when one of them is none.
pub fn indices(array: &Bound<'_, PyAny>) -> PyResult<Option<Array>> {
    let array = ndarray(array)?;
    let Some(dtype) = dtypes::from_numpy(&array.dtype())?.filter(|dtype| dtype.is_int()) else {
        return Ok(None);
    };
    with_bytes(&array, |shape, bytes| {
        #[allow(clippy::unnecessary_fallible_conversions, clippy::useless_conversion)]
        // all but uint64 fit
        let narrowed = for_integer_type!(
            dtype,
            T => narrow(bytes, |b| i64::try_from(T::from_ne_bytes(b)).unwrap_or(i64::MAX)),
            _ => return Ok(None),
        );
        narrowed?.map(|numbers| index_array(shape, &numbers)).transpose()
    })?
}

/// Integers as those of int32; `None` when one of them does not fit.
fn narrow<const N: usize>(
    bytes: &[u8],
    read: impl Fn([u8; N]) -> i64,
) -> PyResult<Option<Vec<i32>>> {
    let mut fits = true;
    let narrowed = bytes.as_chunks::<N>().0.iter().map(|bytes| {
        let wide = read(*bytes);
        fits &= i64::from(wide as i32) == wide;
        wide as i32
    });
    let narrowed = memory::collected(bytes.len() / N, narrowed).map_err(to_py)?;
    Ok(fits.then_some(narrowed))
}

/// An index array of these numbers.
pub fn index_array(shape: &[usize], numbers: &[i32]) -> PyResult<Array> {
    Array::from_bytes(DType::I32, shape, bytemuck::cast_slice(numbers)).map_err(to_py)
}

/// The positions in C order of a mask's true elements, an int32 array.
pub fn true_positions(mask: &Bound<'_, PyAny>) -> PyResult<Array> {
    with_bytes(&ndarray(mask)?, |_, bytes| Array::where_true(bytes).map_err(to_py))?
}

/// The elements of an int32 array, evaluated if need be.
pub fn numbers(py: Python<'_>, array: &Array) -> PyResult<Vec<i32>> {
    let context = ready(py)?;
    let bytes = wait(py, || context.read(array)).and_then(|read| read.to_vec()).map_err(to_py)?;
    let numbers = bytes.as_chunks::<4>().0.iter().map(|bytes| i32::from_ne_bytes(*bytes));
    memory::collected(bytes.len() / 4, numbers).map_err(to_py)
}

/// An object as an ndarray, by `numpy.asarray`; an ndarray is itself.
pub fn ndarray<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyUntypedArray>> {
    if let Ok(array) = object.cast::<PyUntypedArray>() {
        return Ok(array.clone());
    }
    Ok(numpy(object.py())?.asarray.bind(object.py()).call1((object,))?.cast_into()?)
}

/// Calls with an ndarray's shape and its elements in C order.
fn with_bytes<T>(
    array: &Bound<'_, PyUntypedArray>,
    call: impl FnOnce(&[usize], &[u8]) -> T,
) -> PyResult<T> {
    let py = array.py();
    if let Some(bytes) = bytes(array) {
        return Ok(call(array.shape(), bytes));
    }
    // `asarray(order="C")` keeps the rank, where `ascontiguousarray` gives at least one axis.
    let kwargs = PyDict::new(py);
    kwargs.set_item("order", "C")?;
    let dense = numpy(py)?.asarray.bind(py).call((array,), Some(&kwargs))?.cast_into()?;
    let bytes = bytes(&dense).ok_or_else(|| PyBufferError::new_err("the array gives no memory"))?;
    Ok(call(dense.shape(), bytes))
}

/// The memory of an ndarray whose elements follow each other in C order, of which none is an object; `None`
/// for others.
pub fn bytes<'a>(array: &'a Bound<'_, PyUntypedArray>) -> Option<&'a [u8]> {
    let dtype = array.dtype();
    if !array.is_c_contiguous() || dtype.has_object() {
        return None;
    }
    let len = array.len() * dtype.itemsize();
    if len == 0 {
        return Some(&[]);
    }
    // SAFETY: the elements follow each other from the first, and the array keeps them. Python's lock, held
    // throughout, keeps other threads of Python from writing to them.
    Some(unsafe { std::slice::from_raw_parts(address(array), len) })
}

/// Where the first element of an ndarray lies.
pub fn address(array: &Bound<'_, PyUntypedArray>) -> *const u8 {
    // SAFETY: it is an array of NumPy's, whose fields do not change while Python's lock is held.
    unsafe { (*_PyArray_GET_ITEM_DATA(array.as_array_ptr())).data.cast_const().cast() }
}

/// Whether an ndarray has its memory for its own, and no weak reference leads to it.
pub fn is_alone(object: &Bound<'_, PyAny>) -> bool {
    let Ok(array) = object.cast_exact::<PyUntypedArray>() else { return false };
    // SAFETY: it is an array of NumPy's, whose fields do not change while Python's lock is held.
    let fields = unsafe { &*_PyArray_GET_ITEM_DATA(array.as_array_ptr()) };
    fields.flags & NPY_ARRAY_OWNDATA != 0
        && fields.base.is_null()
        && fields.weakreflist.is_null()
        && is_writeable(array)
}

/// Whether NumPy lets programs write to an ndarray.
pub fn is_writeable(array: &Bound<'_, PyUntypedArray>) -> bool {
    // SAFETY: it is an array of NumPy's, whose fields do not change while Python's lock is held.
    let flags = unsafe { (*_PyArray_GET_ITEM_DATA(array.as_array_ptr())).flags };
    flags & NPY_ARRAY_WRITEABLE != 0
}

/// Says whether NumPy lets programs write to an ndarray.
pub fn set_writeable(array: &Bound<'_, PyUntypedArray>, writeable: bool) {
    // SAFETY: it is an array of NumPy's, whose fields change only here while Python's lock is held.
    let fields = unsafe { &mut *_PyArray_GET_ITEM_DATA(array.as_array_ptr()) };
    match writeable {
        true => fields.flags |= NPY_ARRAY_WRITEABLE,
        false => fields.flags &= !NPY_ARRAY_WRITEABLE,
    }
}

/// The addresses from the first byte of an ndarray's elements to behind the last; `None` without elements.
pub fn span(array: &Bound<'_, PyUntypedArray>) -> Option<Range<isize>> {
    if array.is_empty() {
        return None;
    }
    let (mut start, mut end) = (address(array) as isize, address(array) as isize);
    for (extent, stride) in array.shape().iter().zip(array.strides()) {
        let reach = (*extent as isize - 1) * stride;
        *(if reach < 0 { &mut start } else { &mut end }) += reach;
    }
    Some(start..end + array.dtype().itemsize() as isize)
}
