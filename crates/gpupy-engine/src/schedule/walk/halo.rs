//! Halos (ghost cells): copies of rotated values, with a margin that wraps around their ends.
//!
//! A rotation (`roll`) is a join of two views of one value for each axis. A map that reads it is split into boxes where
//! the parts end. A reduction cannot be split so, as a row that it combines may lie in several parts. It reads a copy
//! of the value that goes on for some elements behind each end, as the parts of a grid on several computers do: there,
//! every rotation by no more than the margin is an affine access. So one copy serves all shifts of a search.
//!
//! Owns [`Rotation`] and [`Halos`]. Invariants: a halo lives no longer than the evaluation that made it; it is one
//! tile; no pause follows it before something is computed from it, which the next slice finds.
//!
//! Not here: where a walk meets a join (`walk/mod.rs`), boxes (`steps/boxes.rs`).

use crate::graph::join::Join;
use crate::graph::value::{Input, NodeOp, Operand, Value, ValueKind};
use crate::memory::access::{self, Coordinates};
use crate::memory::view::View;
use crate::thresholds::T;
use gpupy_core::driver::Access;
use gpupy_core::shape::{Shape, contiguous_strides};
use smallvec::{SmallVec, smallvec};
use std::cell::RefCell;

/// A value that is another one with its elements moved on along the axes, and around their ends.
pub(crate) struct Rotation {
    pub of: Value,
    /// How far, along each axis; at most half of its extent either way.
    shifts: SmallVec<[i64; 4]>,
}

impl Rotation {
    /// The rotation that a value is of one that is there.
    pub fn found(value: &Value, is_there: impl Fn(&Value) -> bool) -> Option<Rotation> {
        let mut shifts: SmallVec<[i64; 4]> = SmallVec::from_elem(0, value.shape().len());
        let mut of = value.clone();
        while !is_there(&of) {
            let (axis, by, from) = turned(&of)?;
            let extent = of.shape()[axis] as i64;
            let moved = (shifts[axis] + by as i64) % extent;
            shifts[axis] = if moved > extent / 2 { moved - extent } else { moved };
            of = from;
        }
        Some(Rotation { of, shifts })
    }

    /// The margins that a copy has for it: at least `known`. `None` where they would be much of it.
    fn margins(&self, known: Option<&[usize]>) -> Option<Shape> {
        let mut margins = known.map_or_else(|| Shape::from_elem(0, self.shifts.len()), Shape::from);
        for ((margin, shift), extent) in margins.iter_mut().zip(&self.shifts).zip(self.of.shape()) {
            let wanted = shift.unsigned_abs() as usize;
            if wanted > *margin {
                *margin = wanted.next_power_of_two().max(T.halo_narrowest);
                if *margin > extent / T.halo_part {
                    return None;
                }
            }
        }
        Some(margins)
    }
}

/// The axis along which an expression moves the elements of one value, by how many, and that value.
fn turned(value: &Value) -> Option<(usize, usize, Value)> {
    let ValueKind::Expr { op: NodeOp::Join(join), inputs } = &value.0.kind else { return None };
    let [by, extent] = join.ends[..] else { return None };
    let operands = value.state().operands.clone();
    let [Some(first), Some(second)] = &operands[..] else { return None };
    let axis = join.axis as usize;
    if first.id() != second.id() || first.shape() != value.shape() {
        return None;
    }
    let strides = contiguous_strides(value.shape());
    let starts = [(extent - by) as isize * strides[axis], 0];
    let is_part = |part: usize| {
        let shape = join.shape(part, value.shape());
        let layout = inputs[part].layout(&shape);
        let is_alike =
            |((own, wanted), extent): ((&isize, &isize), &usize)| own == wanted || *extent == 1;
        layout.offset == starts[part]
            && layout.strides.iter().zip(&strides).zip(&shape).all(is_alike)
    };
    (is_part(0) && is_part(1)).then(|| (axis, by, first.clone()))
}

/// A copy, and how far it goes on before the first and behind the last element along each axis.
struct Halo {
    of: Value,
    copy: Value,
    margins: Shape,
}

/// The halos of an evaluation, and of paused ones.
#[derive(Default)]
pub(crate) struct Halos(RefCell<Vec<Halo>>);

impl Halos {
    /// The halo in which a rotation lies, not necessarily computed, and the access to it at coordinates of the
    /// rotation, over a space of this rank. `None` where the copy would be no single tile, or much longer than the
    /// value.
    pub fn find(
        &self,
        rotation: &Rotation,
        at: &Coordinates,
        rank: usize,
        is_one_tile: impl Fn(&[usize]) -> bool,
    ) -> Option<(Value, Access)> {
        let mut halos = self.0.borrow_mut();
        let known = halos.iter().position(|halo| halo.of.id() == rotation.of.id());
        let margins = rotation.margins(known.map(|number| &halos[number].margins[..]))?;
        let number = match known {
            Some(number) if halos[number].margins == margins => number,
            _ => {
                let copy = extended(&rotation.of, &margins);
                if !is_one_tile(copy.shape()) {
                    return None;
                }
                halos.push(Halo { of: rotation.of.clone(), copy, margins });
                let last = halos.len() - 1;
                known.map_or(last, |old| {
                    halos.swap_remove(old);
                    old
                })
            }
        };
        let Halo { copy, margins, .. } = &halos[number];
        let mut moved = at.clone();
        for ((coordinate, shift), margin) in moved.iter_mut().zip(&rotation.shifts).zip(margins) {
            coordinate.offset += *margin as i64 - shift;
        }
        let access = access::through(0, &contiguous_strides(copy.shape()), &moved, rank);
        Some((copy.clone(), access))
    }

    /// Whether a value is a halo.
    pub fn has(&self, value: &Value) -> bool {
        self.0.borrow().iter().any(|halo| halo.copy.id() == value.id())
    }
}

/// A value, extended around its ends by a margin along each axis. Its rank is behind the value's and before those of
/// the rotations, which read it.
fn extended(value: &Value, margins: &[usize]) -> Value {
    let mut whole = value.clone();
    let place = value.order().0 + 1;
    for (axis, margin) in margins.iter().enumerate().filter(|(_, margin)| **margin > 0) {
        let view = View::contiguous(whole.shape());
        let extent = whole.shape()[axis];
        let part = |start, n| -> Operand {
            (Input::new(whole.id(), &view.slice_axis(axis, start, n, 1)), Some(whole.clone()))
        };
        let operands = smallvec![part(extent - margin, *margin), part(0, extent), part(0, *margin)];
        let ends = smallvec![*margin, margin + extent, extent + 2 * margin];
        let mut shape = Shape::from(whole.shape());
        shape[axis] += 2 * margin;
        let op = NodeOp::Join(Box::new(Join { axis: axis as u32, ends }));
        whole = Value::within((place, axis as u32), value.dtype(), shape, op, operands);
    }
    whole
}
