//! Joins: values made of parts, one behind the other along an axis.
//!
//! Owns [`Join`] and its recording. Concatenation, and shifts whose boundary wraps around, repeats or
//! mirrors (Accelerator, section 5.2), are joins of views. A join is never stored for its own sake: a
//! kernel whose points all lie in one part reads that part, with an affine access like any other; an
//! evaluation that meets the end of a part is cut there (`boxes.rs`).
//!
//! Not here: which points a kernel walks over (`walk.rs`).

use crate::array::{Array, checked_size};
use crate::in_memory;
use crate::record::Recorder;
use crate::value::{Input, Kind, NodeOp, Operand, Value};
use gpupy_core::driver::Access;
use gpupy_core::shape::Shape;
use gpupy_core::{Error, ErrorKind, Result};
use smallvec::SmallVec;

/// Where the parts of a joined value end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Join {
    /// The axis along which they follow each other.
    pub axis: u32,
    /// The coordinate behind the last of each part; rising.
    pub ends: SmallVec<[usize; 4]>,
}

/// What a walk finds in a join.
pub(crate) enum Found {
    /// All points are in one part: its number and its first coordinate.
    Part(usize, usize),
    /// The first point of this axis of the walk's space that is in another part than point 0.
    Cut { axis: usize, at: usize },
    /// Points go to and fro between parts.
    Mixed,
}

impl Join {
    /// Adds a part. Of one that is a pending join along the same axis its parts are added: reading what was made
    /// by joining again and again would go through all joins for each part.
    fn push(&mut self, part: Operand, shape: &[usize], operands: &mut SmallVec<[Operand; 3]>) {
        let end = self.ends.last().copied().unwrap_or(0);
        if let (Input::Whole(_), Some(value)) = &part
            && let Kind::Expr { op: NodeOp::Join(inner), inputs } = &value.0.kind
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

    fn part_at(&self, coordinate: i64) -> usize {
        self.ends.partition_point(|end| *end as i64 <= coordinate)
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
    pub fn find(&self, coordinate: &Access, space: &[usize]) -> Found {
        let first = self.part_at(coordinate.offset);
        let start = self.start(first);
        let mut movers = coordinate.strides.iter().zip(space).enumerate();
        let mut movers = movers.by_ref().filter(|(_, (step, n))| **step != 0 && **n > 1);
        let Some((axis, (step, n))) = movers.next() else { return Found::Part(first, start) };
        if movers.next().is_some() {
            let (mut low, mut high) = (coordinate.offset, coordinate.offset);
            for (step, n) in coordinate.strides.iter().zip(space) {
                let far = step * (*n as i64 - 1);
                low += far.min(0);
                high += far.max(0);
            }
            let alone = self.part_at(low) == first && self.part_at(high) == first;
            return if alone { Found::Part(first, start) } else { Found::Mixed };
        }
        if self.part_at(coordinate.offset + step * (*n as i64 - 1)) == first {
            return Found::Part(first, start);
        }
        let at = if *step > 0 {
            (self.ends[first] as i64 - coordinate.offset + step - 1) / step
        } else {
            (coordinate.offset - start as i64) / -step + 1
        };
        Found::Cut { axis, at: at as usize }
    }
}

impl Recorder {
    /// Arrays one behind the other along an axis.
    ///
    /// # Errors
    /// - `Shape`: there is no array, or their extents differ apart from the axis. `Index`: there is no
    ///   such axis. `DType`: their dtypes differ.
    pub fn join(&self, axis: usize, arrays: &[Array]) -> Result<Array> {
        let wrong = |kind, words: &str| Error::new(kind, "join").says(words);
        let Some(first) = arrays.first() else {
            return Err(wrong(ErrorKind::Shape, "need at least one array to concatenate"));
        };
        if axis >= first.ndim() {
            return Err(wrong(ErrorKind::Index, "there is no such axis").with("axis", axis));
        }
        let others = |array: &Array| {
            let mut shape: Shape = array.shape().into();
            shape.remove(axis);
            shape
        };
        let mut join = Join { axis: axis as u32, ends: SmallVec::new() };
        let mut end = 0usize;
        for array in arrays {
            if array.dtype() != first.dtype() {
                return Err(wrong(ErrorKind::DType, "the arrays' dtypes differ"));
            }
            if array.ndim() != first.ndim() || others(array) != others(first) {
                return Err(wrong(ErrorKind::Shape, "the arrays' extents differ"));
            }
            if array.shape()[axis] > 0 {
                end = end.saturating_add(array.shape()[axis]);
                join.ends.push(end);
            }
        }
        let mut shape: Shape = first.shape().into();
        shape[axis] = end;
        checked_size(&shape)?;
        if arrays.len() == 1 || join.ends.is_empty() {
            return self.copy(first);
        }
        if self.at_once.is_allowed()
            && let Some(joined) = in_memory::joined(&shape, &join, arrays)
        {
            return Ok(joined);
        }
        let mut operands = SmallVec::new();
        let mut join = Join { axis: axis as u32, ends: SmallVec::new() };
        for array in arrays.iter().filter(|array| array.shape()[axis] > 0) {
            join.push(array.operand(array.shape())?, array.shape(), &mut operands);
        }
        let op = NodeOp::Join(Box::new(join));
        Ok(Array::from_value(Value::expr(&self.interner, first.dtype(), shape, op, operands)))
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
                match join.find(&coordinate, &[5, n]) {
                    Found::Part(part, start) => {
                        prop_assert_eq!((change, part), (None, parts[0]));
                        prop_assert!(start <= offset as usize && (offset as usize) < join.ends[part]);
                    }
                    Found::Cut { axis, at } => prop_assert_eq!((axis, Some(at)), (1, change)),
                    Found::Mixed => prop_assert!(false, "one axis moves"),
                }
            }
        }
    }
}
