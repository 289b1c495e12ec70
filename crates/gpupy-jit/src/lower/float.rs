//! Float arithmetic.
//!
//! Not here: comparisons and blends (`lane_ops.rs`).

use super::lane_ops::{LaneHalf, Relation};
use super::{float_bits, magnitude_bits, sign_bit};
use crate::code::encode::{Opcode, Rm};
use crate::code::opcodes::{self, LaneWidth, Shift, only};
use crate::function_writer::FunctionWriter;
use crate::isa::Isa;
use gpupy_core::DType;
use gpupy_core::ir::Inst;
use gpupy_core::op::Op;

/// The modes of rounding to an integer, as the instruction's immediate.
#[derive(Clone, Copy)]
pub(super) enum Rounding {
    Nearest = 8,
    Down = 9,
    Up = 10,
    Truncate = 11,
}

/// The table of `fix_up` for each class of numbers: NaNs become quiet NaNs, all others keep the target's value.
const KEEP_NANS: u64 = 0x22;

/// The truth table of a ternary operation on bits: the second if the third is set, otherwise the first.
const SECOND_BY_THIRD: u8 = 0b1101_1000;

/// Whether a float, given as bits, is neither zero nor NaN.
fn is_ordinary(width: LaneWidth, bits: u64) -> bool {
    match width {
        LaneWidth::W32 => {
            let value = f32::from_bits(bits as u32);
            !value.is_nan() && value != 0.0
        }
        LaneWidth::W64 => {
            let value = f64::from_bits(bits);
            !value.is_nan() && value != 0.0
        }
    }
}

