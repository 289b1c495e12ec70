//! Joins: values made of parts, one behind the other along an axis.
//!
//! Owns [`Join`]. Concatenations are joins of views. So are shifts whose boundary wraps around, repeats or mirrors
//! (Accelerator, section 5.2). A join is never stored for its own sake. A kernel whose points all lie in one part reads
//! that part with an affine access; an evaluation that meets the end of a part is split there (`boxes.rs`).
//!
//! Not here: how arrays are joined (`record/join_recording.rs`), which points a kernel walks over (`walk/mod.rs`).

use crate::graph::value::{Input, NodeOp, Operand, Value, ValueKind};
use gpupy_core::driver::Access;
use gpupy_core::shape::{Shape, size_of};
use smallvec::SmallVec;

/// Where the parts of a joined value end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Join {
    /// The axis along which they follow each other.
    pub axis: u32,
    /// The coordinate behind the last of each part; rising.
    pub ends: SmallVec<[usize; 4]>,
}

/// The result of a walk's lookup in a join.
pub(crate) enum JoinLookup {
    /// All points are in one part: its number and its first coordinate.
    Part(usize, usize),
    /// The first point of this axis of the walk's space that is in another part than point 0.
    Cut { axis: usize, at: usize },
    /// Points go to and fro between parts.
    Mixed,
}

impl Join {
    /// Adds a part. Of one that is a pending join along the same axis its parts are added: otherwise reading an array
    /// that was made by repeated joins would traverse all joins for each part.
    pub fn push(&mut self, part: Operand, shape: &[usize], operands: &mut SmallVec<[Operand; 3]>) {
        let end = self.ends.last().copied().unwrap_or(0);
        if let (Input::Whole(_), Some(value)) = &part
            && let ValueKind::Expr { op: NodeOp::Join(inner), inputs } = &value.0.kind
            && inner.axis == self.axis
            && value.shape() == shape
        {
            let state = value.state();
            if !value.is_computed() && state.operands.len() == inputs.len() {
                self.ends.extend(inner.ends.iter().map(|inner_end| end + inner_end));
                operands.extend(inputs.iter().cloned().zip(state.operands.iter().cloned()));
                return;
            }
        }
        self.ends.push(end + shape[self.axis as usize]);
        operands.push(part);
    }

    /// The little accesses of a join with these operands, if it is a value of as many elements after a little write:
    /// most of its elements are those of that value.
    pub fn accesses(&self, whole: &[usize], operands: &[Operand]) -> u32 {
        let len = size_of(whole);
        let old = operands.iter().find_map(|(_, value)| value.as_ref().filter(|v| v.len() == len));
        let Some(old) = old else { return 0 };
        let values = operands.iter().map(|(_, value)| value);
        let written = self.beside(old, whole, values, whole.len());
        old.accesses_after_write(written)
    }

