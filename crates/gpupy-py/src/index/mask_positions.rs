//! Positions of masks' true elements, cached with the masks.
//!
//! Owns [`of`]; [`positions`] and [`nonzero`] are for Python. A loop reads and writes by one mask several times;
//! finding its positions means to evaluate it and to read every element. Invariants: a cached entry holds only for the
//! mask's present value and view; it is freed with the mask.
//!
//! Not here: the uses of positions (`fancy.rs`).

use crate::array::ndarray::{ArrayElements, NdArray, elements};
use crate::array::side_data::Positions;
use crate::session::context::{self, holds, ready};
use crate::session::errors::to_py;
use crate::session::waiting::wait;
use crate::thresholds::T;
use gpupy_core::DType;
use gpupy_engine::Array;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::PoisonError;

/// NumPy's `nonzero` of few elements in host memory; `None` for other arrays.
#[pyfunction]
pub fn nonzero<'py>(array: &Bound<'py, NdArray>) -> PyResult<Option<Bound<'py, PyTuple>>> {
    let py = array.py();
    let this = array.get().read(py);
    let Some(array) = this.as_lazy().filter(|array| array.ndim() > 0) else { return Ok(None) };
    let found = match context::open() {
        Some((context, _)) if holds(DType::I64)? => context.nonzero_eagerly(array),
        _ => None,
    };
    let Some(found) = found else { return Ok(None) };
    let columns = (0..array.ndim()).map(|axis| found.index_axis(1, axis));
    if array.ndim() == 1 {
        return PyTuple::new(py, columns.map(NdArray::lazy).collect::<Vec<_>>()).map(Some);
    }
    // In NumPy they are views of one array.
    let whole = Bound::new(py, NdArray::lazy(found.clone()))?;
    let columns = columns.map(|column| whole.get().view(&whole, column, true));
    PyTuple::new(py, columns.collect::<Vec<_>>()).map(Some)
}

/// The positions in C order, int64, of a mask's true elements, as an array of one axis; `None` for other arrays.
#[pyfunction]
pub fn positions(mask: &Bound<'_, NdArray>) -> PyResult<Option<NdArray>> {
    let ArrayElements::Lazy(array) = elements(mask) else { return Ok(None) };
    if array.dtype() != DType::Bool || !holds(DType::I64)? {
        return Ok(None);
    }
    let found = of(mask, &array)?;
    ready(mask.py())?.cast(&found, DType::I64).map(|made| Some(NdArray::lazy(made))).map_err(to_py)
}

/// The positions, int32, of the true elements of a mask, which is `array`. It is evaluated.
pub fn of(mask: &Bound<'_, NdArray>, array: &Array) -> PyResult<Array> {
    if let Some(known) = known(mask) {
        return Ok(known);
    }
    let (py, context) = (mask.py(), ready(mask.py())?);
    let found = wait(py, || context.where_true(array)).map_err(to_py)?;
    note(mask, &found);
    Ok(found)
}

/// The positions of a mask's true elements, if they were found before.
fn known(mask: &Bound<'_, NdArray>) -> Option<Array> {
    let this = mask.get().read(mask.py());
    let kept = mask.get().side_data()?.positions.lock().unwrap_or_else(PoisonError::into_inner);
    let (array, found) = (this.as_lazy()?, kept.as_ref()?);
    let same = !array.is_pinned()
        && array.value().ok()?.id() == found.value
        && *array.layout() == found.view;
    same.then(|| found.array.clone())
}

/// Remembers positions that were found.
fn note(mask: &Bound<'_, NdArray>, positions: &Array) {
    let this = mask.get().read(mask.py());
    let large = |array: &&Array| array.dtype() == DType::Bool && array.size() >= T.remembered_mask;
    let Some(array) = this.as_lazy().filter(large) else { return };
    let (Ok(value), view) = (array.value(), array.layout().clone()) else { return };
    let found = Positions { value: value.id(), view, array: positions.clone() };
    let kept = &mask.get().side_data_or_new().positions;
    *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
}
