//! Reductions that drivers do.
//!
//! Owns [`reduce`]. Invariant: a result has the dtype that NumPy gives it.
//!
//! Not here: axes, keyword arguments and means (`python/gpupy/_reduce.py`).

use crate::errors::{to_py, warn_of_lost_parts};
use crate::session::{holds, ready, supports};
use gpupy_core::{Array, DType, Op, Scalar};
use pyo3::prelude::*;

/// How a reduction of NumPy's is recorded.
pub struct Reduction {
    pub op: Op,
    /// The dtype in which it reduces.
    dtype: DType,
    /// The result's dtype.
    result: DType,
    /// What it is of no elements, if it is anything.
    nothing: Option<u64>,
}

/// The reduction that NumPy calls `name` of elements of a dtype; `None` for others.
pub fn reduction(name: &str, dtype: DType) -> Option<Reduction> {
    let same = |op, nothing| Reduction { op, dtype, result: dtype, nothing };
    Some(match name {
        // NumPy sums float16 in float32, and rounds once.
        "add" if dtype == DType::F16 => {
            Reduction { op: Op::Add, dtype: DType::F32, result: dtype, nothing: Some(0) }
        }
        "add" => same(Op::Add, Some(0)),
        "multiply" if dtype.is_int() => same(Op::Mul, Some(1)),
        "multiply" => same(Op::Mul, None),
        "minimum" => same(Op::Min, None),
        "maximum" => same(Op::Max, None),
        "bitwise_and" => same(Op::And, None),
        "bitwise_or" => same(Op::Or, Some(0)),
        "bitwise_xor" => same(Op::Xor, Some(0)),
        "logical_and" | "logical_or" => {
            let (op, nothing) =
                if name == "logical_and" { (Op::And, Some(1)) } else { (Op::Or, Some(0)) };
            Reduction { op, dtype: DType::Bool, result: DType::Bool, nothing }
        }
        _ => return None,
    })
}

/// The dtype in which NumPy sums and multiplies elements of this one, if nothing else is asked for.
pub fn wide(dtype: DType) -> DType {
    match dtype {
        DType::Bool => DType::I64,
        _ if dtype.is_signed_int() => DType::I64,
        _ if dtype.is_int() => DType::U64,
        _ => dtype,
    }
}

/// The reduction of the operation that NumPy calls `name`, of elements that are cast to `dtype` first
/// where it is given; `None` leaves it to NumPy.
pub fn reduce(
    py: Python<'_>,
    name: &str,
    array: &Array,
    axes: &[usize],
    keepdims: bool,
    dtype: Option<DType>,
) -> PyResult<Option<Array>> {
    let context = ready(py)?;
    let given = match dtype {
        Some(dtype) => dtype,
        None if matches!(name, "add" | "multiply") => wide(array.dtype()),
        None => array.dtype(),
    };
    let Some(reduction) = reduction(name, given) else { return Ok(None) };
    let Reduction { op, dtype, result, nothing } = reduction;
    let able = op.reduces(dtype) && supports(context, op, dtype) && holds(result)?;
    if axes.is_empty() || !able {
        return Ok(None);
    }
    warn_of_lost_parts(py, array.dtype(), given)?;
    if array.size() == 0 {
        let kept = |(axis, extent): (usize, &usize)| match axes.contains(&axis) {
            true => keepdims.then_some(1),
            false => Some(*extent),
        };
        let shape: Vec<usize> = array.shape().iter().enumerate().filter_map(kept).collect();
        return match nothing {
            Some(bits) if !result.is_complex() => {
                Array::full(&shape, Scalar::new(result, bits)).map(Some).map_err(to_py)
            }
            _ => Ok(None),
        };
    }
    let record = || {
        let mut source = array.clone();
        for dtype in [given, dtype] {
            if source.dtype() != dtype {
                source = context.cast(&source, dtype)?;
            }
        }
        let reduced = context.reduce(op, &source, axes, keepdims)?;
        if reduced.dtype() == result { Ok(reduced) } else { context.cast(&reduced, result) }
    };
    record().map(Some).map_err(to_py)
}
