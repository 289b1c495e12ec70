//! What is needed of each pending value: the positions that the wanted ones read of it, in the end.
//!
//! Owns [`needed`], one pass from the wanted values to their operands. Invariant: what is read lies within what is said
//! here, which may be more: positions are one range, and of joined values and of those that a number chooses all are.
//!
//! Not here: which tiles are computed (`walk/`).

use super::demand::Demand;
use super::pending_graph::{InputSource, PendingGraph};
use crate::graph::value::{Input, InputLayout, NodeOp, Value, ValueKind};
use crate::memory::access::{access, reach};
use gpupy_core::shape::Shape;
use std::ops::Range;

/// The positions of each value that are needed; none of a value that nothing reads.
pub(super) fn needed(demand: &Demand<'_>, below: &PendingGraph) -> Vec<Range<usize>> {
    let mut needed = vec![0..0; below.values.len()];
    for (place, value) in demand.wanted().enumerate() {
        if let Some(number) = below.number(value.id()) {
            let range = if place == 0 { demand.range.clone() } else { 0..value.len() };
            widen(&mut needed[number as usize], range);
        }
    }
    for number in (0..below.values.len()).rev() {
        let range = needed[number].clone();
        let value = &below.values[number];
        let ValueKind::Expr { op, inputs } = &value.0.kind else { continue };
        if range.is_empty() {
            continue;
        }
        for (place, (input, source)) in inputs.iter().zip(&below.reads[number]).enumerate() {
            if let InputSource::Pending(operand) = source {
                let all = below.values[*operand as usize].len();
                let reads = read(value, op, (place, input), range.clone()).unwrap_or(0..all);
                widen(&mut needed[*operand as usize], reads.start..reads.end.min(all));
            }
        }
    }
    needed
}

/// The positions of an input that these of a value read; nothing where that may be any.
fn read(
    value: &Value,
    op: &NodeOp,
    (place, input): (usize, &Input),
    range: Range<usize>,
) -> Option<Range<usize>> {
    let mut shape = Shape::from_slice(value.shape());
    let (shape, range) = match op {
        NodeOp::Apply(_) | NodeOp::Call(_) => (shape, range),
        NodeOp::Gather if place == 0 => (shape, range),
        NodeOp::Assign(_) if place == 0 => (shape, range),
        NodeOp::Assign(view) => (view.shape.clone(), 0..view.size()),
        NodeOp::Reduce { n, .. } => {
            shape.push(*n);
            (shape, range.start * n..range.end * n)
        }
        _ => return None,
    };
    match input {
        Input::Scalar(_) => Some(0..0),
        Input::Whole(_) => Some(range),
        Input::View(_, layout) => Some(through(layout, shape, &range)),
    }
}

/// The positions that a view of this shape shows at these of its own.
fn through(layout: &InputLayout, mut shape: Shape, range: &Range<usize>) -> Range<usize> {
    if range.is_empty() {
        return 0..0;
    }
    let mut at = access(layout.offset, &layout.strides);
    let row: usize = shape.iter().skip(1).product();
    if let Some(extent) = shape.first_mut() {
        let first = range.start / row;
        *extent = range.end.div_ceil(row) - first;
        at.offset += at.strides[0] * first as i64;
    }
    reach(&at, &shape)
}

fn widen(all: &mut Range<usize>, more: Range<usize>) {
    if all.start == all.end {
        *all = more;
    } else if more.start < more.end {
        *all = all.start.min(more.start)..all.end.max(more.end);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::array::base::{Array, ArrayOrScalar};
    use crate::record::recorder::Recorder;
    use gpupy_core::DType;
    use gpupy_core::op::Op;

    fn add(recorder: &Recorder, array: &Array, other: &Array) -> Array {
        let args = [ArrayOrScalar::Array(array), ArrayOrScalar::Array(other)];
        recorder.apply(Op::Add, &args).unwrap()
    }

    /// What is needed of a value below one, of which a range is wanted.
    fn of(value: &Array, wanted: &Array, range: Range<usize>) -> Range<usize> {
        let (value, wanted) = (value.value().unwrap(), wanted.value().unwrap());
        let demand = Demand::of(&wanted, range);
        let below = PendingGraph::of(&demand);
        needed(&demand, &below)[below.number(value.id()).unwrap() as usize].clone()
    }

    #[test]
    fn it_is_what_is_read_in_the_end() {
        let recorder = Recorder::default();
        let bytes = vec![0; 4 * 1000];
        let given = Array::from_bytes(DType::F32, &[100, 10], &bytes).unwrap();
        let x = add(&recorder, &given, &given);
        let same = add(&recorder, &x, &x);
        assert_eq!(of(&x, &same, 30..70), 30..70);
        let rows = x.slice_axis(0, 10, 20, 1);
        let rows = add(&recorder, &rows, &rows);
        assert_eq!(of(&x, &rows, 0..200), 100..300);
        assert_eq!(of(&x, &rows, 25..31), 120..140, "whole rows");
        let back = x.slice_axis(0, 99, 50, -2);
        let back = add(&recorder, &back, &back);
        assert_eq!(of(&x, &back, 0..20), 970..1000);
        let columns = x.slice_axis(1, 2, 3, 1);
        let columns = add(&recorder, &columns, &columns);
        assert_eq!(of(&x, &columns, 0..300), 2..995);
        let sums = recorder.reduce(Op::Add, &x, &[1], false).unwrap();
        assert_eq!(of(&x, &sums, 7..9), 70..90);
        let all = recorder.reduce(Op::Add, &x, &[0, 1], false).unwrap();
        assert_eq!(of(&x, &all, 0..1), 0..1000);
    }

    #[test]
    fn of_several_readers_it_is_what_any_reads() {
        let recorder = Recorder::default();
        let given = Array::from_bytes(DType::F32, &[1000], &vec![0; 4 * 1000]).unwrap();
        let x = add(&recorder, &given, &given);
        let mut y = x.clone();
        for len in (900..1000).rev() {
            y = add(&recorder, &y.slice_axis(0, 0, len, 1), &y.slice_axis(0, 1, len, 1));
        }
        assert_eq!(of(&x, &y, 10..20), 10..120, "a position more at each turn");
    }
}
