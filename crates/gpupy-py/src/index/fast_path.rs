//! The indexing fast path: everyday keys on arrays whose elements are known.
//!
//! Owns [`get`] and [`set`], for integers and slices, an index array or a mask. Invariant: they do the same as the
//! slow path (`basic.rs`, `fancy.rs`, `setitem.rs`); everything else, mistakes too, they leave to it.

use crate::array::classes::subclass::{like_view, view_of};
use crate::array::lazy_scalar::LazyScalar;
use crate::array::ndarray::NdArray;
use crate::array::operand::{UfuncOperand, classify_exact, complex_array, complex_bytes};
use crate::convert::dtypes::numpy;
use crate::convert::numpy_arrays;
use crate::index::basic_key::{BasicKey, SliceRange, integer};
use crate::index::setitem::{AssignSource, plain, plain_parts};
use crate::session::context;
use crate::session::errors::to_py;
use crate::thresholds::T;
use gpupy_core::DType;
use gpupy_engine::{Array, ArrayOrScalar, Context, Outside};
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyFloat, PyInt, PyList, PySlice, PyTuple};
use smallvec::SmallVec;

/// The element or the array that a key selects; `None` leaves it to the slow path.
pub fn get<'py>(
    slf: &Bound<'py, NdArray>,
    key: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = slf.py();
    if let Ok(key) = key.cast_exact::<PyInt>() {
        let this = slf.get().read(py);
        let Some(array) = this.as_lazy() else { return Ok(None) };
        return match position(array, key) {
            Some(at) => numpy_arrays::known_element(py, array, at),
            None => row(slf, key),
        };
    }
    if let Ok(key) = key.cast_exact::<PySlice>() {
        return range(slf, key);
    }
    if let Ok(key) = key.cast_exact::<PyTuple>() {
        let this = slf.get().read(py);
        let Some(array) = this.as_lazy() else { return Ok(None) };
        return match position_of_all(array, key) {
            Some(at) => numpy_arrays::known_element(py, array, at),
            None => match along_axes(slf, array, key)? {
                Some(picked) => Ok(Some(picked)),
                None => part(slf, key),
            },
        };
    }
    if let Ok(key) = key.cast_exact::<NdArray>() {
        let (this, key) = (slf.get().read(py), key.get().read(py));
        let (Some(array), Some(key)) = (this.as_lazy(), key.as_lazy()) else { return Ok(None) };
        let picked = match context::open() {
            Some((context, _)) if key.ndim() > 0 => rows(context, array, key),
            _ => None,
        };
        return picked.map(|picked| like_view(slf, NdArray::lazy(picked))).transpose();
    }
    if let Some(index) = little_index(key)? {
        let this = slf.get().read(py);
        let (Some(array), Some((context, _))) = (this.as_lazy(), context::open()) else {
            return Ok(None);
        };
        let picked = rows(context, array, &index);
        return picked.map(|picked| like_view(slf, NdArray::lazy(picked))).transpose();
    }
    part(slf, key)
}

/// The rows that an index array or a mask names; `None` also where the other axes do not lie in C order, in which rows
/// are put one after another: NumPy keeps their order.
fn rows(context: &Context, array: &Array, key: &Array) -> Option<Array> {
    let named = if key.dtype() == DType::Bool { key.ndim() } else { 1 };
    let mut others = array.strides().get(named..)?.windows(2);
    let fall = others.all(|pair| pair[0].unsigned_abs() >= pair[1].unsigned_abs());
    if fall { context.take_rows_eagerly(array, key) } else { None }
}

/// The row that an integer names along the first of several axes.
fn row<'py>(
    slf: &Bound<'py, NdArray>,
    key: &Bound<'py, PyInt>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let this = slf.get().read(slf.py());
    let Some(array) = this.as_lazy().filter(|array| array.ndim() > 1) else { return Ok(None) };
    let Some(at) = place(key, array.shape()[0]) else { return Ok(None) };
    view_of(slf, array.index_axis(0, at as usize), true).map(Some)
}

