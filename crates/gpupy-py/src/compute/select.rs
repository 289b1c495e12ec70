//! `where`, `clip`, and writes by masks: three operands of one dtype.
//!
//! Their promotion is `numpy.result_type`'s (`array/common_dtype.rs`).
//!
//! Not here: calls that NumPy has to serve (`python/gpupy/_indexing/select.py`).

use crate::array::classes::wrap::wrap_array;
use crate::array::common_dtype::common_dtype;
use crate::array::ndarray::NdArray;
use crate::array::operand::{UfuncOperand, classify};
use crate::compute::promotion::PromotedOperand;
use crate::index::setitem;
use crate::session::context::{ready, supports};
use crate::session::errors::{not_broadcastable, to_py};
use gpupy_core::{DType, Error, ErrorKind, Op};
use gpupy_engine::{Array, ArrayOrScalar};
use pyo3::prelude::*;

fn in_words(error: Error, operands: &[&UfuncOperand<'_>]) -> PyErr {
    match error.kind() {
        ErrorKind::Shape => not_broadcastable(operands.iter().map(|operand| operand.shape())),
        _ => to_py(error),
    }
}

/// `where(condition, x, y)`; `None` leaves it to NumPy.
#[pyfunction]
pub fn select(
    condition: &Bound<'_, PyAny>,
    x: &Bound<'_, PyAny>,
    y: &Bound<'_, PyAny>,
) -> PyResult<Option<NdArray>> {
    let (Some(c), Some(given_x), Some(given_y)) =
        (classify(condition)?, classify(x)?, classify(y)?)
    else {
        return Ok(None);
    };
    let py = condition.py();
    if let Some(dtype) = common_dtype(py, given_x.kind, given_y.kind)? {
        setitem::warn_of_number(x, &given_x, dtype)?;
        setitem::warn_of_number(y, &given_y, dtype)?;
    }
    Ok(chosen(py, [&c, &given_x, &given_y], None)?.map(NdArray::lazy))
}

/// Writes a value where a mask of the array's shape is true; false, with nothing done, leaves it to NumPy.
#[pyfunction]
pub fn write_where(
    array: &Bound<'_, NdArray>,
    mask: &Bound<'_, PyAny>,
    value: &Bound<'_, PyAny>,
) -> PyResult<bool> {
    let py = mask.py();
    let (Some(a), Some(c), Some(x)) = (classify(array)?, classify(mask)?, classify(value)?) else {
        return Ok(false);
    };
    let Some(dest) = a.as_array().cloned() else { return Ok(false) };
    if !dest.layout().is_injective() {
        // Of several points that are one element, those that the mask leaves out would write its old value.
        return Ok(false);
    }
    if common_dtype(py, x.kind, a.kind)? != Some(dest.dtype()) {
        return Ok(false);
    }
    array.get().check_writable(py)?;
    setitem::warn_of_number(value, &x, dest.dtype())?;
    // It is a choice between the value and the old element.
    match chosen(py, [&c, &x, &a], Some(&dest))? {
        Some(chosen) => setitem::output(&dest, &chosen).map(|()| true),
        None => Ok(false),
    }
}

/// The elements of the second operand where the first one is true, of the third elsewhere; maybe put straight
/// into the memory of `dest`, which is then returned.
fn chosen(
    py: Python<'_>,
    [c, x, y]: [&UfuncOperand<'_>; 3],
    dest: Option<&Array>,
) -> PyResult<Option<Array>> {
    if !(c.as_array().is_some() || x.as_array().is_some() || y.as_array().is_some()) {
        return Ok(None);
    }
    let Some(dtype) = common_dtype(py, x.kind, y.kind)? else { return Ok(None) };
    let context = ready(py)?;
    if !supports(context, Op::Select, dtype) {
        return Ok(None);
    }
    let prepared = (
        PromotedOperand::new(context, c, DType::Bool)?,
        PromotedOperand::new(context, x, dtype)?,
        PromotedOperand::new(context, y, dtype)?,
    );
    let (Some(pc), Some(px), Some(py_)) = prepared else { return Ok(None) };
    let args = [pc.arg(), px.arg(), py_.arg()];
    let record = |args: &[ArrayOrScalar<'_>]| context.apply(Op::Select, args);
    let made = match dest {
        Some(dest) => context.recorded_into(dest, &args, |args| record(args).map(Some)),
        None => record(&args).map(Some),
    };
    made.map_err(|error| in_words(error, &[c, x, y]))
}

/// `clip(a, low, high)`, either limit of which may be `None`; `None` leaves it to NumPy.
#[pyfunction]
pub fn clip<'py>(
    a: &Bound<'py, PyAny>,
    low: &Bound<'py, PyAny>,
    high: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = a.py();
    let Some(a) = classify(a)? else { return Ok(None) };
    let Some(array) = a.as_array() else { return Ok(None) };
    let dtype = array.dtype();
    // NumPy's clip has no loop for bfloat16, and computes in another dtype; with one limit it is a minimum or maximum.
    let is_both = !low.is_none() && !high.is_none();
    if dtype == DType::Bool || dtype == DType::BF16 && is_both {
        return Ok(None);
    }
    let context = ready(py)?;
    let mut limits = Vec::new();
    for (limit, op) in [(low, Op::Max), (high, Op::Min)] {
        if limit.is_none() {
            continue;
        }
        let Some(limit) = classify(limit)? else { return Ok(None) };
        if common_dtype(py, a.kind, limit.kind)? != Some(dtype) || !supports(context, op, dtype) {
            return Ok(None);
        }
        limits.push((op, limit));
    }
    let mut steps = Vec::new();
    for (op, limit) in &limits {
        match PromotedOperand::new(context, limit, dtype)? {
            Some(prepared) => steps.push((*op, limit, prepared)),
            None => return Ok(None),
        }
    }
    if steps.is_empty() {
        return Ok(None);
    }
    let mut current = array.clone();
    let operands: Vec<_> =
        std::iter::once(&a).chain(steps.iter().map(|(_, limit, _)| *limit)).collect();
    for (op, _, prepared) in &steps {
        // Of equals these give the second. In NumPy's clip that is the element, but with one limit
        // it calls its minimum or maximum, which give the first of float16.
        let next = if steps.len() == 2 || dtype == DType::F16 {
            context.apply(*op, &[prepared.arg(), ArrayOrScalar::Array(&current)])
        } else {
            context.apply(*op, &[ArrayOrScalar::Array(&current), prepared.arg()])
        };
        current = next.map_err(|error| in_words(error, &operands))?;
    }
    wrap_array(py, current).map(Some)
}
