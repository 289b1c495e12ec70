//! Instructions on lanes that arithmetic, tests and casts share: comparisons of floats, blends, halves of lanes,
//! pairs of vectors.
//!
//! Owns [`Relation`] and [`LaneHalf`].
//!
//! Not here: the operations that use them (`float.rs`, `comparisons.rs`, `convert.rs`).

use crate::code::encode::{Bits, Mem, Rm};
use crate::code::opcodes::{self, LaneWidth, only};
use crate::function_writer::{FunctionWriter, TEST};
use crate::isa::Isa;

/// Predicates of float comparisons. Only the last two are true for NaN.
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

/// A half of 64-bit lanes, as a shuffle's immediate.
#[derive(Clone, Copy)]
pub(super) enum LaneHalf {
    Lower = 0x88,
    Upper = 0xdd,
}

impl FunctionWriter<'_> {
    /// AVX2: sets all bits of the lanes where the relation holds.
    pub(super) fn compare_into(&mut self, to: u8, w: LaneWidth, x: u8, y: Rm, relation: Relation) {
        self.emit(opcodes::compare_float(w), w, to, x, y);
        self.asm.imm(relation as u8);
    }

    /// AVX-512: sets the mask register where the relation holds.
    pub(super) fn compare_mask(&mut self, w: LaneWidth, x: u8, y: Rm, relation: Relation) {
        self.emit(opcodes::compare_float(w), w, TEST, x, y);
        self.asm.imm(relation as u8);
    }

    /// AVX2: selects lanes of `yes` where `mask` is set, otherwise of `no`.
    pub(super) fn blend(&mut self, width: LaneWidth, to: u8, no: u8, yes: Rm, mask: u8) {
        self.emit(opcodes::blend_lanes(width), width, to, no, yes);
        self.asm.imm(mask << 4);
    }

    /// AVX-512: selects lanes of `yes` where the test holds, otherwise of `no`.
    pub(super) fn blend_by_test(&mut self, width: LaneWidth, to: u8, no: u8, yes: Rm) {
        let bits = self.bits(width);
        self.asm.merged(opcodes::blend_masked(width), bits, to, no, yes, TEST);
    }

    /// AVX2: gathers halves of four 64-bit lanes, into another register.
    pub(super) fn halves(&mut self, to: u8, from: u8, half: LaneHalf) {
        self.asm.vector(only::UPPER_128, Bits::B256, from, 0, Rm::Reg(to));
        self.asm.imm(1);
        self.asm.vector(only::SHUFFLE, Bits::B128, to, from, Rm::Reg(to));
        self.asm.imm(half as u8);
    }
}

/// Conversions between registers of one vector and of two (`plan/pairs.rs`).
impl FunctionWriter<'_> {
    /// Joins the operands: the lanes of two vectors in one register.
    pub(crate) fn join(&mut self) {
        let row = match self.isa {
            Isa::Avx2 => only::JOIN_128,
            Isa::Avx512 => only::JOIN_256,
        };
        let (first, second) = (self.reg(0), self.rm(1));
        let to = self.result();
        self.asm.vector(row, self.whole(), to, first, second);
        self.asm.imm(1);
    }

    /// Splits off the upper half of the operand: the lanes of the second of two vectors.
    pub(crate) fn split(&mut self) {
        let row = match self.isa {
            Isa::Avx2 => only::UPPER_128,
            Isa::Avx512 => only::UPPER_256,
        };
        match self.rm(0) {
            Rm::Reg(from) => {
                let to = self.result();
                self.asm.vector(row, self.whole(), from, 0, Rm::Reg(to));
                self.asm.imm(1);
            }
            Rm::Mem(from) => {
                let upper = Mem { disp: from.disp + i32::from(from.bytes), ..from };
                let to = self.result();
                self.emit(
                    opcodes::move_load(LaneWidth::W32),
                    LaneWidth::W32,
                    to,
                    0,
                    Rm::Mem(upper),
                );
            }
        }
    }

    /// A whole register.
    fn whole(&self) -> Bits {
        Bits::of_bytes(self.isa.bytes())
    }
}