/// The elements that index arrays of one axis name, one for each axis of an array that has no integer.
#[inline(never)]
fn along_axes<'py>(
    slf: &Bound<'py, NdArray>,
    array: &Array,
    key: &Bound<'py, PyTuple>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let (Some(named), Some((context, _))) = (AxisIndices::of(array, key), context::open()) else {
        return Ok(None);
    };
    let part = named.part.as_ref().unwrap_or(array);
    let picked = context.fancy_index_eagerly(part, &named.indices(), 0, Outside::Refuse);
    picked.map(|picked| like_view(slf, NdArray::lazy(picked))).transpose()
}

/// A key that has an index array of one axis, ours, or an integer for each axis of an array.
struct AxisIndices {
    /// The part at the integers, where there are some.
    part: Option<Array>,
    /// The index arrays, one for each axis of the part.
    arrays: SmallVec<[Array; 4]>,
}

impl AxisIndices {
    /// `None` for other keys, and where an integer lies outside.
    #[inline(never)]
    fn of(array: &Array, key: &Bound<'_, PyTuple>) -> Option<AxisIndices> {
        let mut keys = key.iter_borrowed();
        let has_arrays = keys.any(|key| key.is_exact_instance_of::<NdArray>());
        if !has_arrays || key.len() < 2 || key.len() != array.ndim() {
            return None;
        }
        let mut named = AxisIndices { part: None, arrays: SmallVec::new() };
        // From the last one, so that axes before it keep their numbers.
        for (axis, key) in key.iter_borrowed().enumerate().rev() {
            if let Ok(key) = key.cast_exact::<PyInt>() {
                let at = place(&key, array.shape()[axis])?;
                let part = named.part.as_ref().unwrap_or(array);
                named.part = Some(part.index_axis(axis, at as usize));
                continue;
            }
            let index = key.cast_exact::<NdArray>().ok()?.get().read(key.py());
            let is_index = |index: &&Array| index.ndim() == 1 && index.dtype().is_int();
            named.arrays.push(index.as_lazy().filter(is_index)?.clone());
        }
        named.arrays.reverse();
        Some(named)
    }

    /// The index arrays, for each axis of the part.
    fn indices(&self) -> SmallVec<[Option<&Array>; 4]> {
        self.arrays.iter().map(Some).collect()
    }
}

/// The view that a slice selects along the first axis.
fn range<'py>(
    slf: &Bound<'py, NdArray>,
    key: &Bound<'py, PySlice>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    // Its numbers may have code of their own, so they are asked before the array is looked at.
    let Some(range) = SliceRange::of(key)? else { return Ok(None) };
    let this = slf.get().read(slf.py());
    let Some(array) = this.as_lazy() else { return Ok(None) };
    let Some(extent) = array.shape().first() else { return Ok(None) };
    let (start, len) = range.within(*extent);
    view_of(slf, array.slice_axis(0, start, len, range.step), true).map(Some)
}

/// The element or the part that a key of integers, ranges and new axes names.
fn part<'py>(
    slf: &Bound<'py, NdArray>,
    key: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let mut parts = BasicKey::default();
    if !parts.read(key)? {
        return Ok(None);
    }
    let py = slf.py();
    let this = slf.get().read(py);
    let Some(array) = this.as_lazy() else { return Ok(None) };
    let Some(view) = parts.view(array) else { return Ok(None) };
    if parts.is_element_of(array) {
        return numpy_arrays::known_element(py, array, view.offset);
    }
    view_of(slf, array.seen(view).map_err(to_py)?, true).map(Some)
}

/// An index array, ours or as `little_index`; masks are none.
pub fn index(key: &Bound<'_, PyAny>) -> PyResult<Option<Array>> {
    let found = match key.cast_exact::<NdArray>() {
        Ok(key) => key.get().read(key.py()).as_lazy().cloned(),
        Err(_) => little_index(key)?,
    };
    Ok(found.filter(|index| index.ndim() > 0 && index.dtype().is_int()))
}