    /// The elements that are no other value's; of parts that are joins of the same, one for each further axis.
    fn beside<'v>(
        &self,
        old: &Value,
        whole: &[usize],
        values: impl Iterator<Item = &'v Option<Value>>,
        axes: usize,
    ) -> usize {
        let elements = |(part, value): (usize, &Option<Value>)| {
            let shape = self.shape(part, whole);
            let Some(value) = value else { return size_of(&shape) };
            match &value.0.kind {
                _ if value.id() == old.id() => 0,
                ValueKind::Expr { op: NodeOp::Join(inner), .. }
                    if axes > 1 && value.shape()[..] == shape[..] && !value.is_computed() =>
                {
                    let below = value.state().operands.clone();
                    inner.beside(old, &shape, below.iter(), axes - 1)
                }
                _ => size_of(&shape),
            }
        };
        values.enumerate().map(elements).sum()
    }

    fn part_at(&self, coordinate: i64) -> usize {
        self.ends.partition_point(|end| *end as i64 <= coordinate)
    }

    /// Whether all parts have the same extents.
    pub fn are_alike(&self) -> bool {
        let extent = |part: usize| self.ends[part] - self.start(part);
        (1..self.ends.len()).all(|part| extent(part) == extent(0))
    }

    /// The first coordinate of a part.
    pub fn start(&self, part: usize) -> usize {
        part.checked_sub(1).map_or(0, |before| self.ends[before])
    }

    /// The extents of a part, of a value with these extents.
    pub fn shape(&self, part: usize, whole: &[usize]) -> Shape {
        let mut shape: Shape = whole.into();
        shape[self.axis as usize] = self.ends[part] - self.start(part);
        shape
    }

    /// Which part the points of a space are in, by their coordinate along the axis.
    pub fn find(&self, coordinate: &Access, space: &[usize]) -> JoinLookup {
        self.find_among(coordinate, space, 1)
    }

    /// Like `find`, with `parts` adjacent parts taken as one, from the part of point 0 on; the first of them is given.
    pub fn find_among(&self, coordinate: &Access, space: &[usize], parts: usize) -> JoinLookup {
        let first = self.part_at(coordinate.offset);
        let start = self.start(first);
        let mut movers = coordinate.strides.iter().zip(space).enumerate();
        let mut movers = movers.by_ref().filter(|(_, (step, n))| **step != 0 && **n > 1);
        let Some((axis, (step, n))) = movers.next() else { return JoinLookup::Part(first, start) };
        if movers.next().is_some() {
            let (mut low, mut high) = (coordinate.offset, coordinate.offset);
            for (step, n) in coordinate.strides.iter().zip(space) {
                let far = step * (*n as i64 - 1);
                low += far.min(0);
                high += far.max(0);
            }
            let alone = self.part_at(low) == first && self.part_at(high) == first;
            return if alone { JoinLookup::Part(first, start) } else { JoinLookup::Mixed };
        }
        let behind = self.part_at(coordinate.offset + step * (*n as i64 - 1));
        if behind.abs_diff(first) < parts {
            return JoinLookup::Part(first.min(behind), self.start(first.min(behind)));
        }
        let at = if *step > 0 {
            (self.ends[first + parts - 1] as i64 - coordinate.offset + step - 1) / step
        } else {
            (coordinate.offset - self.start(first + 1 - parts) as i64) / -step + 1
        };
        JoinLookup::Cut { axis, at: at as usize }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_walk_is_cut_where_the_part_changes(
            ends in prop::collection::btree_set(1usize..20, 1..5),
            step in prop_oneof![-3i64..0, 1i64..4],
            n in 1usize..8,
        ) {
            let join = Join { axis: 0, ends: ends.into_iter().collect() };
            let len = *join.ends.last().unwrap_or(&0) as i64;
            let far = step * (n as i64 - 1);
            prop_assume!(far.abs() < len);
            for offset in (-far).max(0)..len.min(len - far) {
                let coordinate = Access { offset, strides: SmallVec::from_slice(&[0, step]) };
                let parts: Vec<usize> =
                    (0..n as i64).map(|i| join.part_at(offset + step * i)).collect();
                let change = parts.iter().position(|part| *part != parts[0]);
                let third = parts.iter().position(|part| part.abs_diff(parts[0]) >= 2);
                match join.find_among(&coordinate, &[5, n], 2) {
                    JoinLookup::Part(..) => prop_assert_eq!(third, None),
                    JoinLookup::Cut { axis, at } => prop_assert_eq!((axis, Some(at)), (1, third)),
                    JoinLookup::Mixed => prop_assert!(false, "one axis moves"),
                }
                match join.find(&coordinate, &[5, n]) {
                    JoinLookup::Part(part, start) => {
                        prop_assert_eq!((change, part), (None, parts[0]));
                        prop_assert!(start <= offset as usize && (offset as usize) < join.ends[part]);
                    }
                    JoinLookup::Cut { axis, at } => prop_assert_eq!((axis, Some(at)), (1, change)),
                    JoinLookup::Mixed => prop_assert!(false, "one axis moves"),
                }
            }
        }
    }
}
