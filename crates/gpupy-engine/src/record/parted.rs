//! Assignments as joins, where the old value has no elements yet, or keeps those that it has.
//!
//! The new value of a box write is the old elements around the box and the written ones, one behind the other along an
//! axis, and so for each axis that the box does not fill. If the old value is pending, nothing is stored for the sake
//! of the write, and kernels that read the new value read through the join (`schedule/walk/chain.rs`). If the old value
//! has other owners, no copy is made that would be overwritten at once.
//!
//! Not here: writes into elements without another owner, which stay assignments (`recorder.rs`).

use super::recorder::Recorder;
use crate::graph::join::Join;
use crate::graph::value::{Input, InputLayout, NodeOp, Operand, Value, ValueKind};
use crate::memory::view::View;
use crate::thresholds::T;
use gpupy_core::shape::{Shape, contiguous_strides};
use smallvec::SmallVec;
use std::ops::Range;

/// The coordinates of a box of a value, axis by axis.
type BoxRanges = SmallVec<[Range<usize>; 4]>;

impl Recorder {
    /// A value after writing an operand, which is seen over the extents of `dest`, into that view of it; `None` where
    /// it is no join.
    pub(super) fn parted(&self, old: &Value, dest: &View, source: &Operand) -> Option<Value> {
        if old.is_often_accessed(dest.size()) {
            return None;
        }
        let join = match &old.0.kind {
            ValueKind::Constant(_) => None,
            ValueKind::Expr { op: NodeOp::Join(join), .. } if !old.is_computed() => Some(join),
            ValueKind::Expr { op, .. } if !old.is_computed() && !op.stands_alone() => None,
            ValueKind::Expr { .. } | ValueKind::Host(_) | ValueKind::External(_)
                if is_most_of_what_stays(old, dest) =>
            {
                None
            }
            ValueKind::Expr { .. } | ValueKind::Host(_) | ValueKind::External(_) => return None,
        };
        let (ranges, axes) = box_of(dest, old.shape())?;
        let is_cut = |axis: &usize| ranges[*axis].len() < old.shape()[*axis];
        let cuts: SmallVec<[usize; 4]> = (0..ranges.len()).filter(is_cut).collect();
        if dest.size() < 2 || cuts.is_empty() {
            return None;
        }
        let extents: Shape = ranges.iter().map(Range::len).collect();
        let written = in_box(source, dest, &extents, &axes);
        if let (Some(join), [axis]) = (join, &cuts[..])
            && join.axis as usize == *axis
        {
            return self.replaced(old, join, (&ranges[*axis], written));
        }
        self.surrounded(old, &cuts, &ranges, written)
    }

    /// A join with the written elements in place of those between two coordinates.
    fn replaced(
        &self,
        old: &Value,
        join: &Join,
        (range, written): (&Range<usize>, Operand),
    ) -> Option<Value> {
        let mut parts = Parted::new(join.axis);
        let mut written = Some(written);
        for part in 0..join.ends.len() {
            let own = join.start(part)..join.ends[part];
            if own.start < range.start {
                parts.push(
                    of_part(old, join, part, own.start..own.end.min(range.start))?,
                    own.end.min(range.start),
                );
            }
            if own.end > range.start
                && let Some(written) = written.take()
            {
                parts.push(written, range.end);
            }
            if own.end > range.end {
                parts.push(of_part(old, join, part, own.start.max(range.end)..own.end)?, own.end);
            }
        }
        self.of_parts(old, old.shape(), parts)
    }

    /// A box with the elements of a value around it, an axis after another, from the innermost on.
    fn surrounded(
        &self,
        old: &Value,
        cuts: &[usize],
        ranges: &BoxRanges,
        mut inner: Operand,
    ) -> Option<Value> {
        let whole = View::contiguous(old.shape());
        let mut shape: Shape = ranges.iter().map(Range::len).collect();
        let mut made = None;
        for axis in cuts.iter().rev() {
            // The elements around the box along this axis: within the box along the outer axes, all of the inner ones.
            let around = |range: Range<usize>| {
                let mut view = whole.clone();
                for (k, own) in ranges.iter().enumerate() {
                    let own = match k.cmp(axis) {
                        std::cmp::Ordering::Less => own.clone(),
                        std::cmp::Ordering::Equal => range.clone(),
                        std::cmp::Ordering::Greater => continue,
                    };
                    view = view.slice_axis(k, own.start, own.len(), 1);
                }
                match old.0.kind {
                    ValueKind::Constant(scalar) => (Input::Scalar(scalar), None),
                    _ => (Input::new(old.id(), &view), Some(old.clone())),
                }
            };
            let (own, extent) = (&ranges[*axis], old.shape()[*axis]);
            let mut parts = Parted::new(*axis as u32);
            if own.start > 0 {
                parts.push(around(0..own.start), own.start);
            }
            parts.push(inner, own.end);
            if own.end < extent {
                parts.push(around(own.end..extent), extent);
            }
            shape[*axis] = extent;
            let value = self.of_parts(old, &shape, parts)?;
            inner = (Input::Whole(value.id()), Some(value.clone()));
            made = Some(value);
        }
        made
    }