/// An index array or a mask of few elements that is NumPy's, or a list of few integers.
fn little_index(key: &Bound<'_, PyAny>) -> PyResult<Option<Array>> {
    if let Ok(key) = key.cast_exact::<PyUntypedArray>() {
        let is_little = key.ndim() > 0 && key.len() <= T.little_index && key.is_c_contiguous();
        return if is_little { numpy_arrays::from_numpy(key) } else { Ok(None) };
    }
    let Ok(list) = key.cast_exact::<PyList>() else { return Ok(None) };
    let count = list.len();
    if count == 0 || count > T.little_index {
        return Ok(None);
    }
    // Every driver has int32.
    let mut bytes: SmallVec<[u8; 64]> = SmallVec::with_capacity(4 * count);
    for number in list.iter() {
        // Bools are a mask, and ints that do not fit are refused elsewhere.
        let Some(number) = number.cast_exact::<PyInt>().ok().and_then(integer) else {
            return Ok(None);
        };
        let Ok(number) = i32::try_from(number) else { return Ok(None) };
        bytes.extend_from_slice(&number.to_ne_bytes());
    }
    Array::from_bytes(DType::I32, &[count], &bytes).map(Some).map_err(to_py)
}

/// Writes a number to an element, or a number or an array to a part or by a mask; false, with nothing
/// done, where it is not as simple.
pub fn set(
    slf: &Bound<'_, NdArray>,
    key: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
) -> PyResult<bool> {
    let py = slf.py();
    // A driver is opened for these, whatever way they take: by the slow path the next one would be pending.
    let is_array =
        key.is_exact_instance_of::<NdArray>() || key.is_exact_instance_of::<PyUntypedArray>();
    if is_array || key.is_exact_instance_of::<PyList>() {
        context::ready(py)?;
    }
    let Some((context, _)) = context::open() else { return Ok(false) };
    if let Some(array) = slf.get().read(py).as_lazy().filter(|_| slf.get().is_freely_writable()) {
        let at = match (key.cast_exact::<PyInt>(), key.cast_exact::<PyTuple>()) {
            (Ok(key), _) => position(array, key),
            (_, Ok(keys)) => position_of_all(array, keys),
            _ => None,
        };
        if let Some(at) = at {
            return write_element(context, array, at, value);
        }
        if let Ok(keys) = key.cast_exact::<PyTuple>()
            && let Some(named) = AxisIndices::of(array, keys)
        {
            let (part, indices) = (named.part.as_ref().unwrap_or(array), named.indices());
            let put = |source: ArrayOrScalar<'_>| {
                context.put_eagerly(part, &indices, 0, Outside::Refuse, source)
            };
            return set_to(array, value, put);
        }
    }
    if let Ok(key) = key.cast_exact::<NdArray>() {
        let key = key.get().read(py);
        return key.as_lazy().map_or(Ok(false), |key| set_by(context, slf, key, value));
    }
    if let Some(key) = little_index(key)? {
        return set_by(context, slf, &key, value);
    }
    let mut parts = BasicKey::default();
    Ok(parts.read(key)? && set_part(context, slf, &parts, value)?)
}

/// Writes a number or an array by a mask or an index array.
fn set_by(
    context: &Context,
    slf: &Bound<'_, NdArray>,
    key: &Array,
    value: &Bound<'_, PyAny>,
) -> PyResult<bool> {
    let this = slf.get().read(slf.py());
    let Some(array) = this.as_lazy().filter(|_| slf.get().is_freely_writable()) else {
        return Ok(false);
    };
    let write = |source: ArrayOrScalar<'_>| match key.dtype() {
        DType::Bool => context.write_masked(array, key, source),
        _ => context.write_picked(array, key, source),
    };
    set_to(array, value, write)
}

