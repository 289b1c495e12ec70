//! Integers of 8 and 16 bits, extended to int32 lanes.
//!
//! An operation that keeps a lane's lower bits right is done in 32 bits, and its result extended again.

use crate::code::encode::{Opcode, Rm};
use crate::code::opcodes::{self, LaneWidth, Shift, only};
use crate::function_writer::FunctionWriter;
use gpupy_core::DType;
use gpupy_core::op::Op;

const W: LaneWidth = LaneWidth::W32;

impl FunctionWriter<'_> {
    pub(super) fn small(&mut self, op: Op, dtype: DType) -> Option<()> {
        let t = match op {
            Op::Add => self.intermediate(opcodes::add_int(W)),
            Op::Sub => self.intermediate(opcodes::sub_int(W)),
            Op::Mul => self.intermediate(opcodes::mul_int(W)),
            Op::Shl => self.intermediate(opcodes::shift_left(W)),
            Op::Neg => {
                let (x, t) = (self.reg(0), self.temporary());
                self.emit(opcodes::xor(W), W, t, t, Rm::Reg(t));
                self.emit(opcodes::sub_int(W), W, t, t, Rm::Reg(x));
                t
            }
            Op::Abs => {
                let (x, t) = (self.rm(0), self.temporary());
                self.emit(opcodes::abs_int(W), W, t, 0, x);
                t
            }
            Op::Not => {
                let (x, t) = (self.reg(0), self.temporary());
                let ones = self.constant(W, super::ONES);
                self.emit(opcodes::xor(W), W, t, x, ones);
                t
            }
            // As int32: all narrow integers fit, including unsigned ones.
            Op::FloorDiv => self.quotient(true)?,
            Op::Mod => return self.divide(op, true),
            Op::Bitcast => self.reg(0),
            // The other operations do not leave the dtype's range.
            _ => return self.int(op, dtype, W),
        };
        self.extended(t, dtype);
        Some(())
    }

    fn intermediate(&mut self, row: Opcode) -> u8 {
        let (x, y, t) = (self.reg(0), self.rm(1), self.temporary());
        self.emit(row, W, t, x, y);
        t
    }

    /// The task's value from the dtype's lower bits of lanes; from the lowest bit for a bool.
    pub(super) fn extended(&mut self, from: u8, dtype: DType) {
        let unused = match dtype {
            DType::Bool => 31,
            _ => 32 - 8 * dtype.size() as u8,
        };
        if dtype == DType::Bool || dtype.is_signed_int() {
            let t = self.temporary();
            self.shift_by(W, Shift::Left, t, from, unused);
            let to = self.result();
            self.shift_by(W, Shift::RightSigned, to, t, unused);
        } else {
            let used = self.constant(W, u64::from(u32::MAX >> unused));
            let to = self.result();
            self.emit(opcodes::and(W), W, to, from, used);
        }
    }

    /// A cast to a narrow integer, by way of int32.
    pub(super) fn cast_to_small(&mut self, from: DType, to: DType) {
        let x = self.reg(0);
        let t = match from {
            DType::F32 | DType::F64 => {
                let (row, w) = match from {
                    DType::F32 => (only::F32_TO_I32, LaneWidth::W32),
                    _ => (only::F64_TO_I32, LaneWidth::W64),
                };
                let t = self.temporary();
                self.emit(row, w, t, 0, Rm::Reg(x));
                t
            }
            DType::I64 | DType::U64 => self.low_halves(x),
            _ => x,
        };
        self.extended(t, to);
    }
}
