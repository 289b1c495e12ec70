//! Casts.

use super::lane_ops::{LaneHalf, Relation};
use super::{float_bits, magnitude_bits, sign_bit};
use crate::code::encode::{Opcode, Rm};
use crate::code::opcodes::{self, LaneWidth, Shift, only};
use crate::function_writer::{FunctionWriter, TEST};
use crate::isa::Isa;
use gpupy_core::DType;

use DType::{Bool, F32, F64, I32, I64, U32, U64};

impl FunctionWriter<'_> {
    /// `cast` between dtypes with different lanes. Other casts are aliases.
    pub(super) fn cast(&mut self, from: DType, to: DType) -> Option<()> {
        let wide = self.isa == Isa::Avx512;
        match (from, to) {
            (Bool, _) => self.bool_to(to)?,
            (_, Bool) => self.differs_from_zero(from)?,
            (_, to) if to.size() < 4 => self.cast_to_small(from, to),
            (from, _) if from.size() < 4 => self.cast(I32, to)?,
            (I32, F32) => self.convert(only::I32_TO_F32, LaneWidth::W32),
            (I32, F64) => self.convert(only::I32_TO_F64, LaneWidth::W64),
            (F32, I32) => self.convert(only::F32_TO_I32, LaneWidth::W32),
            (F64, I32) => self.convert(only::F64_TO_I32, LaneWidth::W64),
            (F32, F64) => self.convert(only::F32_TO_F64, LaneWidth::W64),
            (F64, F32) => self.convert(only::F64_TO_F32, LaneWidth::W64),
            (I32, I64 | U64) => self.convert(only::I32_TO_I64, LaneWidth::W64),
            (U32, I64 | U64) => self.convert(only::U32_TO_U64, LaneWidth::W64),
            (I64 | U64, I32 | U32) => self.low_half(),
            (U32, F32) if wide => self.convert(only::U32_TO_F32, LaneWidth::W32),
            (U32, F32) => self.u32_to_f32_by_halves(),
            (F32, U32) => self.f32_to_u32(),
            (U32, F64) if wide => self.convert(only::U32_TO_F64, LaneWidth::W64),
            (F64, I64) if wide => self.convert(only::F64_TO_I64, LaneWidth::W64),
            (F32, I64) if wide => self.convert(only::F32_TO_I64, LaneWidth::W64),
            (F64, U32) if wide => self.f64_to_u32(),
            (F64 | F32, U64) if wide => self.float_to_u64(from),
            (I64, F64) if wide => self.convert(only::I64_TO_F64, LaneWidth::W64),
            (U64, F64) if wide => self.convert(only::U64_TO_F64, LaneWidth::W64),
            (I64, F32) if wide => self.convert(only::I64_TO_F32, LaneWidth::W64),
            (U64, F32) if wide => self.convert(only::U64_TO_F32, LaneWidth::W64),
            (U32, F64) => self.u32_to_f64_by_place(),
            (I64 | U64, F64) => self.int_to_f64_by_halves(from == I64),
            (F64 | F32, I64) => {
                let x = self.as_f64(from == F64);
                let whole = self.truncated_by_halves(x);
                self.done_in(whole);
            }
            (F64 | F32, U64) => {
                let x = self.as_f64(from == F64);
                let whole = self.truncated_unsigned_by_halves(x);
                self.done_in(whole);
            }
            (F64, U32) => {
                let x = self.reg(0);
                let (whole, low) = (self.truncated_by_halves(x), self.temporary());
                self.halves(low, whole, LaneHalf::Lower);
                self.done_in(low);
            }
            _ => return None,
        }
        Some(())
    }

    /// A conversion by one instruction. `width` is the width of the wider lanes.
    fn convert(&mut self, row: Opcode, width: LaneWidth) {
        let x = self.reg(0);
        let to = self.result();
        self.emit(row, width, to, 0, Rm::Reg(x));
    }

    /// Casts a bool: 1, as an integer or float, where it holds.
    fn bool_to(&mut self, to: DType) -> Option<()> {
        let w = LaneWidth::of(to)?;
        let one = self.constant(w, if to.is_float() { float_bits(w, 1.0) } else { 1 });
        let mut mask = self.reg(0);
        if w == LaneWidth::W64 {
            let wide = self.temporary();
            self.emit(only::I32_TO_I64, w, wide, 0, Rm::Reg(mask));
            mask = wide;
        }
        let to = self.result();
        self.emit(opcodes::and(w), w, to, mask, one);
        Some(())
    }

    /// Casts to bool: whether the value differs from zero.
    fn differs_from_zero(&mut self, from: DType) -> Option<()> {
        let w = LaneWidth::of(from)?;
        let (x, zero) = (self.reg(0), self.constant(w, 0));
        if self.isa == Isa::Avx512 {
            if from.is_float() {
                self.compare_mask(w, x, zero, Relation::NotEqual);
            } else {
                self.emit(opcodes::test_bits(w), w, TEST, x, Rm::Reg(x));
            }
            let (bits, to) = (self.bits(LaneWidth::W32), self.result());
            self.asm.vector(only::MASK_TO_LANES, bits, to, 0, Rm::Reg(TEST));
            return Some(());
        }
        if from.is_float() {
            let to = self.lanes_of(w);
            self.compare_into(to, w, x, zero, Relation::NotEqual);
            self.lanes_done(w, to);
        } else {
            let is_zero = self.temporary();
            self.emit(opcodes::equal_lanes(w), w, is_zero, x, zero);
            let ones = self.constant(w, super::ONES);
            let to = self.lanes_of(w);
            self.emit(opcodes::xor(w), w, to, is_zero, ones);
            self.lanes_done(w, to);
        }
        Some(())
    }

    /// Narrows each lane to its low 32 bits.
    fn low_half(&mut self) {
        let x = self.reg(0);
        let t = self.low_halves(x);
        self.done_in(t);
    }

    /// Narrows lanes to their low 32 bits, in a temporary register.
    pub(super) fn low_halves(&mut self, x: u8) -> u8 {
        let t = self.temporary();
        if self.isa == Isa::Avx512 {
            let bits = self.bits(LaneWidth::W64);
            self.asm.vector(only::I64_TO_I32, bits, x, 0, Rm::Reg(t));
        } else {
            self.halves(t, x, LaneHalf::Lower);
        }
        t
    }

    /// AVX2: both halves become exact floats by their position in a float's bits. Their sum rounds once.
    fn u32_to_f32_by_halves(&mut self) {
        let (x, w) = (self.reg(0), LaneWidth::W32);
        let (low, high) = (self.temporary(), self.temporary());
        // The lowest bits of 2^23 count ones; those of 2^39 count multiples of 65536.
        let (at_23, at_39) = (2f64.powi(23), 2f64.powi(39));
        let low_bits = self.constant(w, 0xffff);
        self.emit(opcodes::and(w), w, low, x, low_bits);
        let place = self.constant(w, float_bits(w, at_23));
        self.emit(opcodes::or(w), w, low, low, place);
        self.shift_by(w, Shift::Right, high, x, 16);
        let place = self.constant(w, float_bits(w, at_39));
        self.emit(opcodes::or(w), w, high, high, place);
        let both = self.constant(w, float_bits(w, at_39 + at_23));
        self.emit(opcodes::sub_float(w), w, high, high, both);
        let to = self.result();
        self.emit(opcodes::add_float(w), w, to, high, Rm::Reg(low));
    }

    /// Truncates to int64 and takes the low 32 bits, which are 0 from 2^63 on. The remainder of the magnitude by 2^32
    /// is exact, and gets the sign as an integer.
    fn f32_to_u32(&mut self) {
        let (x, w) = (self.reg(0), LaneWidth::W32);
        let (rest, t) = (self.temporary(), self.temporary());
        let magnitude = self.constant(w, magnitude_bits(w));
        self.emit(opcodes::and(w), w, rest, x, magnitude);
        let (down, up) = (2f64.powi(-32), 2f64.powi(32));
        let down = self.constant(w, float_bits(w, down));
        self.emit(opcodes::mul_float(w), w, t, rest, down);
        self.emit(opcodes::round(w), w, t, 0, Rm::Reg(t));
        self.asm.imm(super::float::Rounding::Truncate as u8);
        let up = self.constant(w, float_bits(w, up));
        self.emit(opcodes::mul_float(w), w, t, t, up);
        self.emit(opcodes::sub_float(w), w, rest, rest, Rm::Reg(t));
        // From 2^31 on, 2^31 is subtracted and added back as a bit.
        let half = self.constant(w, float_bits(w, 2f64.powi(31)));
        if self.isa == Isa::Avx512 {
            self.emit(only::F32_TO_U32, w, rest, 0, Rm::Reg(rest));
        } else {
            let large = self.temporary();
            self.emit(opcodes::compare_float(w), w, large, rest, half);
            self.asm.imm(Relation::GreaterOrEqual as u8);
            self.emit(opcodes::and(w), w, t, large, half);
            self.emit(opcodes::sub_float(w), w, rest, rest, Rm::Reg(t));
            self.emit(only::F32_TO_I32, w, rest, 0, Rm::Reg(rest));
            self.shift_by(w, Shift::Left, large, large, 31);
            self.emit(opcodes::xor(w), w, rest, rest, Rm::Reg(large));
        }
        // The sign, and 0 for values that do not fit.
        let sign = self.temporary();
        self.shift_by(w, Shift::RightSigned, sign, x, 31);
        self.emit(opcodes::xor(w), w, rest, rest, Rm::Reg(sign));
        self.emit(opcodes::sub_int(w), w, rest, rest, Rm::Reg(sign));
        self.emit(opcodes::and(w), w, t, x, magnitude);
        let most = self.constant(w, float_bits(w, 2f64.powi(63)));
        if self.isa == Isa::Avx512 {
            self.compare_mask(w, t, most, Relation::Less);
            let bits = self.bits(w);
            let to = self.result();
            self.asm.masked(opcodes::move_register(w), bits, to, 0, Rm::Reg(rest), TEST);
        } else {
            self.compare_into(t, w, t, most, Relation::Less);
            let to = self.result();
            self.emit(opcodes::and(w), w, to, rest, Rm::Reg(t));
        }
    }

    /// AVX-512: truncates to int64 and takes the low bits.
    fn f64_to_u32(&mut self) {
        let (x, t, w) = (self.reg(0), self.temporary(), LaneWidth::W64);
        self.emit(only::F64_TO_I64, w, t, 0, Rm::Reg(x));
        let (bits, to) = (self.bits(w), self.result());
        self.asm.vector(only::I64_TO_I32, bits, t, 0, Rm::Reg(to));
    }

    /// AVX-512: from 2^63 on, 2^63 is subtracted before, and the highest bit flipped after.
    fn float_to_u64(&mut self, from: DType) {
        let (mut x, w) = (self.reg(0), LaneWidth::W64);
        let (t, whole) = (self.temporary(), self.temporary());
        if from == F32 {
            self.emit(only::F32_TO_F64, w, whole, 0, Rm::Reg(x));
            x = whole;
        }
        let half = self.constant(w, float_bits(w, 2f64.powi(63)));
        self.compare_mask(w, x, half, Relation::GreaterOrEqual);
        self.emit(opcodes::sub_float(w), w, t, x, half);
        self.blend_by_test(w, t, x, Rm::Reg(t));
        self.emit(only::F64_TO_I64, w, t, 0, Rm::Reg(t));
        let (flip, bits) = (self.constant(w, sign_bit(w)), self.bits(w));
        self.asm.merged(opcodes::xor(w), bits, t, t, flip, TEST);
        self.done_in(t);
    }
}
