//! float16, computed in lanes of float32.
//!
//! Results of sums, products, quotients, roots and casts are rounded once more. Selects, comparisons and changes of
//! sign are float32's own. Invariant: a lane of a float16 always holds a float16's value.
//!
//! Not here: the arithmetic before rounding (`float.rs`).

use crate::code::encode::{Mem, Rm};
use crate::code::opcodes::{LaneWidth, only};
use crate::function_writer::FunctionWriter;
use gpupy_core::DType;
use gpupy_core::op::Op;

/// Rounding to nearest, as the instruction's immediate.
const NEAREST: u8 = 0;

/// The dtype of a value's lanes.
pub(super) fn lanes_of(dtype: DType) -> DType {
    if dtype == DType::F16 { DType::F32 } else { dtype }
}

impl FunctionWriter<'_> {
    /// An operation on float16.
    pub(super) fn float16(&mut self, op: Op) -> Option<()> {
        self.float(op, LaneWidth::W32)?;
        if matches!(op, Op::Add | Op::Sub | Op::Mul | Op::Div | Op::Sqrt) {
            self.round_result();
        }
        Some(())
    }

    /// Rounds the task's result to a float16's value.
    pub(super) fn round_result(&mut self) {
        let (reg, bits) = (self.result_register(), self.bits(LaneWidth::W32));
        self.asm.vector(only::LANES_TO_HALVES, bits, reg, 0, Rm::Reg(reg));
        self.asm.imm(NEAREST);
        self.asm.vector(only::HALVES_TO_LANES, bits, reg, 0, Rm::Reg(reg));
    }

    /// Loads consecutive elements.
    pub(super) fn load_float16(&mut self, from: Mem) {
        let (bits, existing, to) = (self.bits(LaneWidth::W32), self.existing(), self.result());
        self.asm.masked(only::HALVES_TO_LANES, bits, to, 0, Rm::Mem(from), existing);
    }

    /// Broadcasts one element to all points.
    pub(super) fn spread_float16(&mut self, from: Mem) {
        let (bits, to) = (self.bits(LaneWidth::W32), self.result());
        let element = Mem { bytes: 2, ..from };
        self.asm.vector(only::BROADCAST_WORD, bits, to, 0, Rm::Mem(element));
        self.asm.vector(only::HALVES_TO_LANES, bits, to, 0, Rm::Reg(to));
    }

    /// Stores consecutive elements.
    pub(super) fn store_float16(&mut self, from: u8, to: Mem) {
        let (bits, existing) = (self.bits(LaneWidth::W32), self.existing());
        self.asm.masked(only::LANES_TO_HALVES, bits, from, 0, Rm::Mem(to), existing);
        self.asm.imm(NEAREST);
    }

    /// A cast from or to float16 that changes lanes or values.
    pub(super) fn cast_float16(&mut self, from: DType, to: DType) -> Option<()> {
        match (from, to) {
            // By way of float32 it would round twice.
            (DType::F64, DType::F16) => return None,
            (DType::F32, DType::F16) => {
                let reg = self.overwritable(0);
                self.done_in(reg);
            }
            // Integers that float32 rounds overflow float16.
            _ => self.cast(lanes_of(from), lanes_of(to))?,
        }
        if to == DType::F16 && from != DType::Bool {
            self.round_result();
        }
        Some(())
    }
}
