//! Comparisons, tests of floats, and selects.
//!
//! With AVX-512 a comparison sets a mask register. A select that is its only use takes the mask directly; otherwise the
//! mask becomes lanes.
//!
//! Not here: instructions that compare floats and blend (`lane_ops.rs`).

use super::lane_ops::{LaneHalf, Relation};
use super::{ONES, float_bits, magnitude_bits, sign_bit};
use crate::code::encode::{Bits, Rm};
use crate::code::opcodes::{self, LaneWidth, only};
use crate::function_writer::{FunctionWriter, TEST};
use crate::isa::Isa;
use gpupy_core::DType;
use gpupy_core::ir::Inst;
use gpupy_core::op::Op;

impl FunctionWriter<'_> {
    /// A test with bools as its value.
    pub(super) fn test(&mut self, inst: &Inst) -> Option<()> {
        let dtype = self.dtype(inst, 0);
        let width = LaneWidth::of(dtype)?;
        if self.isa == Isa::Avx512 {
            self.test_mask(inst.op, dtype)?;
            let (bits, to) = (self.bits(LaneWidth::W32), self.result());
            self.asm.vector(only::MASK_TO_LANES, bits, to, 0, Rm::Reg(TEST));
        } else if dtype.is_float() {
            self.test_float_lanes(inst.op, width)?;
        } else {
            self.compare_int_lanes(inst.op, dtype, width)?;
        }
        Some(())
    }

    /// AVX-512: sets the mask register by a test of the task's first operands.
    fn test_mask(&mut self, op: Op, dtype: DType) -> Option<()> {
        let w = LaneWidth::of(dtype)?;
        if dtype.is_float() {
            let (x, y, relation) = self.relation(op, w)?;
            self.compare_mask(w, x, y, relation);
            return Some(());
        }
        let (x, y) = (self.reg(0), self.rm(1));
        let signed = dtype.is_signed_int();
        let row = if signed { opcodes::compare_signed(w) } else { opcodes::compare_unsigned(w) };
        self.emit(row, w, TEST, x, y);
        self.asm.imm(match op {
            Op::Eq => 0,
            Op::Lt => 1,
            Op::Le => 2,
            Op::Ne => 4,
            Op::Ge => 5,
            _ => 6,
        });
        Some(())
    }

    /// The comparison that tests a float.
    fn relation(&mut self, op: Op, w: LaneWidth) -> Option<(u8, Rm, Relation)> {
        let relation = match op {
            Op::Eq => Relation::Equal,
            Op::Ne => Relation::NotEqual,
            Op::Lt => Relation::Less,
            Op::Le => Relation::LessOrEqual,
            Op::Gt => Relation::Greater,
            Op::Ge => Relation::GreaterOrEqual,
            Op::IsNan => Relation::Unordered,
            Op::IsInf => Relation::Equal,
            Op::IsFinite => Relation::Less,
            _ => return None,
        };
        let x = self.reg(0);
        Some(match op {
            Op::IsNan => (x, Rm::Reg(x), relation),
            Op::IsInf | Op::IsFinite => {
                let (magnitude, bits) = (self.temporary(), self.constant(w, magnitude_bits(w)));
                self.emit(opcodes::and(w), w, magnitude, x, bits);
                (magnitude, self.constant(w, float_bits(w, f64::INFINITY)), relation)
            }
            _ => (x, self.rm(1), relation),
        })
    }

    fn test_float_lanes(&mut self, op: Op, w: LaneWidth) -> Option<()> {
        let (x, y, relation) = self.relation(op, w)?;
        let to = self.lanes_of(w);
        self.compare_into(to, w, x, y, relation);
        self.lanes_done(w, to);
        Some(())
    }

    /// AVX2: the only comparisons are `equal` and `greater`, of signed numbers.
    fn compare_int_lanes(&mut self, op: Op, dtype: DType, w: LaneWidth) -> Option<()> {
        let (greater, swapped, inverted) = match op {
            Op::Eq => (false, false, false),
            Op::Ne => (false, false, true),
            Op::Gt => (true, false, false),
            Op::Lt => (true, true, false),
            Op::Le => (true, false, true),
            Op::Ge => (true, true, true),
            _ => return None,
        };
        let (first, second) = if swapped { (1, 0) } else { (0, 1) };
        let (x, y) = if greater && !dtype.is_signed_int() {
            // With their highest bits flipped, unsigned numbers have the order of signed ones.
            let (a, b) = (self.temporary(), self.temporary());
            let (x, y, flip) = (self.reg(first), self.reg(second), self.constant(w, sign_bit(w)));
            self.emit(opcodes::xor(w), w, a, x, flip);
            self.emit(opcodes::xor(w), w, b, y, flip);
            (a, Rm::Reg(b))
        } else {
            (self.reg(first), self.rm(second))
        };
        let row = if greater { opcodes::greater_lanes(w) } else { opcodes::equal_lanes(w) };
        if !inverted {
            let to = self.lanes_of(w);
            self.emit(row, w, to, x, y);
            self.lanes_done(w, to);
            return Some(());
        }
        let t = self.temporary();
        self.emit(row, w, t, x, y);
        let ones = self.constant(w, ONES);
        let to = self.lanes_of(w);
        self.emit(opcodes::xor(w), w, to, t, ones);
        self.lanes_done(w, to);
        Some(())
    }

    /// AVX2: the register for the lanes of a comparison, which `lanes_done` converts to bools.
    pub(super) fn lanes_of(&mut self, w: LaneWidth) -> u8 {
        match w {
            LaneWidth::W32 => self.result(),
            LaneWidth::W64 => self.temporary(),
        }
    }

    /// AVX2: converts lanes of a comparison to bools, which are lanes of 32 bits.
    pub(super) fn lanes_done(&mut self, w: LaneWidth, from: u8) {
        if w == LaneWidth::W64 {
            let t = self.temporary();
            self.halves(t, from, LaneHalf::Upper);
            self.done_in(t);
        }
    }

    /// `select`. The last operands are the two values.
    pub(super) fn select(&mut self, inst: &Inst) -> Option<()> {
        let w = LaneWidth::of(inst.dtype)?;
        if self.plan.is_folded(inst.args[0]) {
            let test = self.plan.inst(inst.args[0]);
            let first = test.op.info().arity as usize;
            self.test_mask(test.op, self.dtype(test, 0))?;
            let (no, yes) = (self.reg(first + 1), self.rm(first));
            let to = self.result();
            self.blend_by_test(w, to, no, yes);
            return Some(());
        }
        self.choose(w)
    }

    /// Selects between the task's second and third operand by the first.
    fn choose(&mut self, w: LaneWidth) -> Option<()> {
        let (no, yes) = (self.reg(2), self.rm(1));
        match (self.isa, w) {
            (Isa::Avx512, LaneWidth::W32) => {
                let in_yes = self.reg(1);
                let (no, condition) = (Rm::Reg(no), self.overwritable(0));
                self.emit(opcodes::ternary_logic(w), w, condition, in_yes, no);
                self.asm.imm(CHOICE);
                self.done_in(condition);
            }
            (Isa::Avx512, LaneWidth::W64) => {
                let (bits, condition) = (self.bits(LaneWidth::W32), self.reg(0));
                self.asm.vector(only::LANES_TO_MASK, bits, TEST, 0, Rm::Reg(condition));
                let to = self.result();
                self.blend_by_test(w, to, no, yes);
            }
            (Isa::Avx2, _) => {
                let mut mask = self.reg(0);
                if w == LaneWidth::W64 {
                    let (wide, bits) = (self.temporary(), self.bits(w));
                    self.asm.vector(only::I32_TO_I64, bits, wide, 0, Rm::Reg(mask));
                    mask = wide;
                }
                let to = self.result();
                self.blend(w, to, no, yes, mask);
            }
        }
        Some(())
    }
}

