//! Expanded operations: where a device has an operation only as several steps, a walk takes these in its place.
//!
//! Not here: the programs (`schedule/lowering/find_lowering.rs`), other operations in a walk (`walker.rs`).

use super::walker::{JoinHandling, Walker};
use super::{Applied, Role};
use crate::graph::scalar_function::Called;
use crate::graph::value::{Input, NodeOp, Operand, Value};
use crate::schedule::lowering::find_lowering;
use crate::schedule::lowering::operation_lowering::{
    LoweredProgram, OperationLowering, method_dtype,
};
use gpupy_core::Result;
use gpupy_core::op::Op;
use smallvec::SmallVec;
use std::sync::Arc;

impl Walker<'_> {
    /// The program whose instructions stand for a value's operation on this device, if they do, and which of its
    /// results it is.
    pub(super) fn expanded(
        &self,
        value: &Value,
        op: &NodeOp,
        inputs: &[Input],
        operands: &[Option<Value>],
    ) -> Option<(Arc<LoweredProgram>, u32)> {
        let op = match op {
            NodeOp::Apply(op) => op,
            NodeOp::Call(Called { function, result }) => {
                return match self.device.way_of(function) {
                    OperationLowering::Expanded(lowered) => Some((lowered, *result)),
                    OperationLowering::Absent
                    | OperationLowering::Native
                    | OperationLowering::Inlined(_) => None,
                };
            }
            _ => return None,
        };
        if matches!(op, Op::Cast | Op::Bitcast) {
            return None;
        }
        let first = match (inputs.first()?, operands.first()?) {
            (Input::Scalar(scalar), _) => Some(scalar.dtype),
            (_, operand) => operand.as_ref().map(Value::dtype),
        };
        match self.device.way(*op, method_dtype(*op, value.dtype(), first)) {
            OperationLowering::Expanded(lowered) => Some((lowered, 0)),
            OperationLowering::Absent
            | OperationLowering::Native
            | OperationLowering::Inlined(_) => None,
        }
    }

    /// Takes the instructions of a program in place of a value's operation. They are values of this
    /// walk alone, so nothing may have to be computed before them: elsewhere than in a tile of its
    /// own, the value is computed first.
    pub(super) fn expand_by(
        &mut self,
        value: &Value,
        open: &[u32],
        (lowered, result): (&LoweredProgram, u32),
        inputs: &[Input],
        operands: &[Option<Value>],
    ) -> Result<()> {
        let at = self.nodes[open[0] as usize].access.clone();
        let is_own = open.len() == 1 && self.device.own_tile(value, &at, &self.space).is_some();
        let found = self.coordinates(value, &at);
        if !is_own || found.is_none() && !value.0.linear {
            open.iter().for_each(|node| self.need(*node));
            return Ok(());
        }
        let given: SmallVec<[Operand; 3]> =
            inputs.iter().cloned().zip(operands.iter().cloned()).collect();
        // Instructions need a tile of the value's own, and half of one is none.
        self.joins = JoinHandling::First;
        let (op, last) = find_lowering::expand(
            value,
            (&lowered.program, result),
            &given,
            &self.device.flush.steps,
        );
        let operands = last.iter().map(|(input, operand)| (input, operand.as_ref()));
        let children = self.children(value, operands, &at, found.as_deref())?;
        self.nodes[open[0] as usize].role = Role::Apply(Applied::Op(op), children);
        Ok(())
    }
}
