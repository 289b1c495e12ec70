//! Basic indexing: integers, slices, `...` and `newaxis`.
//!
//! Owns [`select`], which turns a key into a view. Invariant: a mistake in a key is reported at the
//! line that makes it, in NumPy's words; nothing is evaluated for it.
//!
//! Not here: index arrays and masks (`fancy.rs`), assignment (`setitem.rs`).

use crate::array::lazy_scalar::LazyScalar;
use crate::array::meta::numpy_error;
use crate::convert::dtypes::numpy;
use crate::session::errors::to_py;
use gpupy_core::MAX_RANK;
use gpupy_engine::Array;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PyInt, PySlice, PyTuple};
use smallvec::SmallVec;

/// A part of a key.
pub enum BasicPart<'py> {
    At(isize),
    Range(Bound<'py, PySlice>),
    Ellipsis,
    NewAxis,
}

/// The selection of a basic key.
pub struct Selection {
    /// The view.
    pub view: Array,
    /// True when the key names one element, so that reading gives a scalar.
    pub element: bool,
}

/// The view that a basic key selects; `None` for keys of other sorts.
pub fn select(array: &Array, key: &Bound<'_, PyAny>) -> PyResult<Option<Selection>> {
    let mut items: SmallVec<[BasicPart<'_>; 4]> = SmallVec::new();
    if let Ok(keys) = key.cast_exact::<PyTuple>() {
        for key in keys.iter() {
            match item(key)? {
                Some(item) => items.push(item),
                None => return Ok(None),
            }
        }
    } else {
        match item(key.clone())? {
            Some(item) => items.push(item),
            None => return Ok(None),
        }
    }
    match walk(array, &items)? {
        Some(selection) => Ok(Some(selection)),
        None => Err(numpy_error(key.py(), array, |meta| meta.get_item(key))),
    }
}

/// A part of a key that needs no index array; `None` for other sorts.
pub fn item(key: Bound<'_, PyAny>) -> PyResult<Option<BasicPart<'_>>> {
    if let Ok(int) = key.cast_exact::<PyInt>() {
        // Beyond isize no axis has an element; NumPy words that.
        return Ok(int.extract::<isize>().ok().map(BasicPart::At));
    }
    if key.is_none() {
        return Ok(Some(BasicPart::NewAxis));
    }
    if key.cast::<PyEllipsis>().is_ok() {
        return Ok(Some(BasicPart::Ellipsis));
    }
    if key.cast::<PyBool>().is_ok() {
        return Ok(None);
    }
    let key = match key.cast_into::<PySlice>() {
        Ok(slice) => return Ok(Some(BasicPart::Range(slice))),
        Err(other) => other.into_inner(),
    };
    if let Ok(scalar) = key.cast::<LazyScalar>() {
        if scalar.get().dtype_of().is_int() {
            return Ok(Some(BasicPart::At(key.extract()?)));
        }
        return Ok(None);
    }
    if key.is_instance(numpy(key.py())?.integer.bind(key.py()))? {
        return Ok(Some(BasicPart::At(key.extract()?)));
    }
    Ok(None)
}

/// Applies the items axis by axis; `None` when one does not fit.
fn walk(array: &Array, items: &[BasicPart<'_>]) -> PyResult<Option<Selection>> {
    let used = items.iter().filter(|i| matches!(i, BasicPart::At(_) | BasicPart::Range(_))).count();
    let ellipses = items.iter().filter(|i| matches!(i, BasicPart::Ellipsis)).count();
    if used > array.ndim() || ellipses > 1 {
        return Ok(None);
    }
    let mut shape: SmallVec<[usize; 6]> = SmallVec::new();
    let mut strides: SmallVec<[isize; 6]> = SmallVec::new();
    let mut offset = array.offset();
    let mut axis = 0;
    for item in items {
        match item {
            BasicPart::NewAxis => {
                shape.push(1);
                strides.push(0);
            }
            BasicPart::Ellipsis => {
                let end = axis + array.ndim() - used;
                shape.extend_from_slice(&array.shape()[axis..end]);
                strides.extend_from_slice(&array.strides()[axis..end]);
                axis = end;
            }
            BasicPart::At(at) => {
                let n = array.shape()[axis] as isize;
                let at = if *at < 0 { at.wrapping_add(n) } else { *at };
                if at < 0 || at >= n {
                    return Ok(None);
                }
                offset += at * array.strides()[axis];
                axis += 1;
            }
            BasicPart::Range(slice) => {
                let range = slice.indices(array.shape()[axis] as isize)?;
                shape.push(range.slicelength);
                let stride = array.strides()[axis];
                // As in NumPy, a slice of nothing has no step.
                strides.push(if range.slicelength > 0 { stride * range.step } else { stride });
                if range.slicelength > 0 {
                    offset += range.start * stride;
                }
                axis += 1;
            }
        }
    }
    shape.extend_from_slice(&array.shape()[axis..]);
    strides.extend_from_slice(&array.strides()[axis..]);
    if shape.len() > MAX_RANK {
        return Ok(None);
    }
    let view = array.view(&shape, &strides, offset).map_err(to_py)?;
    let element = used == array.ndim() && used == items.len() && used > 0 && shape.is_empty();
    // `a[()]` of a 0-d array reads its element.
    let element = element || (items.is_empty() && array.ndim() == 0);
    Ok(Some(Selection { view, element }))
}
