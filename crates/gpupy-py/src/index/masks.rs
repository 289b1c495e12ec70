//! Positions of masks, kept with the masks.
//!
//! Owns [`known`] and [`note`]. A loop reads and writes by one mask several times; finding its positions
//! means to evaluate it and to look at every element. Invariants: what is known is of the value that the
//! mask has, seen as the mask sees it; it goes with the mask.
//!
//! Not here: what positions are for (`pick.rs`).

use crate::array::kept::Positions;
use crate::array::ndarray::NdArray;
use gpupy_core::DType;
use gpupy_engine::Array;
use pyo3::prelude::*;
use std::sync::PoisonError;

/// Smaller masks are looked at again sooner than remembered.
const LEAST: usize = 1 << 12;

/// The positions of a mask's true elements, if they were found before.
pub fn known(mask: &Bound<'_, NdArray>) -> Option<Array> {
    let this = mask.get().read(mask.py());
    let kept = mask.get().kept()?.positions.lock().unwrap_or_else(PoisonError::into_inner);
    let (array, found) = (this.as_lazy()?, kept.as_ref()?);
    let same = !array.is_pinned()
        && array.value().ok()?.id() == found.value
        && *array.layout() == found.view;
    same.then(|| found.array.clone())
}

/// Remembers positions that were found.
pub fn note(mask: &Bound<'_, NdArray>, positions: &Array) {
    let this = mask.get().read(mask.py());
    let large = |array: &&Array| array.dtype() == DType::Bool && array.size() >= LEAST;
    let Some(array) = this.as_lazy().filter(large) else { return };
    let (Ok(value), view) = (array.value(), array.layout().clone()) else { return };
    let found = Positions { value: value.id(), view, array: positions.clone() };
    let kept = &mask.get().keep().positions;
    *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
}
