//! Reductions that drivers do.
//!
//! Owns [`reduce`]. Invariant: a reduction that NumPy gives in another dtype (the int64 sum of
//! int32) is NumPy's.
//!
//! Not here: axes, keyword arguments and means (`python/gpupy/_reduce.py`).

use crate::errors::to_py;
use crate::session::{ready, supports};
use gpupy_core::{Array, DType, Op};
use pyo3::prelude::*;

/// The reduction of the operation that NumPy calls `name`; `None` leaves it to NumPy.
pub fn reduce(
    py: Python<'_>,
    name: &str,
    array: &Array,
    axes: &[usize],
    keepdims: bool,
) -> PyResult<Option<Array>> {
    let context = ready(py)?;
    let (op, dtype) = match name {
        "add" => (Op::Add, DType::F32),
        "multiply" => (Op::Mul, DType::F32),
        "minimum" => (Op::Min, array.dtype()),
        "maximum" => (Op::Max, array.dtype()),
        "logical_and" => (Op::And, DType::Bool),
        "logical_or" => (Op::Or, DType::Bool),
        _ => return Ok(None),
    };
    if array.size() == 0 || axes.is_empty() || !supports(context, op, dtype) {
        return Ok(None);
    }
    let cast;
    let source = if array.dtype() == dtype {
        array
    } else if dtype == DType::Bool {
        cast = context.cast(array, dtype).map_err(to_py)?;
        &cast
    } else {
        return Ok(None);
    };
    context.reduce(op, source, axes, keepdims).map(Some).map_err(to_py)
}
