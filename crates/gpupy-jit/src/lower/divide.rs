//! Quotients and remainders of integers of at most 32 bits, computed in float64.
//!
//! The result is exact: a quotient of two such integers that is not an integer differs from the next integer by more
//! than the rounding of float64.

use super::float::Rounding;
use crate::code::encode::{Bits, Rm};
use crate::code::opcodes::{self, LaneWidth, only};
use crate::function_writer::{FunctionWriter, TEST};
use crate::isa::Isa;
use gpupy_core::op::Op;

const W: LaneWidth = LaneWidth::W32;

impl FunctionWriter<'_> {
    /// `floordiv` or `mod` of lanes of 32 bits.
    pub(super) fn divide(&mut self, op: Op, signed: bool) -> Option<()> {
        let quotient = self.quotient(signed)?;
        if op == Op::FloorDiv {
            self.done_in(quotient);
            return Some(());
        }
        // The remainder by 0 would be the dividend, but the IR defines it as 0.
        let (x, y) = (self.reg(0), self.reg(1));
        self.emit(opcodes::mul_int(W), W, quotient, quotient, Rm::Reg(y));
        self.emit(opcodes::sub_int(W), W, quotient, x, Rm::Reg(quotient));
        self.clear_where_zero(quotient, y);
        self.done_in(quotient);
        Some(())
    }

    /// The floored quotient, in a temporary register; 0 for a divisor of 0.
    pub(super) fn quotient(&mut self, signed: bool) -> Option<u8> {
        if self.isa == Isa::Avx2 && !signed {
            return None;
        }
        let (x, y) = (self.reg(0), self.reg(1));
        let (low, high, t) = (self.temporary(), self.temporary(), self.temporary());
        self.divided(low, t, (x, y), signed);
        let full = Bits::of_bytes(self.isa.bytes());
        if self.bits(W) == full {
            let (upper, join) = match self.isa {
                Isa::Avx2 => (only::UPPER_128, only::JOIN_128),
                Isa::Avx512 => (only::UPPER_256, only::JOIN_256),
            };
            for (part, of) in [(high, x), (t, y)] {
                self.asm.vector(upper, full, of, 0, Rm::Reg(part));
                self.asm.imm(1);
            }
            self.divided(high, t, (high, t), signed);
            self.asm.vector(join, full, low, low, Rm::Reg(high));
            self.asm.imm(1);
        }
        self.clear_where_zero(low, y);
        Some(low)
    }

    /// Quotients of the lower lanes of registers, as many as there are 64-bit lanes, into the lower lanes of `to`.
    fn divided(&mut self, to: u8, t: u8, (x, y): (u8, u8), signed: bool) {
        let (there, back) = match signed {
            true => (only::I32_TO_F64, only::F64_TO_I32),
            false => (only::U32_TO_F64, only::F64_TO_U32),
        };
        let (wide, full) = (LaneWidth::W64, Bits::of_bytes(self.isa.bytes()));
        self.asm.vector(there, full, to, 0, Rm::Reg(x));
        self.asm.vector(there, full, t, 0, Rm::Reg(y));
        self.asm.vector(opcodes::div_float(wide), full, to, to, Rm::Reg(t));
        self.asm.vector(opcodes::round(wide), full, to, 0, Rm::Reg(to));
        self.asm.imm(Rounding::Down as u8);
        self.asm.vector(back, full, to, 0, Rm::Reg(to));
    }

    /// Clears the lanes of a register where those of another are 0.
    fn clear_where_zero(&mut self, reg: u8, other: u8) {
        if self.isa == Isa::Avx512 {
            self.emit(opcodes::test_bits(W), W, TEST, other, Rm::Reg(other));
            let bits = self.bits(W);
            self.asm.masked(opcodes::move_register(W), bits, reg, 0, Rm::Reg(reg), TEST);
        } else {
            let (is_zero, zero) = (self.temporary(), self.constant(W, 0));
            self.emit(opcodes::equal_lanes(W), W, is_zero, other, zero);
            self.emit(opcodes::and_not(W), W, reg, is_zero, Rm::Reg(reg));
        }
    }
}