/// Writes a value, an array of ours or a number, by `write`, which says whether it did.
fn set_to(
    array: &Array,
    value: &Bound<'_, PyAny>,
    write: impl FnOnce(ArrayOrScalar<'_>) -> bool,
) -> PyResult<bool> {
    if let Ok(value) = value.cast_exact::<NdArray>() {
        let value = value.get().read(value.py());
        return Ok(value.as_lazy().is_some_and(|it| write(ArrayOrScalar::Array(it))));
    }
    Ok(number(value, array.dtype())?.is_some_and(|it| write(it.arg())))
}

/// Writes a number to the element at a position of an array's base; false, with nothing done, for other values.
fn write_element(
    context: &Context,
    array: &Array,
    at: isize,
    value: &Bound<'_, PyAny>,
) -> PyResult<bool> {
    let Some(operand) = operand(value)? else { return Ok(false) };
    let dtype = array.dtype();
    if dtype.is_complex() {
        let element =
            plain_parts(&operand, dtype).and_then(|(re, im)| complex_bytes(dtype, re, im));
        return Ok(element.is_some_and(|it| context.write_element(array, at, &it)));
    }
    let bytes = plain(&operand, dtype).map(|it| it.bytes());
    let element = bytes.as_ref().and_then(|it| it.get(..dtype.size()));
    Ok(element.is_some_and(|it| context.write_element(array, at, it)))
}

/// Writes a number to the view that a key selects, or an array of its shape and dtype.
fn set_part(
    context: &Context,
    slf: &Bound<'_, NdArray>,
    key: &BasicKey,
    value: &Bound<'_, PyAny>,
) -> PyResult<bool> {
    let py = slf.py();
    let this = slf.get().read(py);
    let Some(array) = this.as_lazy().filter(|_| slf.get().is_freely_writable()) else {
        return Ok(false);
    };
    let Some(view) = key.view(array) else { return Ok(false) };
    if key.is_element_of(array) {
        return write_element(context, array, view.offset, value);
    }
    let dest = array.seen(view).map_err(to_py)?;
    if let Ok(value) = value.cast_exact::<NdArray>() {
        let value = value.get().read(py);
        let alike = |it: &&Array| it.dtype() == dest.dtype() && it.shape() == dest.shape();
        let Some(source) = value.as_lazy().filter(alike) else { return Ok(false) };
        context.assign(&dest, ArrayOrScalar::Array(source)).map_err(to_py)?;
        return Ok(true);
    }
    let Some(element) = number(value, dest.dtype())? else { return Ok(false) };
    context.assign(&dest, element.arg()).map_err(to_py)?;
    Ok(true)
}

/// A number as the source of a write, where that needs no warning and no refusal.
fn number(value: &Bound<'_, PyAny>, dtype: DType) -> PyResult<Option<AssignSource>> {
    let Some(operand) = operand(value)? else { return Ok(None) };
    if dtype.is_complex() {
        let array = plain_parts(&operand, dtype).and_then(|(re, im)| complex_array(dtype, re, im));
        return Ok(array.map(AssignSource::Array));
    }
    Ok(plain(&operand, dtype).map(AssignSource::Scalar))
}

/// A number of Python's, of NumPy's or of ours. The classification of other values may run user code.
fn operand<'a>(value: &'a Bound<'_, PyAny>) -> PyResult<Option<UfuncOperand<'a>>> {
    let is_number = value.is_exact_instance_of::<PyFloat>()
        || value.is_exact_instance_of::<PyInt>()
        || value.is_exact_instance_of::<PyBool>()
        || value.is_exact_instance_of::<PyComplex>()
        || value.is_exact_instance_of::<LazyScalar>()
        || numpy(value.py())?.dtype_of_scalar(&value.get_type()).is_some();
    if is_number { classify_exact(value) } else { Ok(None) }
}

/// Where an element of an array of one axis stands in its base.
fn position(array: &Array, key: &Bound<'_, PyInt>) -> Option<isize> {
    let ([n], [stride]) = (array.shape(), array.strides()) else { return None };
    Some(array.offset() + place(key, *n)? * stride)
}

/// Like [`position`], but with an integer for each of several axes.
fn position_of_all(array: &Array, key: &Bound<'_, PyTuple>) -> Option<isize> {
    let last = key.len().checked_sub(1).filter(|last| last + 1 == array.ndim())?;
    // Most other keys end with a range, and are told before their integers are read.
    if !key.get_borrowed_item(last).is_ok_and(|key| key.is_exact_instance_of::<PyInt>()) {
        return None;
    }
    let mut at = array.offset();
    for ((key, n), stride) in key.iter_borrowed().zip(array.shape()).zip(array.strides()) {
        at += place(&*key.cast_exact::<PyInt>().ok()?, *n)? * stride;
    }
    Some(at)
}

/// The position of an integer index in an axis of `n` elements; it may count from the end.
#[inline]
fn place(key: &Bound<'_, PyInt>, n: usize) -> Option<isize> {
    let at = integer(key)?;
    let at = if at < 0 { at.wrapping_add(n as isize) } else { at };
    (0 <= at && at < n as isize).then_some(at)
}
