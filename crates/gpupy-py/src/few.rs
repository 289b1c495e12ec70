//! Keys of everyday programs on arrays that are there: an element, a range of the first axis, an index
//! array or a mask.
//!
//! Owns [`get`] and [`set`]. Invariant: what they do is what the longer way (`index.rs`, `pick.rs`,
//! `assign.rs`) would; everything else, mistakes too, they leave to it.

use crate::array::{NdArray, view_of};
use crate::errors::to_py;
use crate::operand::classify;
use crate::scalar::LazyScalar;
use crate::session;
use gpupy_core::{Arg, Array, DType};
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PySlice};

/// The element or the array that a key names, if it is as simple as that.
pub fn get<'py>(
    slf: &Bound<'py, NdArray>,
    key: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = slf.py();
    if let Ok(key) = key.cast_exact::<PyInt>() {
        let element = {
            let this = slf.borrow();
            let Some(array) = this.as_lazy() else { return Ok(None) };
            position(array, key).and_then(|at| array.known_at(at))
        };
        let found = element.map(|element| Bound::new(py, LazyScalar::of(element)));
        return Ok(found.transpose()?.map(Bound::into_any));
    }
    if let Ok(key) = key.cast_exact::<PySlice>() {
        let Some(view) = range(slf, key)? else { return Ok(None) };
        return view_of(slf, view, true).map(Some);
    }
    if let Ok(key) = key.cast_exact::<NdArray>() {
        let (this, key) = (slf.borrow(), key.borrow());
        let (Some(array), Some(key)) = (this.as_lazy(), key.as_lazy()) else { return Ok(None) };
        let picked = match session::open() {
            Some((context, _)) if key.ndim() > 0 => context.picked_at_once(array, key),
            _ => None,
        };
        let found = picked.map(|picked| Bound::new(py, NdArray::lazy(picked)));
        return Ok(found.transpose()?.map(Bound::into_any));
    }
    Ok(None)
}

/// Writes a number to an element or a range, or by a mask a number or an array; false, with nothing
/// done, where it is not as simple.
pub fn set(
    slf: &Bound<'_, NdArray>,
    key: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
) -> PyResult<bool> {
    if let (Ok(key), Ok(value)) = (key.cast_exact::<NdArray>(), value.cast_exact::<NdArray>()) {
        let (this, key, value) = (slf.borrow(), key.borrow(), value.borrow());
        let (Some(array), Some(key), Some(value)) =
            (this.as_lazy().filter(|_| this.writable), key.as_lazy(), value.as_lazy())
        else {
            return Ok(false);
        };
        let Some((context, _)) = session::open() else { return Ok(false) };
        return Ok(
            key.dtype() == DType::Bool && context.write_masked(array, key, Arg::Array(value))
        );
    }
    // What other values are may run code of the user's.
    if value.cast_exact::<PyFloat>().is_err() && value.cast_exact::<PyInt>().is_err() {
        return Ok(false);
    }
    let Some((context, _)) = session::open() else { return Ok(false) };
    let scalar = |array: &Array| -> PyResult<_> {
        Ok(classify(value)?.and_then(|value| crate::assign::plain(&value, array.dtype())))
    };
    if !slf.borrow().writable {
        return Ok(false);
    }
    if let Ok(key) = key.cast_exact::<PyInt>() {
        let this = slf.borrow();
        let Some(array) = this.as_lazy() else { return Ok(false) };
        let (Some(at), Some(scalar)) = (position(array, key), scalar(array)?) else {
            return Ok(false);
        };
        return Ok(context.write_element(array, at, scalar));
    }
    if let Ok(key) = key.cast_exact::<NdArray>() {
        let (this, key) = (slf.borrow(), key.borrow());
        let (Some(array), Some(key)) = (this.as_lazy(), key.as_lazy()) else { return Ok(false) };
        if key.dtype() != DType::Bool {
            return Ok(false);
        }
        let Some(scalar) = scalar(array)? else { return Ok(false) };
        return Ok(context.write_masked(array, key, Arg::Scalar(scalar)));
    }
    if let Ok(key) = key.cast_exact::<PySlice>() {
        let Some(view) = range(slf, key)? else { return Ok(false) };
        let Some(scalar) = scalar(&view)? else { return Ok(false) };
        context.assign(&view, Arg::Scalar(scalar)).map_err(to_py)?;
        return Ok(true);
    }
    Ok(false)
}

/// Where an element of an array of one axis stands in its base.
fn position(array: &Array, key: &Bound<'_, PyInt>) -> Option<isize> {
    let ([n], [stride]) = (array.shape(), array.strides()) else { return None };
    let at: isize = key.extract().ok()?;
    let at = if at < 0 { at.wrapping_add(*n as isize) } else { at };
    (0 <= at && at < *n as isize).then(|| array.offset() + at * stride)
}

/// A range of the first axis.
fn range(slf: &Bound<'_, NdArray>, key: &Bound<'_, PySlice>) -> PyResult<Option<Array>> {
    let extent = match slf.borrow().as_lazy().and_then(|array| array.shape().first().copied()) {
        Some(extent) => extent,
        None => return Ok(None),
    };
    // A slice's numbers may be objects with code of their own, which may change the array.
    let range = key.indices(extent as isize)?;
    let this = slf.borrow();
    let array = this.as_lazy().filter(|array| array.shape().first() == Some(&extent));
    let start = usize::try_from(range.start).unwrap_or(0);
    Ok(array.map(|array| array.slice_axis(0, start, range.slicelength, range.step)))
}
