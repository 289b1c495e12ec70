//! Reductions that drivers do.
//!
//! Owns [`reduce`] and [`mean`]. Invariant: a result has the dtype that NumPy gives it.
//!
//! Not here: other axes, keyword arguments, means in other dtypes (`python/gpupy/_compute/reductions.py`).

use crate::convert::dtypes::known;
use crate::session::context::{holds, ready, supports};
use crate::session::errors::{to_py, warn_of_lost_parts};
use gpupy_core::{DType, Op, Scalar, Shape};
use gpupy_engine::{Array, ArrayOrScalar};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyTuple};
use smallvec::{SmallVec, smallvec};

/// Axes by their numbers.
type ReductionAxes = SmallVec<[usize; 4]>;

/// How a reduction of NumPy's is recorded.
pub struct UfuncReduction {
    pub op: Op,
    /// The dtype in which it reduces.
    dtype: DType,
    /// The result's dtype.
    result: DType,
    /// Its result for no elements (the identity), if it has one.
    nothing: Option<u64>,
}

/// The reduction that NumPy calls `name` of elements of a dtype; `None` for others.
pub fn reduction(name: &str, dtype: DType) -> Option<UfuncReduction> {
    let same = |op, nothing| UfuncReduction { op, dtype, result: dtype, nothing };
    Some(match name {
        // NumPy sums float16 in float32, and rounds once; ml_dtypes rounds bfloat16 at each step, which loses the more
        // the longer an axis is.
        "add" if dtype.is_narrow_float() => {
            UfuncReduction { op: Op::Add, dtype: DType::F32, result: dtype, nothing: Some(0) }
        }
        "multiply" if dtype == DType::BF16 => {
            UfuncReduction { op: Op::Mul, dtype: DType::F32, result: dtype, nothing: None }
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
            UfuncReduction { op, dtype: DType::Bool, result: DType::Bool, nothing }
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

/// The axes and the dtype of a call that names axes by integers, or none; `None` for other words.
pub fn plain(
    array: &Array,
    axis: Option<&Bound<'_, PyAny>>,
    dtype: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<(ReductionAxes, Option<DType>)>> {
    let dtype = match dtype.map(known).transpose()? {
        Some(None) => return Ok(None),
        Some(dtype) => dtype,
        None => None,
    };
    let Some(axis) = axis else { return Ok(Some(((0..array.ndim()).collect(), dtype))) };
    let Ok(axes) = axis.cast_exact::<PyTuple>() else {
        return Ok(one_axis(array, axis).map(|axis| (smallvec![axis], dtype)));
    };
    let mut found = ReductionAxes::new();
    for axis in axes.iter_borrowed() {
        match one_axis(array, &axis).filter(|axis| !found.contains(axis)) {
            Some(axis) => found.push(axis),
            None => return Ok(None),
        }
    }
    Ok(Some((found, dtype)).filter(|(found, _)| !found.is_empty()))
}

/// The axis that an integer names; `None` for other objects, and where there is no such axis.
pub fn one_axis(array: &Array, axis: &Bound<'_, PyAny>) -> Option<usize> {
    let (axis, rank) = (axis.cast_exact::<PyInt>().ok()?.extract().ok()?, array.ndim() as isize);
    (-rank..rank).contains(&axis).then(|| axis.rem_euclid(rank) as usize)
}

/// The mean over axes in a dtype, or in the one that NumPy gives it; `None` leaves it to the slow path.
pub fn mean(
    py: Python<'_>,
    array: &Array,
    axes: &[usize],
    keepdims: bool,
    dtype: Option<DType>,
) -> PyResult<Option<Array>> {
    let own = array.dtype();
    let whole = own == DType::Bool || own.is_int();
    let dtype = dtype.unwrap_or(if whole { DType::F64 } else { own });
    let count: usize = axes.iter().map(|axis| array.shape()[*axis]).product();
    let count = match dtype {
        DType::F32 => Scalar::f32(count as f32),
        DType::F64 => Scalar::f64(count as f64),
        _ => return Ok(None),
    };
    let context = ready(py)?;
    if array.size() == 0 || !supports(context, Op::Div, dtype) {
        return Ok(None);
    }
    let Some(total) = reduce(py, "add", array, axes, keepdims, Some(dtype))? else {
        return Ok(None);
    };
    let mean =
        context.apply(Op::Div, &[ArrayOrScalar::Array(&total), ArrayOrScalar::Scalar(count)]);
    mean.map(Some).map_err(to_py)
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
    let UfuncReduction { op, dtype, result, nothing } = reduction;
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
        let is_whole = axes.len() == source.ndim();
        let mut reduced = context.reduce(op, &source, axes, keepdims && !is_whole)?;
        if keepdims && is_whole {
            // One number, which is found sooner, as an array.
            reduced = reduced.reshape(&Shape::from_elem(1, axes.len())).unwrap_or(reduced);
        }
        if reduced.dtype() == result { Ok(reduced) } else { context.cast(&reduced, result) }
    };
    record().map(Some).map_err(to_py)
}