impl FunctionWriter<'_> {
    /// A result of an `if`: the second branch's value, unless the condition is uniform.
    pub(super) fn chosen(&mut self, inst: &Inst) -> Option<()> {
        if self.is_uniform() {
            return self.choose(LaneWidth::of(inst.dtype)?);
        }
        let usual = self.overwritable(0);
        self.done_in(usual);
        Some(())
    }

    /// The test of an `if`: the processor's zero flag is clear if a point takes the first branch.
    pub(crate) fn leave(&mut self, inst: &Inst) -> Option<()> {
        let bits = self.bits(LaneWidth::W32);
        if self.plan.is_folded(inst.args[0]) {
            let test = self.plan.inst(inst.args[0]);
            self.test_mask(test.op, self.dtype(test, 0))?;
        } else {
            let condition = Rm::Reg(self.reg(0));
            match self.isa {
                Isa::Avx512 => self.asm.vector(only::LANES_TO_MASK, bits, TEST, 0, condition),
                Isa::Avx2 => {
                    let Rm::Reg(reg) = condition else { return None };
                    self.asm.vector(only::TEST_ALL, bits, reg, 0, condition);
                    return Some(());
                }
            }
        }
        self.asm.vex(only::TEST_MASK, Bits::B128, TEST, 0, Rm::Reg(TEST));
        Some(())
    }

    /// A result of an `if`, at the end of its detour.
    pub(crate) fn merge(&mut self, inst: &Inst) -> Option<()> {
        let w = LaneWidth::of(inst.dtype)?;
        let (condition, yes, no) = (self.reg(0), Rm::Reg(self.reg(1)), self.reg(2));
        let to = self.temporary();
        let narrow = self.bits(LaneWidth::W32);
        if self.isa == Isa::Avx512 {
            self.asm.vector(only::LANES_TO_MASK, narrow, TEST, 0, Rm::Reg(condition));
            self.blend_by_test(w, to, no, yes);
        } else if w == LaneWidth::W64 {
            let (wide, bits) = (self.temporary(), self.bits(w));
            self.asm.vector(only::I32_TO_I64, bits, wide, 0, Rm::Reg(condition));
            self.blend(w, to, no, yes, wide);
        } else {
            self.blend(w, to, no, yes, condition);
        }
        self.rewrite(to);
        Some(())
    }
}

/// The truth table of a ternary operation on bits: the second if the first is set, otherwise the third.
const CHOICE: u8 = 0b1100_1010;
