//! 64-bit operations that AVX2 lacks, computed in halves of 32 bits.
//!
//! A half becomes an exact float64 by its position in the float's bits: in the lowest bits of 2^52 it counts ones; in
//! those of 2^84 it counts multiples of 2^32.

use super::float::Rounding;
use super::lane_ops::Relation;
use super::{float_bits, magnitude_bits, sign_bit};
use crate::code::encode::Rm;
use crate::code::opcodes::{self, LaneWidth, Shift, only};
use crate::function_writer::FunctionWriter;

const W: LaneWidth = LaneWidth::W64;
/// The floats with lowest bits that count ones, and that count multiples of 2^32.
const ONES: f64 = 4503599627370496.0;
const UPPER: f64 = 4294967296.0 * ONES;
/// Negative numbers are treated alike, with halves that are less by this number.
const SIGNED: f64 = 9223372036854775808.0;
const HALF: f64 = 4294967296.0;

impl FunctionWriter<'_> {
    /// `mul`: the product of the lower halves, plus the products of each lower with the other upper half.
    pub(super) fn mul_by_halves(&mut self) {
        let (x, y) = (self.reg(0), self.reg(1));
        let (t, u) = (self.temporary(), self.temporary());
        self.shift_by(W, Shift::Right, t, x, 32);
        self.emit(only::MUL_HALVES, W, t, t, Rm::Reg(y));
        self.shift_by(W, Shift::Right, u, y, 32);
        self.emit(only::MUL_HALVES, W, u, u, Rm::Reg(x));
        self.emit(opcodes::add_int(W), W, t, t, Rm::Reg(u));
        self.shift_by(W, Shift::Left, t, t, 32);
        self.emit(only::MUL_HALVES, W, u, x, Rm::Reg(y));
        let to = self.result();
        self.emit(opcodes::add_int(W), W, to, t, Rm::Reg(u));
    }

    /// Casts a 64-bit integer to float64: the sum of both halves, which rounds once.
    pub(super) fn int_to_f64_by_halves(&mut self, signed: bool) {
        let x = self.reg(0);
        let (low, high) = (self.temporary(), self.temporary());
        let (lower, ones) = (self.constant(W, 0xffff_ffff), self.float_constant(ONES));
        self.emit(opcodes::and(W), W, low, x, lower);
        self.emit(opcodes::or(W), W, low, low, ones);
        self.shift_by(W, Shift::Right, high, x, 32);
        let mut place = UPPER.to_bits();
        let mut less = UPPER + ONES;
        if signed {
            // The half's highest bit is flipped, so that it counts from the least number.
            place ^= 1 << 31;
            less += SIGNED;
        }
        let (place, less) = (self.constant(W, place), self.float_constant(less));
        self.emit(opcodes::xor(W), W, high, high, place);
        self.emit(opcodes::sub_float(W), W, high, high, less);
        let to = self.result();
        self.emit(opcodes::add_float(W), W, to, high, Rm::Reg(low));
    }

    /// Casts a uint32, which fits the lowest bits of a float.
    pub(super) fn u32_to_f64_by_place(&mut self) {
        let (x, t) = (self.reg(0), self.temporary());
        self.emit(only::U32_TO_U64, W, t, 0, Rm::Reg(x));
        let ones = self.float_constant(ONES);
        self.emit(opcodes::or(W), W, t, t, ones);
        let to = self.result();
        self.emit(opcodes::sub_float(W), W, to, t, ones);
    }

    /// A register with the operand as float64.
    pub(super) fn as_f64(&mut self, is_wide: bool) -> u8 {
        let x = self.reg(0);
        if is_wide {
            return x;
        }
        let t = self.temporary();
        self.emit(only::F32_TO_F64, W, t, 0, Rm::Reg(x));
        t
    }

    /// Truncates a float64 to int64, into a temporary register: the quotient by 2^32 and the remainder, which are both
    /// exact. Values that do not fit give the least int64.
    pub(super) fn truncated_by_halves(&mut self, x: u8) -> u8 {
        let (whole, high) = (self.temporary(), self.temporary());
        self.emit(opcodes::round(W), W, whole, 0, Rm::Reg(x));
        self.asm.imm(Rounding::Truncate as u8);
        let (down, up) = (self.float_constant(1.0 / HALF), self.float_constant(HALF));
        self.emit(opcodes::mul_float(W), W, high, whole, down);
        self.emit(opcodes::round(W), W, high, 0, Rm::Reg(high));
        self.asm.imm(Rounding::Down as u8);
        let part = self.temporary();
        self.emit(opcodes::mul_float(W), W, part, high, up);
        self.emit(opcodes::sub_float(W), W, whole, whole, Rm::Reg(part));
        // The lowest bits of the float that counts ones are the number's, negative or not.
        let (ones, signed) = (self.float_constant(ONES), self.float_constant(1.5 * ONES));
        self.emit(opcodes::add_float(W), W, high, high, signed);
        self.shift_by(W, Shift::Left, high, high, 32);
        self.emit(opcodes::add_float(W), W, whole, whole, ones);
        self.emit(opcodes::xor(W), W, whole, whole, ones);
        self.emit(opcodes::or(W), W, whole, whole, Rm::Reg(high));
        let (magnitude, most) = (self.constant(W, magnitude_bits(W)), self.float_constant(SIGNED));
        self.emit(opcodes::and(W), W, part, x, magnitude);
        self.compare_into(part, W, part, most, Relation::Less);
        let least = self.constant(W, sign_bit(W));
        self.emit(opcodes::move_load(W), W, high, 0, least);
        self.blend(W, whole, high, Rm::Reg(whole), part);
        whole
    }

    /// Truncates a float64 to uint64. From 2^63 on, 2^63 is subtracted before, and the highest bit flipped after.
    pub(super) fn truncated_unsigned_by_halves(&mut self, x: u8) -> u8 {
        let (large, less) = (self.temporary(), self.temporary());
        let half = self.float_constant(SIGNED);
        self.compare_into(large, W, x, half, Relation::GreaterOrEqual);
        self.emit(opcodes::and(W), W, less, large, half);
        self.emit(opcodes::sub_float(W), W, less, x, Rm::Reg(less));
        let whole = self.truncated_by_halves(less);
        self.shift_by(W, Shift::Left, large, large, 63);
        self.emit(opcodes::xor(W), W, whole, whole, Rm::Reg(large));
        whole
    }

    fn float_constant(&mut self, value: f64) -> Rm {
        self.constant(W, float_bits(W, value))
    }
}
