//! `where` and `clip`: three operands of one dtype.
//!
//! Owns their promotion, which is `numpy.result_type`'s, asked once for each combination of kinds.
//!
//! Not here: calls that NumPy has to serve (`python/gpupy/_select.py`).

use crate::array::NdArray;
use crate::dtypes::{self, lazy_index, numpy};
use crate::errors::{not_broadcastable, to_py};
use crate::operand::{KINDS, Kind, Operand, classify};
use crate::session::{ready, supports};
use crate::ufunc::Prepared;
use gpupy_core::{Arg, Array, DType, ErrorKind, Op};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::atomic::{AtomicU8, Ordering};

/// The common dtype of two kinds, if it is lazy.
fn common(py: Python<'_>, a: Kind, b: Kind) -> PyResult<Option<DType>> {
    static ANSWERS: [AtomicU8; KINDS * KINDS] = [const { AtomicU8::new(0) }; KINDS * KINDS];
    let cell = &ANSWERS[a as usize * KINDS + b as usize];
    match cell.load(Ordering::Relaxed) {
        0 => {}
        code => return Ok(dtypes::LAZY.get(usize::from(code) - 1).copied()),
    }
    let stand_for = |kind| match kind {
        Kind::WeakInt => Ok(0i32.into_pyobject(py)?.into_any()),
        Kind::WeakFloat => Ok(0f64.into_pyobject(py)?.into_any()),
        strong => dtypes::to_numpy(py, dtypes::LAZY[strong as usize]),
    };
    let pair = PyTuple::new(py, [stand_for(a)?, stand_for(b)?])?;
    let answer = numpy(py)?.module.bind(py).call_method1("result_type", pair)?;
    let dtype = dtypes::from_numpy(&answer)?;
    let code = dtype.and_then(lazy_index).map_or(u8::MAX, |i| i as u8 + 1);
    cell.store(code, Ordering::Relaxed);
    Ok(dtype)
}

fn recorded(
    result: gpupy_core::Result<Array>,
    operands: &[&Operand<'_>],
) -> PyResult<Option<NdArray>> {
    match result {
        Ok(array) => Ok(Some(NdArray::lazy(array))),
        Err(error) if error.kind() == ErrorKind::Shape => {
            Err(not_broadcastable(operands.iter().map(|o| o.shape())))
        }
        Err(error) => Err(to_py(error)),
    }
}

/// `where(condition, x, y)`; `None` leaves it to NumPy.
#[pyfunction]
pub fn select(
    condition: &Bound<'_, PyAny>,
    x: &Bound<'_, PyAny>,
    y: &Bound<'_, PyAny>,
) -> PyResult<Option<NdArray>> {
    let py = condition.py();
    let (Some(c), Some(x), Some(y)) = (classify(condition)?, classify(x)?, classify(y)?) else {
        return Ok(None);
    };
    if !(c.as_array().is_some() || x.as_array().is_some() || y.as_array().is_some()) {
        return Ok(None);
    }
    let Some(dtype) = common(py, x.kind, y.kind)? else { return Ok(None) };
    let context = ready(py)?;
    if !supports(context, Op::Select, dtype) {
        return Ok(None);
    }
    let prepared = (
        Prepared::new(context, &c, DType::Bool)?,
        Prepared::new(context, &x, dtype)?,
        Prepared::new(context, &y, dtype)?,
    );
    let (Some(pc), Some(px), Some(py_)) = prepared else { return Ok(None) };
    recorded(context.apply(Op::Select, &[pc.arg(), px.arg(), py_.arg()]), &[&c, &x, &y])
}

/// `clip(a, low, high)`, either limit of which may be `None`; `None` leaves it to NumPy.
#[pyfunction]
pub fn clip(
    a: &Bound<'_, PyAny>,
    low: &Bound<'_, PyAny>,
    high: &Bound<'_, PyAny>,
) -> PyResult<Option<NdArray>> {
    let py = a.py();
    let Some(a) = classify(a)? else { return Ok(None) };
    let Some(array) = a.as_array() else { return Ok(None) };
    let dtype = array.dtype();
    if dtype == DType::Bool {
        return Ok(None);
    }
    let context = ready(py)?;
    let mut limits = Vec::new();
    for (limit, op) in [(low, Op::Max), (high, Op::Min)] {
        if limit.is_none() {
            continue;
        }
        let Some(limit) = classify(limit)? else { return Ok(None) };
        if common(py, a.kind, limit.kind)? != Some(dtype) || !supports(context, op, dtype) {
            return Ok(None);
        }
        limits.push((op, limit));
    }
    let mut steps = Vec::new();
    for (op, limit) in &limits {
        match Prepared::new(context, limit, dtype)? {
            Some(prepared) => steps.push((*op, limit, prepared)),
            None => return Ok(None),
        }
    }
    if steps.is_empty() {
        return Ok(None);
    }
    let mut current = array.clone();
    for (op, limit, prepared) in &steps {
        // Of equals these give the second. In NumPy's clip that is the element, but with one limit
        // it calls its minimum or maximum.
        let next = if steps.len() == 2 {
            context.apply(*op, &[prepared.arg(), Arg::Array(&current)])
        } else {
            context.apply(*op, &[Arg::Array(&current), prepared.arg()])
        };
        match recorded(next, &[&a, limit])? {
            Some(NdArray { repr: crate::array::Repr::Lazy(array), .. }) => current = array,
            _ => return Ok(None),
        }
    }
    Ok(Some(NdArray::lazy(current)))
}
