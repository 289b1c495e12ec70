//! float16, computed in lanes of float32.
//!
//! Results of sums, products, quotients, roots and casts are rounded once more. Selects, comparisons and changes of
//! sign are float32's own. Invariant: a lane of a float16 always holds a float16's value. Loads and stores between
//! which a value only moves keep the bits of a signalling NaN, of which the conversions make a quiet one
//! (`plan/moved_halves.rs`).
//!
//! Not here: the arithmetic before rounding (`float.rs`).

use super::lane_ops::Relation;
use crate::code::encode::{Mem, Rm};
use crate::code::opcodes::{self, LaneWidth, Shift, only};
use crate::function_writer::{FunctionWriter, TEST};
use crate::isa::Isa;
use gpupy_core::DType;
use gpupy_core::op::Op;

/// Rounding to nearest, as the instruction's immediate.
const NEAREST: u8 = 0;

/// From a bit of a float16's fraction to that of a float32's.
const FRACTION_SHIFT: u8 = 13;
/// The bit that tells a quiet NaN of float16.
const QUIET: u64 = 1 << 9;

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
        let (bits, existing) = (self.bits(LaneWidth::W32), self.existing());
        if !self.keeps_bits() {
            let to = self.result();
            self.asm.masked(only::HALVES_TO_LANES, bits, to, 0, Rm::Mem(from), existing);
            return;
        }
        let (words, lanes) = (self.temporary(), self.temporary());
        self.asm.masked(only::U16_TO_I32, bits, words, 0, Rm::Mem(from), existing);
        self.asm.masked(only::HALVES_TO_LANES, bits, lanes, 0, Rm::Mem(from), existing);
        self.signalling_again(words, lanes);
    }

    /// The task's result: the converted lanes, in which each NaN is quiet, with the signalling NaNs of the float16s in
    /// the lower halves of `words`.
    fn signalling_again(&mut self, words: u8, lanes: u8) {
        let w = LaneWidth::W32;
        self.shift_by(w, Shift::Left, words, words, FRACTION_SHIFT);
        let quieted = self.quieted(lanes, words, QUIET << FRACTION_SHIFT);
        let to = self.result();
        self.emit(opcodes::xor(w), w, to, lanes, Rm::Reg(quieted));
    }

    /// This bit of the lanes of `words` that lack it, where a lane of `lanes` is NaN.
    fn quieted(&mut self, lanes: u8, words: u8, bit: u64) -> u8 {
        let (w, found) = (LaneWidth::W32, self.temporary());
        if self.isa == Isa::Avx512 {
            let bits = self.bits(w);
            self.compare_mask(w, lanes, Rm::Reg(lanes), Relation::Unordered);
            self.asm.vector(only::MASK_TO_LANES, bits, found, 0, Rm::Reg(TEST));
        } else {
            self.compare_into(found, w, lanes, Rm::Reg(lanes), Relation::Unordered);
        }
        let bit = self.constant(w, bit);
        self.emit(opcodes::and(w), w, found, found, bit);
        self.emit(opcodes::and_not(w), w, found, words, Rm::Reg(found));
        found
    }

    /// Broadcasts one element to all points.
    pub(super) fn spread_float16(&mut self, from: Mem) {
        let (bits, element) = (self.bits(LaneWidth::W32), Mem { bytes: 2, ..from });
        if self.keeps_bits() {
            let (words, lanes) = (self.temporary(), self.temporary());
            self.asm.vector(only::BROADCAST_WORD, bits, words, 0, Rm::Mem(element));
            self.asm.vector(only::HALVES_TO_LANES, bits, lanes, 0, Rm::Reg(words));
            return self.signalling_again(words, lanes);
        }
        let to = self.result();
        self.asm.vector(only::BROADCAST_WORD, bits, to, 0, Rm::Mem(element));
        self.asm.vector(only::HALVES_TO_LANES, bits, to, 0, Rm::Reg(to));
    }

    /// Stores consecutive elements.
    pub(super) fn store_float16(&mut self, from: u8, to: Mem) {
        let (w, existing) = (LaneWidth::W32, self.existing());
        let bits = self.bits(w);
        if self.keeps_bits() {
            let words = self.temporary();
            self.shift_by(w, Shift::Right, words, from, FRACTION_SHIFT);
            let quieted = self.quieted(from, words, QUIET);
            self.asm.vector(only::LANES_TO_HALVES, bits, from, 0, Rm::Reg(words));
            self.asm.imm(NEAREST);
            self.asm.vector(only::U16_TO_I32, bits, words, 0, Rm::Reg(words));
            self.emit(opcodes::xor(w), w, words, words, Rm::Reg(quieted));
            return self.store_small(DType::U16, words, to);
        }
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
