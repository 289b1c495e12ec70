//! Instructions on lanes that arithmetic, tests and casts share: comparisons of floats, choices by lane, and halves
//! of lanes.
//!
//! Owns [`Relation`] and [`LaneHalf`].
//!
//! Not here: which operation compares or chooses what (`float.rs`, `comparisons.rs`, `convert.rs`).

use crate::code::encode::{Bits, Rm};
use crate::code::opcodes::{self, LaneWidth, only};
use crate::function_writer::{FunctionWriter, TEST};

/// Predicates of float comparisons: none of them is true for NaN, but for the last two.
#[derive(Clone, Copy)]
pub(super) enum Relation {
    Equal = 0x00,
    Less = 0x11,
    LessOrEqual = 0x12,
    Greater = 0x1e,
    GreaterOrEqual = 0x1d,
    OrderedNotEqual = 0x0c,
    NotEqual = 0x04,
    Unordered = 0x03,
}

/// Which halves of lanes of 64 bits, as a shuffle's immediate says it.
#[derive(Clone, Copy)]
pub(super) enum LaneHalf {
    Lower = 0x88,
    Upper = 0xdd,
}

impl FunctionWriter<'_> {
    /// AVX2: all bits of the lanes where the relation holds.
    pub(super) fn compare_into(&mut self, to: u8, w: LaneWidth, x: u8, y: Rm, relation: Relation) {
        self.emit(opcodes::compare_float(w), w, to, x, y);
        self.asm.imm(relation as u8);
    }

    /// AVX-512: the test's mask register, set where the relation holds.
    pub(super) fn compare_mask(&mut self, w: LaneWidth, x: u8, y: Rm, relation: Relation) {
        self.emit(opcodes::compare_float(w), w, TEST, x, y);
        self.asm.imm(relation as u8);
    }

    /// AVX2: lanes of `yes` where `mask` has them set, otherwise of `no`.
    pub(super) fn blend(&mut self, width: LaneWidth, to: u8, no: u8, yes: Rm, mask: u8) {
        self.emit(opcodes::blend_lanes(width), width, to, no, yes);
        self.asm.imm(mask << 4);
    }

    /// AVX-512: lanes of `yes` where the test holds, otherwise of `no`.
    pub(super) fn blend_by_test(&mut self, width: LaneWidth, to: u8, no: u8, yes: Rm) {
        let bits = self.bits(width);
        self.asm.merged(opcodes::blend_masked(width), bits, to, no, yes, TEST);
    }

    /// AVX2: halves of four lanes of 64 bits, into another register.
    pub(super) fn halves(&mut self, to: u8, from: u8, half: LaneHalf) {
        self.asm.vector(only::UPPER_128, Bits::B256, from, 0, Rm::Reg(to));
        self.asm.imm(1);
        self.asm.vector(only::SHUFFLE, Bits::B128, to, from, Rm::Reg(to));
        self.asm.imm(half as u8);
    }
}
