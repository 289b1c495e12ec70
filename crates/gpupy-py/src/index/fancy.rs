//! Advanced (fancy) indexing: index arrays and masks, read and written without NumPy.
//!
//! Owns [`fancy_index`], which turns an advanced key into a lazy array (a gather), and [`put`], which writes by one (a
//! scatter). Invariants: the selected elements are a copy; an index outside its axis is reported at the line that
//! makes it, in NumPy's words.
//!
//! Not here: the parts of keys (`advanced_key.rs`), the elements that they select (`indexed_axes.rs`), the value
//! that is written (`setitem.rs`), NumPy's signatures (`python/gpupy/_indexing/index_arrays.py`).

use crate::array::meta::meta_array;
use crate::array::ndarray::{ArrayElements, NdArray, elements};
use crate::index::advanced_key::{KeyPart, parts};
use crate::index::indexed_axes::{IndexedAxes, Indices, place};
use crate::index::setitem::{self, AssignSource};
use crate::session::context::{ready, supports};
use crate::session::errors::to_py;
use crate::session::python_objects;
use crate::session::waiting::wait;
use gpupy_core::{ErrorKind, Op, Result};
use gpupy_engine::{Array, Outside};
use pyo3::prelude::*;
use smallvec::SmallVec;
use std::cmp::Reverse;

/// The elements that a key with index arrays names; `None` leaves it to NumPy.
pub fn fancy_index(array: &Array, key: &Bound<'_, PyAny>) -> PyResult<Option<Array>> {
    let py = key.py();
    let context = ready(py)?;
    if !supports(context, Op::Gather, array.dtype()) {
        return Ok(None);
    }
    let Some(parts) = parts(key)? else { return Ok(None) };
    let refused = || refusal(array, key, |meta, key| meta.get_item(key));
    let Some(picked) = place(py, array, &parts)? else { return refused().map(|()| None) };
    let laid = ResultOrder::of(&picked);
    let view = picked.view.transpose(&laid.axes);
    let indices = laid.indices(&picked.indices);
    let made = |found: &Array| {
        let found = laid.back(found, picked.at);
        if found.size() == 0 {
            // NumPy refuses some indices out of bounds even where the result is empty.
            refused()?;
        }
        Ok(Some(found))
    };
    if let Some(found) = context.fancy_index_eagerly(&view, &indices, 0, Outside::Refuse) {
        return made(&found);
    }
    let taken = snapshots(&picked.indices)?;
    let indices = laid.indices(&taken);
    let found = wait(py, || context.fancy_index(&view, &indices, 0, Outside::Refuse));
    match found {
        Ok(found) => made(&found),
        Err(error) if matches!(error.kind(), ErrorKind::Index | ErrorKind::Shape) => {
            refused()?;
            Err(to_py(error))
        }
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(None),
        Err(error) => Err(to_py(error)),
    }
}

/// Snapshots of index arrays, which other threads may write to meanwhile.
fn snapshots(indices: &Indices) -> PyResult<Indices> {
    let taken = indices.iter().map(|index| index.as_ref().map(Array::snapshot).transpose());
    taken.collect::<Result<_>>().map_err(to_py)
}

/// How NumPy's results of index arrays lie in memory: the picked axes outermost, then the others from the
/// longest stride to the shortest.
struct ResultOrder {
    /// The axes of the view in that order.
    axes: SmallVec<[usize; 4]>,
    /// How many of them are indexed.
    indexed: usize,
}

impl ResultOrder {
    fn of(picked: &IndexedAxes) -> ResultOrder {
        let (view, indices) = (&picked.view, &picked.indices);
        let mut axes: SmallVec<[usize; 4]> = (0..indices.len()).collect();
        axes.sort_by_key(|axis| match indices[*axis] {
            Some(_) => (false, Reverse(0)),
            None => (true, Reverse(view.strides()[*axis].unsigned_abs())),
        });
        ResultOrder { axes, indexed: indices.iter().flatten().count() }
    }

