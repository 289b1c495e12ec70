//! What the points of a part read: of the operands of a map, of the part of a join, of a write and what it left.
//!
//! Owns [`PartOperands`], [`Seen`] and [`part_operands`]. Points are taken through an operation as long as their
//! coordinates stay affine. Invariant: the operands give the elements of the value at these points, to the bit.
//!
//! Not here: what is recorded of them (`part_recording.rs`).

use crate::graph::join::Join;
use crate::graph::value::{NodeOp, Operand, Value, ValueKind};
use crate::memory::access::{self, Coordinates, gcd, moving, span};
use crate::memory::view::View;
use gpupy_core::driver::Access;
use gpupy_core::shape::{Shape, contiguous_strides};
use smallvec::SmallVec;
use std::ops::Range;

/// The elements of a value at these positions, as a value of these extents.
#[derive(Clone)]
pub(super) struct Seen {
    pub value: Value,
    pub at: Access,
    pub space: Shape,
}

/// An operand at the points of a part: elements of a value, or a scalar.
pub(super) enum PartOperand {
    Read(Seen),
    Known(Operand),
}

/// What gives the elements of a part.
pub(super) enum PartOperands {
    /// An operand alone.
    Same(PartOperand),
    /// An operation on operands.
    Of(NodeOp, Vec<PartOperand>),
}

/// What gives elements of a pending value; `None` where that is the value alone.
pub(super) fn part_operands(seen: &Seen) -> Option<PartOperands> {
    let ValueKind::Expr { op, inputs } = &seen.value.0.kind else { return None };
    if seen.value.is_computed() {
        return None;
    }
    let operands = seen.value.state().operands.clone();
    if operands.len() != inputs.len() {
        return None;
    }
    let operands = || inputs.iter().cloned().zip(operands.iter().cloned());
    let there = access::coordinates(&seen.at, &seen.space, seen.value.shape())?;
    match op {
        NodeOp::Apply(_) | NodeOp::Call(_) => {
            let shape = seen.value.shape();
            let read = operands().map(|operand| through(operand, shape, &there, &seen.space));
            Some(PartOperands::Of(op.clone(), read.collect()))
        }
        NodeOp::Join(join) => of_join(seen, join, &operands().collect::<Vec<_>>(), &there),
        NodeOp::Assign(dest) => {
            let mut operands = operands();
            of_write(seen, dest, (operands.next()?, operands.next()?), &there)
        }
        _ => None,
    }
}

/// An operand, seen over these extents, at coordinates in them.
fn through(
    (input, value): Operand,
    shape: &[usize],
    coordinates: &[Access],
    space: &[usize],
) -> PartOperand {
    let Some(value) = value else { return PartOperand::Known((input, None)) };
    let layout = input.layout(shape);
    let at = access::through(layout.offset, &layout.strides, coordinates, space.len());
    PartOperand::Read(Seen { value, at, space: space.into() })
}

/// A coordinate that at most one axis of the points moves.
#[derive(Clone, Copy)]
struct Line {
    /// The axis of the points, and the step for one point.
    along: Option<(usize, i64)>,
    from: i64,
}

impl Line {
    fn of(coordinate: &Access, space: &[usize]) -> Option<Line> {
        let mut moving = moving(coordinate, space);
        let (along, from) = (moving.next(), coordinate.offset);
        moving.next().is_none().then_some(Line { along, from })
    }

    fn step(&self) -> i64 {
        self.along.map_or(0, |(_, step)| step)
    }

    fn points(&self, space: &[usize]) -> i64 {
        self.along.map_or(1, |(axis, _)| space[axis] as i64)
    }
}

/// Elements of a join: those of one of its parts, or the same join of less.
fn of_join(
    seen: &Seen,
    join: &Join,
    operands: &[Operand],
    there: &Coordinates,
) -> Option<PartOperands> {
    let (axis, shape, space) = (join.axis as usize, seen.value.shape(), &seen.space);
    let (low, high) = span(there.get(axis)?, space);
    let part_at = |within: &Coordinates, points: &[usize], part: usize| {
        let mut within = within.clone();
        within[axis].offset -= join.start(part) as i64;
        let operand = operands.get(part)?.clone();
        Some(through(operand, &join.shape(part, shape), &within, points))
    };
    let first = join.ends.iter().position(|end| low < *end as i64)?;
    if high < join.ends[first] as i64 {
        return Some(PartOperands::Same(part_at(there, space, first)?));
    }
    let line = Line::of(&there[axis], space)?;
    let (along, step) = line.along?;
    let mut parts: SmallVec<[usize; 4]> = (first..join.ends.len()).collect();
    if step < 0 {
        parts = (0..join.ends.len()).rev().collect();
    }
    let mut read = Vec::new();
    let mut among = Join { axis: along as u32, ends: SmallVec::new() };
    let mut begun = 0;
    for part in parts {
        let end = match step > 0 {
            true => ceiling(join.ends[part] as i64 - line.from, step),
            false => ceiling(line.from - join.start(part) as i64 + 1, -step),
        };
        let end = end.min(space[along] as i64);
        if end <= begun {
            continue;
        }
        let (mut within, mut points) = (there.clone(), space.clone());
        points[along] = (end - begun) as usize;
        for coordinate in &mut within {
            coordinate.offset += coordinate.strides[along] * begun;
        }
        read.push(part_at(&within, &points, part)?);
        among.ends.push(end as usize);
        begun = end;
    }
    Some(PartOperands::Of(NodeOp::Join(Box::new(among)), read))
}

