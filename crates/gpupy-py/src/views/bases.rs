//! The base that arrays share and its value; the ranges of it that a device has.
//!
//! Not here: views themselves (`gpupy_engine::View`), scopes, which call this (`python/gpupy/_scopes/scope.py`).

use crate::array::ndarray::{ArrayElements, NdArray, elements};
use crate::array::record_fields;
use crate::array::recording;
use crate::session::context::context;
use crate::session::errors::to_py;
use crate::session::waiting::wait;
use gpupy_engine::{Array, Unread};
use pyo3::prelude::*;
use std::ops::Range;

fn lazy(array: &Bound<'_, NdArray>) -> Option<Array> {
    match elements(array) {
        ArrayElements::Lazy(array) => Some(array),
        ArrayElements::Numpy(_) => None,
    }
}

/// An array with the elements that this one has now, which later writes to it do not change; nothing is copied. `None`
/// for elements that are NumPy's.
#[pyfunction]
pub fn snapshot(array: &Bound<'_, NdArray>) -> PyResult<Option<NdArray>> {
    let Some(array) = lazy(array) else { return Ok(None) };
    array.snapshot().map(NdArray::lazy).map(Some).map_err(to_py)
}

/// Whether the base of an array has been written since its snapshot was taken.
#[pyfunction]
pub fn is_written(array: &Bound<'_, NdArray>, snapshot: &Bound<'_, NdArray>) -> PyResult<bool> {
    let (Some(array), Some(snapshot)) = (lazy(array), lazy(snapshot)) else { return Ok(true) };
    let (now, before) = (array.value().map_err(to_py)?, snapshot.value().map_err(to_py)?);
    Ok(now.id() != before.id())
}

/// The range from the first to the last byte of an array in its base, as offset and size; `None` for elements that are
/// NumPy's.
#[pyfunction]
pub fn extents(array: &Bound<'_, NdArray>) -> Option<(usize, usize)> {
    recording::unrecordable::asked_of(array.get().made_in(), "it asks an array for its extents");
    let extents = lazy(array)?.extents();
    Some((extents.start, extents.len()))
}

/// The ranges of an array's extents whose present state the driver in use lacks, as offsets and sizes in bytes; for
/// records, of the memory of all of them, and `None` where no operation has read one.
#[pyfunction]
pub fn pending_extents(array: &Bound<'_, NdArray>) -> PyResult<Option<Vec<(usize, usize)>>> {
    recording::unrecordable::asked_of(
        array.get().made_in(),
        "it asks what a device has of an array",
    );
    let pending = match lazy(array) {
        Some(shown) => {
            let context = context()?;
            Some(wait(array.py(), || context.pending_extents(&shown)).map_err(to_py)?)
        }
        None => record_fields::pending(array)?,
    };
    let pairs = |ranges: Vec<Range<usize>>| ranges.iter().map(|r| (r.start, r.len())).collect();
    Ok(pending.map(pairs))
}

/// Where an array's first element lies from the first one of another array, and its strides, in bytes; `None` where it
/// shows other memory. Views of another dtype show the memory of what they are views of.
#[pyfunction]
pub fn place_in(
    array: &Bound<'_, NdArray>,
    other: &Bound<'_, NdArray>,
) -> Option<(isize, Vec<isize>)> {
    let (array, other) = (lazy(array)?, lazy(other)?);
    let size = array.dtype().size() as isize;
    let strides = array.strides().iter().map(|stride| stride * size).collect();
    array.aliases(&other).then(|| (array.byte_offset() - other.byte_offset(), strides))
}

/// All elements of the memory that an array shows, as one axis; `None` for elements that are NumPy's.
#[pyfunction]
pub fn memory_of(array: &Bound<'_, NdArray>) -> Option<NdArray> {
    lazy(array).map(|array| NdArray::lazy(array.owner_elements()))
}

/// Whether the elements of an array are there without any work; waits for no evaluation.
#[pyfunction]
pub fn is_in_memory(array: &Bound<'_, NdArray>) -> bool {
    lazy(array).is_none_or(|array| !matches!(array.unread(), Some(Unread::Value(_))))
}