    /// The index arrays in that order.
    fn indices<'a>(&self, indices: &'a Indices) -> SmallVec<[Option<&'a Array>; 4]> {
        self.axes.iter().map(|axis| indices[*axis].as_ref()).collect()
    }

    /// A result in this order, with its axes moved where the key puts them: the indexed ones before the kept axis `at`.
    fn back(&self, found: &Array, at: usize) -> Array {
        let kept = &self.axes[self.indexed..];
        let picked = found.ndim() - kept.len();
        let place = |axis: &usize| kept.iter().filter(|other| *other < axis).count();
        let mut order: SmallVec<[usize; 6]> = SmallVec::from_elem(0, kept.len());
        for (number, axis) in kept.iter().enumerate() {
            order[place(axis)] = picked + number;
        }
        order.insert_many(at, 0..picked);
        if order.is_sorted() { found.clone() } else { found.transpose(&order) }
    }
}

/// The error that NumPy raises for a call with a key on a meta array of this array's shape, if it raises one.
pub fn refusal<'py>(
    array: &Array,
    key: &Bound<'py, PyAny>,
    call: impl FnOnce(Bound<'py, PyAny>, Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<()> {
    let py = key.py();
    let meta = meta_array(py, array.shape(), array.dtype())?;
    let key = python_objects::TO_HOST.get(py)?.call1((key,))?;
    call(meta, key).map(drop)
}

/// `array[key] = value` where the key has index arrays; false leaves it to NumPy.
#[pyfunction]
pub fn put(
    array: &Bound<'_, NdArray>,
    key: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
) -> PyResult<bool> {
    let py = key.py();
    let ArrayElements::Lazy(array) = elements(array) else { return Ok(false) };
    let Some(parts) = parts(key)? else { return Ok(false) };
    let refused = || {
        let value = python_objects::TO_HOST.get(py)?.call1((value,))?;
        refusal(&array, key, |meta, key| meta.set_item(key, value).map(|()| meta))
    };
    let Some(picked) = place(py, &array, &parts)? else { return refused().map(|()| false) };
    let nothing = |index: &Array| index.size() == 0;
    if picked.view.size() == 0 || picked.indices.iter().flatten().any(nothing) {
        // Where nothing is written, NumPy still looks at the indices and at some values.
        return refused().map(|()| true);
    }
    let taken = snapshots(&picked.indices)?;
    let indices: SmallVec<[Option<&Array>; 4]> = taken.iter().map(Option::as_ref).collect();
    let Ok(source) = setitem::source(py, array.dtype(), usize::MAX, value) else {
        return refused().map(|()| false);
    };
    // A mask over all axes takes its elements one after another.
    if let [KeyPart::Mask(shape, _)] = parts.as_slice()
        && shape.len() == array.ndim()
        && matches!(&source, AssignSource::Array(source) if source.ndim() > 1)
    {
        refused()?;
    }
    let context = ready(py)?;
    if let ([KeyPart::Mask(shape, positions)], AssignSource::Array(source)) =
        (parts.as_slice(), &source)
        && shape.as_slice() == array.shape()
        && supports(context, Op::Select, array.dtype())
        && let Ok(mask) = key.cast::<NdArray>()
        && let ArrayElements::Lazy(mask) = elements(mask)
        && wait(py, || context.put_where(&array, &mask, positions, source)).map_err(to_py)?
    {
        setitem::warn_of(value, array.dtype())?;
        return Ok(true);
    }
    let written =
        wait(py, || context.put(&picked.view, &indices, picked.at, Outside::Refuse, source.arg()));
    match written {
        Ok(()) => setitem::warn_of(value, array.dtype()).map(|()| true),
        Err(error) if matches!(error.kind(), ErrorKind::Index | ErrorKind::Shape) => {
            refused()?;
            Err(to_py(error))
        }
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(false),
        Err(error) => Err(to_py(error)),
    }
}
