//! Recording of joins (concatenation): arrays one behind the other along an axis.
//!
//! Not here: joins as expressions (`graph/join.rs`), how they are evaluated (`schedule/steps/boxes.rs`).

use super::recorder::Recorder;
use crate::array::base::{Array, checked_size};
use crate::graph::join::Join;
use crate::graph::value::{NodeOp, Value};
use gpupy_core::shape::Shape;
use gpupy_core::{Error, ErrorKind, Result};
use smallvec::SmallVec;

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
        if let Some(joined) = self.joined(&shape, &join, arrays) {
            return Ok(joined);
        }
        let mut operands = SmallVec::new();
        let mut join = Join { axis: axis as u32, ends: SmallVec::new() };
        for array in arrays.iter().filter(|array| array.shape()[axis] > 0) {
            join.push(array.operand(array.shape())?, array.shape(), &mut operands);
        }
        let op = NodeOp::Join(Box::new(join));
        Ok(Array::from_value(Value::expr(&self.expressions, first.dtype(), shape, op, operands)))
    }
}
