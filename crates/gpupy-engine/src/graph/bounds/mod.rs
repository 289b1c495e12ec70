//! Range analysis of values: the interval in which all elements of a value lie, found without computing it.
//!
//! Owns [`bounds`], an interval analysis down to the computed values. It proves most indices inside their axes, so that
//! an index need not be computed at the line that uses it. Invariants: every element of a value is within its bounds,
//! on every driver; bounds are kept with their value, so that a graph is traversed once; graphs of any depth take a
//! loop.
//!
//! Not here: interval arithmetic (`interval.rs`), the error for an index outside (`fancy_index.rs`).

#[cfg(test)]
mod tests;

use crate::graph::interval::{self, Bounds};

use crate::graph::library_op::LibraryOp;
use crate::graph::value::{Input, NodeOp, Value, ValueKind};
use crate::thresholds::T;
use gpupy_core::DType;
use gpupy_core::op::Op;
use smallvec::SmallVec;

/// Bounds of every element of a value. They only say something of integers, bools, float32 and
/// float64.
pub(crate) fn bounds(value: &Value) -> Bounds {
    let mut stack = vec![value.clone()];
    let mut found = None;
    while let Some(top) = stack.last().cloned() {
        found = known(&top);
        if found.is_some() {
            stack.pop();
            continue;
        }
        let operands = top.state().operands.clone();
        let before = stack.len();
        let telling = operands.iter().enumerate().filter(|(number, _)| tells(&top, *number));
        let telling = telling.filter_map(|(_, operand)| operand.as_ref());
        stack.extend(telling.filter(|operand| known(operand).is_none()).cloned());
        if stack.len() == before {
            let all = of_expression(&top, &operands, &mut known);
            top.state().bounds = Some(Box::new(all));
        }
    }
    found.unwrap_or_else(|| Bounds::of_dtype(value.dtype()))
}

/// Bounds of every element of a value, found without reading one: from a few operations that are
/// pending, and from their indices and scalars. Nothing is kept, as reading elements may tell more.
pub(crate) fn without_reading(value: &Value) -> Bounds {
    fn below(value: &Value, left: &mut u32) -> Bounds {
        if let ValueKind::Constant(scalar) = value.0.kind {
            return Bounds::of_scalar(scalar);
        }
        let state = value.state();
        if let Some(found) = state.bounds.as_deref() {
            return *found;
        }
        let operands = state.operands.clone();
        drop(state);
        if *left == 0 {
            return Bounds::of_dtype(value.dtype());
        }
        *left -= 1;
        of_expression(value, &operands, &mut |operand| Some(below(operand, left)))
    }
    let mut left = T.bounds_while_recording;
    below(value, &mut left)
}

/// The bounds of a value that was looked at before, or is computed.
fn known(value: &Value) -> Option<Bounds> {
    if let ValueKind::Constant(scalar) = value.0.kind {
        return Some(Bounds::of_scalar(scalar));
    }
    if let Some(found) = value.state().bounds.as_deref() {
        return Some(*found);
    }
    if !value.is_computed() {
        return None;
    }
    Some(of_host(value).unwrap_or_else(|| Bounds::of_dtype(value.dtype())))
}

/// The least and the greatest element of a value that is wholly in host memory.
pub(crate) fn of_host(value: &Value) -> Option<Bounds> {
    let found = Bounds::of_elements(value.dtype(), &value.host_slice(0..value.len())?)?;
    value.state().bounds = Some(Box::new(found));
    Some(found)
}

/// The bounds of a pending expression from those of its operands.
fn of_expression(
    value: &Value,
    operands: &[Option<Value>],
    bounds_of: &mut dyn FnMut(&Value) -> Option<Bounds>,
) -> Bounds {
    let everything = Bounds::of_dtype(value.dtype());
    let ValueKind::Expr { op, inputs } = &value.0.kind else { return everything };
    if operands.len() != inputs.len() {
        return everything;
    }
    let given: SmallVec<[(Bounds, DType); 3]> = inputs
        .iter()
        .zip(operands)
        .enumerate()
        .map(|(number, (input, operand))| match (input, operand) {
            (Input::Scalar(scalar), _) => (Bounds::of_scalar(*scalar), scalar.dtype),
            (_, Some(operand)) => {
                let found = if tells(value, number) { bounds_of(operand) } else { None };
                (found.unwrap_or_else(|| Bounds::of_dtype(operand.dtype())), operand.dtype())
            }
            (_, None) => (everything, value.dtype()),
        })
        .collect();
    let union = || {
        let all = given.iter().map(|(bounds, _)| *bounds);
        all.reduce(Bounds::union).unwrap_or(everything)
    };
    match op {
        NodeOp::Index(axis) => up_to(value.shape().get(*axis as usize)),
        NodeOp::Apply(op) => interval::apply(*op, value.dtype(), &given),
        NodeOp::Reduce { op: op @ (Op::Min | Op::Max), .. } => {
            interval::apply(*op, value.dtype(), &[given[0], given[0]])
        }
        NodeOp::Join(_) | NodeOp::Assign(_) => union(),
        NodeOp::Scatter(_) => given[0].0.union(given[2].0),
        NodeOp::Gather => given[1].0,
        NodeOp::Whole(LibraryOp::Sort) => given[0].0,
        NodeOp::Whole(LibraryOp::ArgSort) => up_to(value.shape().last()),
        // Positions know theirs from the first.
        NodeOp::Reduce { .. }
        | NodeOp::InPieces(_)
        | NodeOp::Whole(_)
        | NodeOp::WhereTrue
        | NodeOp::Call(_)
        | NodeOp::Deferred(_)
        | NodeOp::Argument => everything,
    }
}

/// Whether the bounds of an expression's operand say anything of its own. What chooses, as an extreme among many values
/// that chooses its place, does not, and is not looked at.
fn tells(value: &Value, operand: usize) -> bool {
    let ValueKind::Expr { op, .. } = &value.0.kind else { return false };
    if value.dtype() == DType::Bool {
        return false;
    }
    match op {
        NodeOp::Apply(Op::Select) => operand != 0,
        NodeOp::Apply(_) | NodeOp::Join(_) | NodeOp::Assign(_) => true,
        NodeOp::Reduce { op, .. } => matches!(op, Op::Min | Op::Max),
        NodeOp::Scatter(_) => operand != 1,
        NodeOp::Gather => operand == 1,
        NodeOp::Whole(op) => *op == LibraryOp::Sort,
        _ => false,
    }
}

/// The bounds of coordinates along an axis.
fn up_to(extent: Option<&usize>) -> Bounds {
    Bounds::Whole { low: 0, high: extent.map_or(0, |extent| extent.saturating_sub(1)) as i128 }
}
