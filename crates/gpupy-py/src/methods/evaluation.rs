//! `gpupy.evaluate`: arrays computed on their driver, without being read.
//!
//! Owns [`evaluate`]. Not here: evaluation (`gpupy_engine::Context`).

use crate::array::{lazy_scalar, ndarray};
use crate::session::{context, errors, waiting};
use pyo3::prelude::*;

/// Evaluates arrays on their driver and waits; nothing is read back.
#[pyfunction]
#[pyo3(signature = (*arrays))]
pub fn evaluate(py: Python<'_>, arrays: &Bound<'_, pyo3::types::PyTuple>) -> PyResult<()> {
    let context = context::ready(py)?;
    let mut lazy = Vec::new();
    for object in arrays.iter_borrowed() {
        if let Ok(array) = object.cast::<ndarray::NdArray>() {
            let array = array.get().read(py);
            lazy.extend(
                array.as_lazy().filter(|array| !array.is_there() && !array.is_open()).cloned(),
            );
        } else if let Ok(scalar) = object.cast::<lazy_scalar::LazyScalar>() {
            lazy.push(scalar.get().as_array().clone());
        }
    }
    // Letting others have the GIL would take longer than small arrays did.
    if lazy.is_empty() {
        return Ok(());
    }
    waiting::wait(py, || {
        let all: Vec<_> = lazy.iter().collect();
        context.evaluate(&all)
    })
    .map_err(errors::to_py)
}
