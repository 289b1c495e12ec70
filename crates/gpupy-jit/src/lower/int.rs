//! Integer arithmetic.

use super::{ONES, sign_bit};
use crate::code::encode::Rm;
use crate::code::opcodes::{self, LaneWidth};
use crate::function_writer::FunctionWriter;
use crate::isa::Isa;
use gpupy_core::DType;
use gpupy_core::op::Op;

impl FunctionWriter<'_> {
    pub(super) fn int(&mut self, op: Op, dtype: DType, w: LaneWidth) -> Option<()> {
        // AVX2 lacks some instructions on 64-bit lanes.
        let lacks = self.isa == Isa::Avx2 && w == LaneWidth::W64;
        let signed = dtype.is_signed_int();
        match op {
            Op::Add => self.symmetric_lanes(opcodes::add_int(w), w),
            Op::Sub => self.binary(opcodes::sub_int(w), w),
            Op::Mul if lacks => self.mul_by_halves(),
            Op::Mul => self.symmetric_lanes(opcodes::mul_int(w), w),
            Op::And => self.symmetric_lanes(opcodes::and(w), w),
            Op::Or => self.symmetric_lanes(opcodes::or(w), w),
            Op::Xor => self.symmetric_lanes(opcodes::xor(w), w),
            Op::Not => self.with_constant(opcodes::xor(w), w, ONES),
            Op::Neg => {
                let (x, zero) = (self.reg(0), self.temporary());
                self.emit(opcodes::xor(w), w, zero, zero, Rm::Reg(zero));
                let to = self.result();
                self.emit(opcodes::sub_int(w), w, to, zero, Rm::Reg(x));
            }
            Op::Abs if lacks => self.abs_by_sign(),
            Op::Abs => {
                let x = self.rm(0);
                let to = self.result();
                self.emit(opcodes::abs_int(w), w, to, 0, x);
            }
            Op::Sign if lacks => self.sign_by_comparing(signed),
            Op::Sign => self.sign_by_bounds(w, signed),
            Op::Min | Op::Max if lacks => self.extreme_by_comparing(op, signed),
            Op::Min if signed => self.symmetric_lanes(opcodes::min_signed(w), w),
            Op::Min => self.symmetric_lanes(opcodes::min_unsigned(w), w),
            Op::Max if signed => self.symmetric_lanes(opcodes::max_signed(w), w),
            Op::Max => self.symmetric_lanes(opcodes::max_unsigned(w), w),
            Op::FloorDiv | Op::Mod if w == LaneWidth::W32 => self.divide(op, signed)?,
            // These instructions take counts as unsigned. Large counts shift all bits out.
            Op::Shl => self.binary(opcodes::shift_left(w), w),
            Op::Shr if !signed => self.binary(opcodes::shift_right(w), w),
            Op::Shr if lacks => self.shift_right_by_sign(),
            Op::Shr => self.binary(opcodes::shift_right_signed(w), w),
            _ => return None,
        }
        Some(())
    }

    /// `sign`: clamps to the range from -1 to 1.
    fn sign_by_bounds(&mut self, w: LaneWidth, signed: bool) {
        let one = self.constant(w, 1);
        if !signed {
            let x = self.reg(0);
            let to = self.result();
            return self.emit(opcodes::min_unsigned(w), w, to, x, one);
        }
        let (x, t) = (self.reg(0), self.temporary());
        self.emit(opcodes::min_signed(w), w, t, x, one);
        let least = self.constant(w, ONES);
        let to = self.result();
        self.emit(opcodes::max_signed(w), w, to, t, least);
    }

    /// Sets all bits of negative 64-bit lanes.
    fn negative(&mut self, x: u8) -> u8 {
        let (mask, w) = (self.temporary(), LaneWidth::W64);
        self.emit(opcodes::xor(w), w, mask, mask, Rm::Reg(mask));
        self.emit(opcodes::greater_lanes(w), w, mask, mask, Rm::Reg(x));
        mask
    }

    fn abs_by_sign(&mut self) {
        let (x, w) = (self.reg(0), LaneWidth::W64);
        let (mask, flipped) = (self.negative(x), self.temporary());
        self.emit(opcodes::xor(w), w, flipped, x, Rm::Reg(mask));
        let to = self.result();
        self.emit(opcodes::sub_int(w), w, to, flipped, Rm::Reg(mask));
    }

    fn sign_by_comparing(&mut self, signed: bool) {
        let (x, w) = (self.reg(0), LaneWidth::W64);
        let (zero, above) = (self.constant(w, 0), self.temporary());
        if signed {
            // Lanes with all bits set are -1: the result is (negative) - (positive).
            let below = self.negative(x);
            self.emit(opcodes::greater_lanes(w), w, above, x, zero);
            let to = self.result();
            self.emit(opcodes::sub_int(w), w, to, below, Rm::Reg(above));
        } else {
            // Lanes are -1 where the operand is 0, else 0; plus 1 that is the sign.
            self.emit(opcodes::equal_lanes(w), w, above, x, zero);
            let one = self.constant(w, 1);
            let to = self.result();
            self.emit(opcodes::add_int(w), w, to, above, one);
        }
    }

    fn extreme_by_comparing(&mut self, op: Op, signed: bool) {
        let (x, y, w) = (self.reg(0), self.reg(1), LaneWidth::W64);
        let (mut a, mut b, greater) = (x, y, self.temporary());
        if !signed {
            let flip = self.constant(w, sign_bit(w));
            (a, b) = (self.temporary(), self.temporary());
            self.emit(opcodes::xor(w), w, a, x, flip);
            self.emit(opcodes::xor(w), w, b, y, flip);
        }
        self.emit(opcodes::greater_lanes(w), w, greater, a, Rm::Reg(b));
        let (no, yes) = if op == Op::Max { (y, x) } else { (x, y) };
        let to = self.result();
        self.blend(w, to, no, Rm::Reg(yes), greater);
    }

    /// Shifts a negative number with its bits flipped, so that zeros are shifted in.
    fn shift_right_by_sign(&mut self) {
        let (x, count, w) = (self.reg(0), self.rm(1), LaneWidth::W64);
        let (mask, flipped) = (self.negative(x), self.temporary());
        self.emit(opcodes::xor(w), w, flipped, x, Rm::Reg(mask));
        self.emit(opcodes::shift_right(w), w, flipped, flipped, count);
        let to = self.result();
        self.emit(opcodes::xor(w), w, to, flipped, Rm::Reg(mask));
    }
}
