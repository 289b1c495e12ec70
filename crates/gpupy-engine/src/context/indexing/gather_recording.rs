//! Recording of gathers: the elements of one array at the positions that another one gives.
//!
//! Not here: the elements that an index means (`fancy_index.rs`), the evaluation (`execute/host_ops/host_gather.rs`).

use crate::array::base::Array;
use crate::graph::value::{Input, NodeOp, Value, ValueKind};
use crate::record::recorder::Recorder;
use gpupy_core::Result;
use smallvec::smallvec;

impl Recorder {
    /// The elements of `source`'s base at `positions`, which are int32 numbers inside the base.
    ///
    /// # Errors
    /// - `Disposed`: an array has no elements any more.
    pub fn gather(&self, source: &Array, positions: &Array) -> Result<Array> {
        let table = source.value()?;
        if let ValueKind::Constant(scalar) = table.0.kind {
            return Array::full(positions.shape(), scalar);
        }
        let operand = positions.operand(positions.shape())?;
        if let (Input::Scalar(scalar), _) = operand {
            // One element for all points is a view.
            let strides = vec![0; positions.ndim()];
            let at = source.view(positions.shape(), &strides, scalar.as_i32() as isize)?;
            return self.copy(&at);
        }
        let (dtype, shape) = (table.dtype(), positions.shape().into());
        let operands = smallvec![operand, (Input::Whole(table.id()), Some(table))];
        Ok(Array::from_value(Value::expr(
            &self.expressions,
            dtype,
            shape,
            NodeOp::Gather,
            operands,
        )))
    }
}