/// Elements of a value after a write: those that were there at points that it does not reach, the written ones where it
/// reaches all, or the same write to the part. `None` where the old value has its elements, which a write takes over.
fn of_write(
    seen: &Seen,
    dest: &View,
    (old, source): (Operand, Operand),
    there: &Coordinates,
) -> Option<PartOperands> {
    let (shape, space) = (seen.value.shape(), &seen.space);
    let before = old.1.as_ref()?;
    if before.is_computed() && !matches!(before.0.kind, ValueKind::Constant(_)) {
        return None;
    }
    let kept = through(old, shape, there, space);
    let written = access::access(dest.offset, &dest.strides);
    let written = access::coordinates(&written, &dest.shape, shape)?;
    if dest.size() == 0 || access::are_apart((there, space), (&written, &dest.shape)) {
        return Some(PartOperands::Same(kept));
    }
    let all = |extent: &usize| Reached { from: 0, step: 1, count: *extent as i64 };
    let mut reached: SmallVec<[Reached; 4]> = space.iter().map(all).collect();
    // The coordinates of the written elements, as functions of the points that are reached.
    let none = || Access { offset: 0, strides: SmallVec::from_elem(0, space.len()) };
    let mut own: Coordinates = (0..dest.shape.len()).map(|_| none()).collect();
    let mut met = (SmallVec::<[usize; 4]>::new(), SmallVec::<[usize; 4]>::new());
    for (point, target) in there.iter().zip(&written) {
        let (point, target) = (Line::of(point, space)?, Line::of(target, &dest.shape)?);
        let meeting = Meeting::of((point, space), (target, &dest.shape));
        let axes = (point.along.map(|(axis, _)| axis), target.along.map(|(axis, _)| axis));
        if let Some(axis) = axes.1 {
            own[axis].offset = meeting.own;
            if let Some(point) = axes.0 {
                own[axis].strides[point] = meeting.step;
            }
        }
        if let Some(axis) = axes.0 {
            reached[axis] = meeting.reached;
        }
        // An axis goes along one alone.
        let is_again = axes.0.is_some_and(|axis| met.0.contains(&axis))
            || axes.1.is_some_and(|axis| met.1.contains(&axis));
        if is_again {
            return None;
        }
        met.0.extend(axes.0);
        met.1.extend(axes.1);
    }
    let is_met = |(axis, extent): (usize, &usize)| *extent == 1 || met.1.contains(&axis);
    if !dest.shape.iter().enumerate().all(is_met) {
        return None;
    }
    if reached.iter().any(|reached| reached.count == 0) {
        return Some(PartOperands::Same(kept));
    }
    let points: Shape = reached.iter().map(|reached| reached.count as usize).collect();
    let source = through(source, &dest.shape, &own, &points);
    if points == *space {
        return Some(PartOperands::Same(source));
    }
    let mut view = View { offset: 0, shape: points, strides: contiguous_strides(space) };
    for (stride, reached) in view.strides.iter_mut().zip(&reached) {
        view.offset += *stride * reached.from as isize;
        *stride *= reached.step as isize;
    }
    Some(PartOperands::Of(NodeOp::Assign(Box::new(view)), vec![kept, source]))
}

/// The points of an axis that a write reaches.
struct Reached {
    from: i64,
    step: i64,
    count: i64,
}

/// Where the line of a part meets that of a write.
struct Meeting {
    reached: Reached,
    /// Which of the written elements the first point is, and how many elements the next one is behind it.
    own: i64,
    step: i64,
}

impl Meeting {
    /// They are not beside each other.
    fn of((point, space): (Line, &[usize]), (target, extents): (Line, &[usize])) -> Meeting {
        let (step, of_target) = (point.step(), target.step());
        let gap = target.from - point.from;
        let one = |from| Reached { from, step: 1, count: 1 };
        match (step, of_target) {
            (0, 0) => Meeting { reached: one(0), own: 0, step: 0 },
            (0, of) => Meeting { reached: one(0), own: -gap / of, step: 0 },
            (step, 0) => Meeting { reached: one(gap / step), own: 0, step: 0 },
            (step, of) => {
                // Every so many points one is an element, from the first that is an element of a longer line.
                let common = gcd(step.unsigned_abs(), of.unsigned_abs()) as i64;
                let every = of.abs() / common;
                let first = congruent(step / common, gap / common, every);
                let (at, slope) = ((step * first - gap) / of, step / common * of.signum());
                let most = ceiling(point.points(space) - first, every).max(0);
                let range = inside(at, slope, target.points(extents), most);
                let (from, count) = (first + every * range.start, range.end - range.start);
                let reached = Reached { from, step: every, count };
                Meeting { reached, own: at + slope * range.start, step: slope }
            }
        }
    }
}

/// The least number that has this remainder after multiplication by `factor`, which has no divisor in common with the
/// modulus.
fn congruent(factor: i64, remainder: i64, modulus: i64) -> i64 {
    let (modulus, mut inverse) = (i128::from(modulus), (0i128, 1i128));
    let (mut rest, mut next) = (modulus, i128::from(factor).rem_euclid(modulus));
    while next != 0 {
        let quotient = rest / next;
        inverse = (inverse.1, inverse.0 - quotient * inverse.1);
        (rest, next) = (next, rest - quotient * next);
    }
    (inverse.0 * i128::from(remainder)).rem_euclid(modulus) as i64
}

/// The numbers below `most` for which `at + slope * number` is one below `extent`; `slope` is not 0.
fn inside(at: i64, slope: i64, extent: i64, most: i64) -> Range<i64> {
    let (start, end) = match slope > 0 {
        true => (ceiling(-at, slope), ceiling(extent - at, slope)),
        false => (ceiling(at - extent + 1, -slope), ceiling(at + 1, -slope)),
    };
    let start = start.clamp(0, most);
    start..end.clamp(start, most)
}

/// The least number that is no less than the quotient; `by` is above 0.
fn ceiling(number: i64, by: i64) -> i64 {
    -(-number).div_euclid(by)
}
