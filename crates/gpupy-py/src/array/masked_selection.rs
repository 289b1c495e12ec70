//! Elements that a mask selects while a function is recorded.
//!
//! Not here: the class of such selections (`python/gpupy/_jit/selection.py`), masks outside of recordings
//! (`index`).

use crate::array::ndarray::{ArrayElements, NdArray, elements};
use crate::array::recording;
use crate::session::python_objects;
use gpupy_core::DType;
use pyo3::prelude::*;

/// Whether an object is a selection of this thread's recording.
#[cold]
pub fn is_one(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(recording::number() != 0
        && object.get_type().is(python_objects::SELECTION.get(object.py())?))
}

/// The selection by a mask of the array's shape, where the mask or the array is open; `None` for other keys, and
/// where this thread records nothing.
#[cold]
pub fn of<'py>(
    array: &Bound<'py, NdArray>,
    key: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Ok(mask) = key.cast_exact::<NdArray>() else { return Ok(None) };
    let may = recording::with(|recording| !recording.tells_classes);
    if may != Some(true) {
        return Ok(None);
    }
    let (ArrayElements::Lazy(full), ArrayElements::Lazy(seen)) = (elements(array), elements(mask))
    else {
        return Ok(None);
    };
    let selects = seen.dtype() == DType::Bool && seen.shape() == full.shape() && full.ndim() > 0;
    if !selects || !full.is_open() && !seen.is_open() {
        return Ok(None);
    }
    python_objects::SELECTION.get(array.py())?.call1((array, mask)).map(Some)
}
