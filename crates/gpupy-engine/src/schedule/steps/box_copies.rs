//! Copies among boxes: boxes of one value whose elements lie in it as in the tile become one copy of the whole tile.
//! The other boxes are written over it, where that is less work than their launches.
//!
//! Not here: which boxes there are (`boxes.rs`).

use super::walked_box::WalkedBox;
use crate::graph::value::Value;
use crate::schedule::cost;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::walk::{Applied, Child, FusionWalk, Role, Start};
use gpupy_core::driver::Access;
use gpupy_core::op::Op;
use gpupy_core::shape::size_of;
use gpupy_core::{Result, Scalar};

/// The source of a box that is a copy.
enum Copied {
    Constant(Scalar),
    /// A value's elements, so many positions behind those in the tile.
    Moved(Value, i64),
}

impl Copied {
    /// The source of a walk that copies into a place of a tile; `None` where it computes, or elements change their
    /// order.
    fn of(walk: &FusionWalk, place: &Access) -> Option<Copied> {
        let mut child = *walk.roots.first()?;
        loop {
            let node = match child {
                Child::Scalar(scalar) => return Some(Copied::Constant(scalar)),
                Child::Node(node) => &walk.nodes[node as usize],
            };
            match &node.role {
                Role::Leaf => {
                    let mut steps = node.access.strides.iter().zip(&place.strides);
                    let is_moved = walk.space.iter().all(|extent| {
                        let steps = steps.next();
                        *extent == 1 || steps.is_some_and(|(own, wanted)| own == wanted)
                    });
                    let by = node.access.offset - place.offset;
                    return is_moved.then(|| Copied::Moved(node.value.clone(), by));
                }
                // What a join reads is cast to its own dtype; other casts compute.
                Role::Apply(Applied::Op(Op::Cast), operands) => {
                    child = *operands.first()?;
                    let from = match child {
                        Child::Scalar(scalar) => scalar.dtype,
                        Child::Node(operand) => walk.nodes[operand as usize].value.dtype(),
                    };
                    if from != node.value.dtype() {
                        return None;
                    }
                }
                Role::Table | Role::Index(_) | Role::Apply(..) => return None,
            }
        }
    }

    fn is(&self, other: &Copied) -> bool {
        match (self, other) {
            (Copied::Constant(own), Copied::Constant(other)) => own == other,
            (Copied::Moved(own, by), Copied::Moved(other, other_by)) => {
                own.id() == other.id() && by == other_by
            }
            (Copied::Constant(_), Copied::Moved(..)) | (Copied::Moved(..), Copied::Constant(_)) => {
                false
            }
        }
    }
}

/// The boxes of a tile with these walks and places, with the copies of one value as one, before the others.
///
/// # Errors
/// As of a walk.
pub(super) fn as_one(
    device: &OpenDevice,
    whole: &Access,
    space: &[usize],
    mut boxes: Vec<WalkedBox>,
) -> Result<Vec<WalkedBox>> {
    let copied: Vec<Option<Copied>> =
        boxes.iter().map(|own| Copied::of(&own.walk, &own.place)).collect();
    let count = |one: &Copied| copied.iter().flatten().filter(|other| one.is(other)).count();
    let Some(most) = copied.iter().flatten().max_by_key(|one| count(one)) else { return Ok(boxes) };
    let points = size_of(space);
    let is_inside = match most {
        Copied::Constant(_) => true,
        Copied::Moved(value, by) => *by >= 0 && *by as usize + points <= value.len(),
    };
    if !is_inside || !cost::is_copied_whole(points, count(most), &device.caps) {
        return Ok(boxes);
    }
    let mut at = whole.clone();
    let start = match most {
        Copied::Constant(scalar) => Start::Scalar(*scalar),
        Copied::Moved(value, by) => {
            at.offset += by;
            Start::Value(value)
        }
    };
    let walk = FusionWalk::new(device, &[start], at, space.into())?;
    let mut is_other = copied.iter().map(|one| !one.as_ref().is_some_and(|one| one.is(most)));
    boxes.retain(|_| is_other.next().unwrap_or(true));
    boxes.insert(0, WalkedBox { walk, at: None, place: whole.clone() });
    Ok(boxes)
}