    fn of_parts(&self, old: &Value, shape: &[usize], parts: Parted) -> Option<Value> {
        // A walk goes through so many; of more, each writes into its place.
        if parts.operands.len() + 2 > T.chained_parts {
            return None;
        }
        let op = NodeOp::Join(Box::new(parts.join));
        Some(Value::expr(&self.expressions, old.dtype(), shape.into(), op, parts.operands))
    }
}

/// Whether so little is left of a value around a view of it that it may as well be copied, as others want the elements
/// that it has.
fn is_most_of_what_stays(old: &Value, dest: &View) -> bool {
    let around = old.len().saturating_sub(dest.size());
    old.is_shared() && around.saturating_mul(T.left_part) <= old.len()
}

/// A join that is being made.
struct Parted {
    join: Join,
    operands: SmallVec<[Operand; 3]>,
}

impl Parted {
    fn new(axis: u32) -> Parted {
        Parted { join: Join { axis, ends: SmallVec::new() }, operands: SmallVec::new() }
    }

    fn push(&mut self, part: Operand, end: usize) {
        self.join.ends.push(end);
        self.operands.push(part);
    }
}

/// The elements of a part of a joined value between two coordinates; `None` where they are not known any more.
fn of_part(old: &Value, join: &Join, part: usize, range: Range<usize>) -> Option<Operand> {
    let ValueKind::Expr { inputs, .. } = &old.0.kind else { return None };
    let operand = old.state().operands.get(part)?.clone();
    let input = match (&inputs[part], &operand) {
        (Input::Scalar(scalar), _) => Input::Scalar(*scalar),
        (input, Some(operand)) => {
            let shape = join.shape(part, old.shape());
            let layout = input.layout(&shape);
            let view = View { offset: layout.offset, shape, strides: layout.strides };
            let start = range.start - join.start(part);
            Input::new(operand.id(), &view.slice_axis(join.axis as usize, start, range.len(), 1))
        }
        (_, None) => return None,
    };
    Some((input, operand))
}

/// An axis of a view that goes along an axis of a value, and whether it goes backwards.
type Along = Option<(usize, bool)>;

/// The coordinates that a view of a value shows, if they are a box of it in any order, and which of its axes goes along
/// each axis of the value.
fn box_of(view: &View, shape: &[usize]) -> Option<(BoxRanges, SmallVec<[Along; 4]>)> {
    let steps = contiguous_strides(shape);
    let mut first = view.offset;
    for (extent, stride) in view.shape.iter().zip(&view.strides) {
        first += (*stride).min(0) * (*extent as isize - 1).max(0);
    }
    let mut rest = usize::try_from(first).ok()?;
    let mut ranges = BoxRanges::new();
    for step in &steps {
        let start = rest / *step as usize;
        rest %= *step as usize;
        ranges.push(start..start + 1);
    }
    let mut axes: SmallVec<[Along; 4]> = SmallVec::from_elem(None, shape.len());
    for (own, (extent, stride)) in view.shape.iter().zip(&view.strides).enumerate() {
        if *extent == 1 {
            continue;
        }
        let is_along = |axis: &usize| shape[*axis] > 1 && steps[*axis] == stride.abs();
        let axis = (0..shape.len()).find(is_along).filter(|axis| axes[*axis].is_none())?;
        ranges[axis].end = ranges[axis].start + extent;
        axes[axis] = Some((own, *stride < 0));
    }
    let is_inside = ranges.iter().zip(shape).all(|(range, extent)| range.end <= *extent);
    is_inside.then_some((ranges, axes))
}

/// An operand that is seen over the extents of a view, seen over those of the box that this shows.
fn in_box((input, value): &Operand, dest: &View, extents: &[usize], axes: &[Along]) -> Operand {
    let input = match value {
        None => input.clone(),
        Some(value) => {
            let InputLayout { mut offset, strides } = input.layout(&dest.shape);
            let mut of = |(axis, along): (usize, &Along)| match along {
                Some((own, true)) => {
                    offset += strides[*own] * (extents[axis] as isize - 1);
                    -strides[*own]
                }
                Some((own, false)) => strides[*own],
                None => 0,
            };
            let strides = axes.iter().enumerate().map(&mut of).collect();
            Input::new(value.id(), &View { offset, shape: extents.into(), strides })
        }
    };
    (input, value.clone())
}
