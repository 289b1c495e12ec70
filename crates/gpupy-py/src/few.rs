//! Keys of everyday programs on arrays that are there: an element, a range of the first axis, an index
//! array or a mask.
//!
//! Owns [`get`] and [`set`]. Invariant: what they do is what the longer way (`index.rs`, `pick.rs`,
//! `assign.rs`) would; everything else, mistakes too, they leave to it.

use crate::array::NdArray;
use crate::assign::plain;
use crate::errors::to_py;
use crate::operand::classify;
use crate::scalar::LazyScalar;
use crate::session;
use gpupy_core::{Arg, Array, Context, DType, Scalar};
use pyo3::ffi;
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
            let this = slf.get().read(py);
            let Some(array) = this.as_lazy() else { return Ok(None) };
            position(array, key).and_then(|at| array.known_at(at))
        };
        let found = element.map(|element| Bound::new(py, LazyScalar::of(element)));
        return Ok(found.transpose()?.map(Bound::into_any));
    }
    if let Ok(key) = key.cast_exact::<PySlice>() {
        let range = Range::of(key)?;
        let view = {
            let this = slf.get();
            let seen = this.read(py).as_lazy().and_then(|array| range.along(array));
            seen.map(|seen| this.view(slf, seen, true))
        };
        return Ok(view.map(|view| Bound::new(py, view)).transpose()?.map(Bound::into_any));
    }
    if let Ok(key) = key.cast_exact::<NdArray>() {
        let (this, key) = (slf.get().read(py), key.get().read(py));
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

/// Writes a number to an element, or a number or an array to a range or by a mask; false, with nothing
/// done, where it is not as simple.
pub fn set(
    slf: &Bound<'_, NdArray>,
    key: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
) -> PyResult<bool> {
    let py = slf.py();
    let Some((context, _)) = session::open() else { return Ok(false) };
    if let Ok(key) = key.cast_exact::<PyInt>() {
        let this = slf.get().read(py);
        let array = this.as_lazy().filter(|_| slf.get().is_writable());
        let Some((array, at)) = array.and_then(|array| Some((array, position(array, key)?))) else {
            return Ok(false);
        };
        let element = number(value, array.dtype())?;
        return Ok(element.is_some_and(|element| context.write_element(array, at, element)));
    }
    if let Ok(key) = key.cast_exact::<PySlice>() {
        return set_range(context, slf, key, value);
    }
    let Ok(key) = key.cast_exact::<NdArray>() else { return Ok(false) };
    let (this, key) = (slf.get().read(py), key.get().read(py));
    let (Some(array), Some(mask)) = (
        this.as_lazy().filter(|_| slf.get().is_writable()),
        key.as_lazy().filter(|key| key.dtype() == DType::Bool),
    ) else {
        return Ok(false);
    };
    if let Ok(value) = value.cast_exact::<NdArray>() {
        let value = value.get().read(py);
        let source = value.as_lazy();
        return Ok(source.is_some_and(|it| context.write_masked(array, mask, Arg::Array(it))));
    }
    let element = number(value, array.dtype())?;
    Ok(element.is_some_and(|it| context.write_masked(array, mask, Arg::Scalar(it))))
}

/// Writes a number to a range, or an array of its shape and dtype.
fn set_range(
    context: &Context,
    slf: &Bound<'_, NdArray>,
    key: &Bound<'_, PySlice>,
    value: &Bound<'_, PyAny>,
) -> PyResult<bool> {
    let (py, range) = (slf.py(), Range::of(key)?);
    let this = slf.get().read(py);
    let Some(array) = this.as_lazy().filter(|_| slf.get().is_writable()) else { return Ok(false) };
    let part;
    let dest = if range.is_all_of(array) {
        array
    } else {
        let Some(found) = range.along(array) else { return Ok(false) };
        part = found;
        &part
    };
    if let Ok(value) = value.cast_exact::<NdArray>() {
        let value = value.get().read(py);
        let alike = |it: &&Array| it.dtype() == dest.dtype() && it.shape() == dest.shape();
        let Some(source) = value.as_lazy().filter(alike) else { return Ok(false) };
        context.assign(dest, Arg::Array(source)).map_err(to_py)?;
        return Ok(true);
    }
    let Some(element) = number(value, dest.dtype())? else { return Ok(false) };
    context.assign(dest, Arg::Scalar(element)).map_err(to_py)?;
    Ok(true)
}

/// A Python float or int as an element, where that needs no warning and no refusal. What other values are
/// may run code of the user's.
fn number(value: &Bound<'_, PyAny>, dtype: DType) -> PyResult<Option<Scalar>> {
    if !value.is_exact_instance_of::<PyFloat>() && !value.is_exact_instance_of::<PyInt>() {
        return Ok(None);
    }
    Ok(classify(value)?.and_then(|value| plain(&value, dtype)))
}

/// Where an element of an array of one axis stands in its base.
fn position(array: &Array, key: &Bound<'_, PyInt>) -> Option<isize> {
    let ([n], [stride]) = (array.shape(), array.strides()) else { return None };
    let at: isize = key.extract().ok()?;
    let at = if at < 0 { at.wrapping_add(*n as isize) } else { at };
    (0 <= at && at < *n as isize).then(|| array.offset() + at * stride)
}

/// What a slice says. Its numbers may be objects with code of their own, so it is asked before any array
/// is looked at.
struct Range {
    start: isize,
    stop: isize,
    step: isize,
}

impl Range {
    fn of(key: &Bound<'_, PySlice>) -> PyResult<Range> {
        let mut range = Range { start: 0, stop: 0, step: 0 };
        let Range { start, stop, step } = &mut range;
        // SAFETY: the key is a slice, and its numbers have their places.
        match unsafe { ffi::PySlice_Unpack(key.as_ptr(), start, stop, step) } {
            0 => Ok(range),
            _ => Err(PyErr::fetch(key.py())),
        }
    }

    /// Whether it names all elements of the first axis, one after the other.
    fn is_all_of(&self, array: &Array) -> bool {
        let all = |extent: &usize| *extent as isize <= self.stop;
        self.start == 0 && self.step == 1 && array.shape().first().is_some_and(all)
    }

    /// The elements of the first axis that it names, if there is one.
    fn along(mut self, array: &Array) -> Option<Array> {
        let extent = *array.shape().first()? as isize;
        // SAFETY: it only computes with these numbers.
        let len = unsafe {
            ffi::PySlice_AdjustIndices(extent, &mut self.start, &mut self.stop, self.step)
        };
        let start = usize::try_from(self.start).unwrap_or(0);
        Some(array.slice_axis(0, start, len as usize, self.step))
    }
}
