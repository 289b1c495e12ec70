//! AVX2: what it lacks for lanes of 64 bits, by their halves of 32 bits.
//!
//! A half becomes an exact float by its place in a float's bits: in the lowest bits of 2^52, it counts
//! ones; in those of 2^84, it counts 2^32.

use super::float::Rounding;
use super::lane_ops::Relation;
use super::{float_bits, magnitude_bits, sign_bit};
use crate::code::encode::Rm;
use crate::code::opcodes::{self, LaneWidth, Shift, only};
use crate::function_writer::FunctionWriter;

const W: LaneWidth = LaneWidth::W64;
/// Where a float counts ones in its lowest bits, and where it counts 2^32.
const ONES: f64 = 4503599627370496.0;
const UPPER: f64 = 4294967296.0 * ONES;
/// All above counts for negative ones too: halves are then less by this.
const SIGNED: f64 = 9223372036854775808.0;
const HALF: f64 = 4294967296.0;

impl FunctionWriter<'_> {
    /// `mul`: the product of the lower halves, and of each lower with the other upper half.
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

    /// An integer of 64 bits as a float64: both halves, added, which rounds once.
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
            // The half's highest bit flipped: it counts from its least number.
            place ^= 1 << 31;
            less += SIGNED;
        }
        let (place, less) = (self.constant(W, place), self.float_constant(less));
        self.emit(opcodes::xor(W), W, high, high, place);
        self.emit(opcodes::sub_float(W), W, high, high, less);
        let to = self.result();
        self.emit(opcodes::add_float(W), W, to, high, Rm::Reg(low));
    }

    /// A uint32, which one half of a float has room for.
    pub(super) fn u32_to_f64_by_place(&mut self) {
        let (x, t) = (self.reg(0), self.temporary());
        self.emit(only::U32_TO_U64, W, t, 0, Rm::Reg(x));
        let ones = self.float_constant(ONES);
        self.emit(opcodes::or(W), W, t, t, ones);
        let to = self.result();
        self.emit(opcodes::sub_float(W), W, to, t, ones);
    }

    /// The register of the operand as a float64.
    pub(super) fn as_f64(&mut self, is_wide: bool) -> u8 {
        let x = self.reg(0);
        if is_wide {
            return x;
        }
        let t = self.temporary();
        self.emit(only::F32_TO_F64, W, t, 0, Rm::Reg(x));
        t
    }

    /// The int64 that a float64 is truncated to, into a temporary register: how often 2^32 fits, and
    /// the rest, which are both exact. The least int64 for what does not fit.
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
        // The lowest bits of what counts ones are the number's, negative or not.
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

    /// The uint64 that a float64 is truncated to: from 2^63 on, less by that before, and its bit
    /// flipped after.
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
