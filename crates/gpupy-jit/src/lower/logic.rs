//! Operations on bools, which are lanes with all bits set or none.

use super::ONES;
use crate::code::encode::Opcode;
use crate::code::opcodes::{self, LaneWidth};
use crate::function_writer::FunctionWriter;
use gpupy_core::op::Op;

const W: LaneWidth = LaneWidth::W32;

impl FunctionWriter<'_> {
    /// A unary or binary operation, or a comparison: false is less than true.
    pub(super) fn logic(&mut self, op: Op) -> Option<()> {
        match op {
            Op::Not => {
                let (x, ones) = (self.reg(0), self.constant(W, ONES));
                let to = self.result();
                self.emit(opcodes::xor(W), W, to, x, ones);
            }
            Op::Add | Op::Max | Op::Or => self.symmetric_lanes(opcodes::or(W), W),
            Op::Mul | Op::Min | Op::And => self.symmetric_lanes(opcodes::and(W), W),
            Op::Xor | Op::Ne => self.symmetric_lanes(opcodes::xor(W), W),
            Op::Eq => {
                let (x, y) = self.symmetric();
                self.inverted(opcodes::xor(W), x, y);
            }
            Op::Lt | Op::Gt => {
                let (x, y) = if op == Op::Lt { (0, 1) } else { (1, 0) };
                let (x, y) = (self.reg(x), self.rm(y));
                let to = self.result();
                self.emit(opcodes::and_not(W), W, to, x, y);
            }
            // The negation of the opposite comparison.
            Op::Le | Op::Ge => {
                let (x, y) = if op == Op::Ge { (0, 1) } else { (1, 0) };
                let (x, y) = (self.reg(x), self.rm(y));
                self.inverted(opcodes::and_not(W), x, y);
            }
            _ => return None,
        }
        Some(())
    }

    fn inverted(&mut self, row: Opcode, x: u8, y: crate::code::encode::Rm) {
        let (t, ones) = (self.temporary(), self.constant(W, ONES));
        self.emit(row, W, t, x, y);
        let to = self.result();
        self.emit(opcodes::xor(W), W, to, t, ones);
    }

    /// A single instruction on two operands, either of which may be in memory.
    pub(super) fn symmetric_lanes(&mut self, row: Opcode, width: LaneWidth) {
        let (x, y) = self.symmetric();
        let to = self.result();
        self.emit(row, width, to, x, y);
    }
}