impl FunctionWriter<'_> {
    pub(super) fn float(&mut self, op: Op, w: LaneWidth) -> Option<()> {
        match op {
            Op::Add => self.symmetric_lanes(opcodes::add_float(w), w),
            Op::Mul => self.symmetric_lanes(opcodes::mul_float(w), w),
            Op::Sub => self.binary(opcodes::sub_float(w), w),
            Op::Div => self.binary(opcodes::div_float(w), w),
            Op::Neg => self.with_constant(opcodes::xor(w), w, sign_bit(w)),
            Op::Abs => self.with_constant(opcodes::and(w), w, magnitude_bits(w)),
            Op::Sqrt => {
                let x = self.rm(0);
                let to = self.result();
                self.emit(opcodes::sqrt(w), w, to, 0, x);
            }
            Op::Floor => self.round(w, Rounding::Down),
            Op::Ceil => self.round(w, Rounding::Up),
            Op::Trunc => self.round(w, Rounding::Truncate),
            Op::Rint => self.round(w, Rounding::Nearest),
            Op::Sign => self.sign(w),
            Op::Copysign => self.copysign(w),
            Op::SignBit => {
                // The bits are negative as an integer.
                let x = self.reg(0);
                self.sign_lanes(w, x);
            }
            _ => return None,
        }
        Some(())
    }

    /// A single instruction on two operands.
    pub(super) fn binary(&mut self, row: Opcode, width: LaneWidth) {
        let (x, y) = (self.reg(0), self.rm(1));
        let to = self.result();
        self.emit(row, width, to, x, y);
    }

    /// A single instruction on the operand and a constant.
    pub(super) fn with_constant(&mut self, row: Opcode, width: LaneWidth, bits: u64) {
        let (x, constant) = (self.reg(0), self.constant(width, bits));
        let to = self.result();
        self.emit(row, width, to, x, constant);
    }

    fn round(&mut self, width: LaneWidth, rounding: Rounding) {
        let x = self.rm(0);
        let to = self.result();
        self.emit(opcodes::round(width), width, to, 0, x);
        self.asm.imm(rounding as u8);
    }

    /// The minimum or maximum of two floats. The instruction gives the second operand if either is NaN, or both are
    /// zero; the IR's operation gives the first if it is NaN.
    pub(super) fn extreme(&mut self, inst: &Inst, w: LaneWidth) {
        let least = inst.op == Op::Min;
        let row = if least { opcodes::min_float(w) } else { opcodes::max_float(w) };
        let bound = self.plan.literal(inst, 1).filter(|_| inst.dtype != DType::F16);
        if bound.is_some_and(|bits| is_ordinary(w, bits)) {
            let (x, bound) = (self.rm(0), self.reg(1));
            let to = self.result();
            return self.emit(row, w, to, bound, x);
        }
        let (x, y, least) = (self.reg(0), self.rm(1), self.temporary());
        self.emit(row, w, least, x, y);
        if self.isa == Isa::Avx512 {
            let table = self.constant(w, KEEP_NANS);
            self.emit(opcodes::fix_up(w), w, least, x, table);
            self.asm.imm(0);
            return self.done_in(least);
        }
        let is_nan = self.temporary();
        self.compare_into(is_nan, w, x, Rm::Reg(x), Relation::Unordered);
        let to = self.result();
        self.blend(w, to, least, Rm::Reg(x), is_nan);
    }

    /// 1 with the operand's sign. Zeros and NaN give the sum with 0.0, which drops a zero's sign.
    fn sign(&mut self, w: LaneWidth) {
        let (x, one) = (self.reg(0), self.temporary());
        let (sign, unit) = (self.constant(w, sign_bit(w)), self.constant(w, float_bits(w, 1.0)));
        self.emit(opcodes::and(w), w, one, x, sign);
        self.emit(opcodes::or(w), w, one, one, unit);
        let (zero, kept) = (self.constant(w, 0), self.temporary());
        self.emit(opcodes::add_float(w), w, kept, x, zero);
        if self.isa == Isa::Avx512 {
            self.compare_mask(w, x, zero, Relation::OrderedNotEqual);
            let to = self.result();
            self.blend_by_test(w, to, kept, Rm::Reg(one));
        } else {
            let mask = self.temporary();
            self.compare_into(mask, w, x, zero, Relation::OrderedNotEqual);
            let to = self.result();
            self.blend(w, to, kept, Rm::Reg(one), mask);
        }
    }

    fn copysign(&mut self, w: LaneWidth) {
        if self.isa == Isa::Avx512 {
            let (y, sign) = (self.reg(1), self.constant(w, sign_bit(w)));
            let x = self.overwritable(0);
            self.emit(opcodes::ternary_logic(w), w, x, y, sign);
            self.asm.imm(SECOND_BY_THIRD);
            return self.done_in(x);
        }
        let (x, y) = (self.reg(0), self.reg(1));
        let (magnitude, sign) = (self.temporary(), self.temporary());
        let (of_x, of_y) = (self.constant(w, magnitude_bits(w)), self.constant(w, sign_bit(w)));
        self.emit(opcodes::and(w), w, magnitude, x, of_x);
        self.emit(opcodes::and(w), w, sign, y, of_y);
        let to = self.result();
        self.emit(opcodes::or(w), w, to, magnitude, Rm::Reg(sign));
    }

    /// A bool: whether a lane's highest bit is set.
    fn sign_lanes(&mut self, width: LaneWidth, x: u8) {
        match (width, self.isa) {
            (LaneWidth::W32, _) => {
                let to = self.result();
                self.shift_by(width, Shift::RightSigned, to, x, 31);
            }
            (LaneWidth::W64, Isa::Avx512) => {
                let t = self.temporary();
                self.shift_by(width, Shift::RightSigned, t, x, 63);
                let (bits, to) = (self.bits(width), self.result());
                self.asm.vector(only::I64_TO_I32, bits, t, 0, Rm::Reg(to));
            }
            (LaneWidth::W64, Isa::Avx2) => {
                let t = self.temporary();
                self.halves(t, x, LaneHalf::Upper);
                let to = self.result();
                self.shift_by(LaneWidth::W32, Shift::RightSigned, to, t, 31);
            }
        }
    }
}
