//! Recording of operations over whole axes of open arrays: as one expression each, without steps.
//!
//! Not here: the expression (`graph/deferred.rs`), its steps, once extents are known (`known_extents.rs`).

use super::library_recording::ProductsBy;
use super::recorder::Recorder;
use crate::array::base::{Array, ArrayOrScalar};
use crate::array::contents::Contents;
use crate::graph::deferred::{Deferred, WholeAxisOp};
use crate::graph::value::{Input, NodeOp, Operand, Value};
use gpupy_core::op::Op;
use gpupy_core::shape::Shape;
use gpupy_core::{DType, Result};
use smallvec::SmallVec;

impl Recorder {
    /// An operation over whole axes; `None` where its steps are recorded: nothing is open, or extents are known.
    ///
    /// # Errors
    /// - `Disposed`: an operand has no elements any more.
    pub(super) fn deferred(
        &self,
        over: impl FnOnce() -> WholeAxisOp,
        (dtype, shape): (DType, impl FnOnce() -> Shape),
        operands: &[&Array],
    ) -> Option<Result<Array>> {
        let is_outlined = |operand: &&Array| match operand.current().held() {
            Contents::Value(value) => value.is_outlined(),
            Contents::Own(_) | Contents::Nothing => false,
        };
        if !operands.iter().any(is_outlined) {
            return None;
        }
        let shapes = operands.iter().map(|operand| operand.shape().into()).collect();
        let op = NodeOp::Deferred(Box::new(Deferred { over: over(), shapes }));
        let read = |operand: &&Array| {
            let value = operand.value()?;
            Ok((Input::new(value.id(), operand.layout()), Some(value)))
        };
        let operands = operands.iter().map(read).collect::<Result<SmallVec<[Operand; 3]>>>();
        let made = |operands| Value::expr(&self.expressions, dtype, shape(), op, operands);
        Some(operands.map(|operands| Array::from_value(made(operands))))
    }

    /// The result of a deferred operation on operands whose extents are known.
    ///
    /// # Errors
    /// Those of the operation.
    pub(super) fn done(&self, over: &WholeAxisOp, operands: &[ArrayOrScalar<'_>]) -> Result<Array> {
        let whole = |operand: &ArrayOrScalar<'_>| match operand {
            ArrayOrScalar::Array(array) => Ok((*array).clone()),
            ArrayOrScalar::Scalar(scalar) => Array::full(&[], *scalar),
        };
        let operands = operands.iter().map(whole).collect::<Result<SmallVec<[Array; 2]>>>()?;
        match (over, &operands[..]) {
            (WholeAxisOp::Reduce { op, axes, keepdims }, [array]) => {
                self.reduce(*op, array, axes, *keepdims)
            }
            (WholeAxisOp::Scan { op, axis }, [array]) => self.scan(*op, array, *axis),
            (WholeAxisOp::Place { op: op @ (Op::Min | Op::Max), axis }, [array]) => {
                self.place(*op, array, *axis)
            }
            (WholeAxisOp::Sort { axis }, [array]) => self.sort(array, *axis),
            (WholeAxisOp::ArgSort { axis }, [array]) => self.argsort(array, *axis),
            (WholeAxisOp::Routine(call), [array]) => self.routine(*call, array),
            (WholeAxisOp::MatMul, [left, right]) => self.matmul(left, right, ProductsBy::Library),
            _ => Err(super::known_extents::wrong("an operation has other operands than it takes")),
        }
    }
}
