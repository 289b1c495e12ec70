//! Gathers: the elements of an operand at computed indices, which are clamped into it.
//!
//! Where the indices of a vector are consecutive, as in a row of pixels that has moved, their elements are one load.
//! The test costs little beside a gather, and rows of either kind follow each other, so that it is predicted well.
//!
//! Not here: loads by strides (`leaf.rs`), elements of less than 32 bits, which the driver interprets.

use crate::code::encode::gpr::*;
use crate::code::encode::{Bits, If, Mem, Rm};
use crate::code::opcodes::{self, LaneWidth, only};
use crate::function_writer::{FunctionWriter, TABLES, TEST};
use crate::isa::Isa;
use gpupy_core::ir::Inst;

impl FunctionWriter<'_> {
    /// `gather`.
    pub(super) fn gather(&mut self, inst: &Inst) -> Option<()> {
        let (width, w) = (LaneWidth::of(inst.dtype)?, LaneWidth::W32);
        let (bits, bits_of_index) = (self.bits(width), self.bits(w));
        let given = self.reg(0);
        let [index, to, other] = [self.temporary(), self.temporary(), self.temporary()];
        let table = 16 * inst.args[0] as i32;
        let (first, last) = (Mem::at(TABLES, table, 8), Mem::at(TABLES, table + 8, w.bytes()));
        let zero = self.constant(w, 0);
        self.emit(opcodes::max_signed(w), w, index, given, zero);
        let last = if self.isa == Isa::Avx512 {
            Rm::Mem(Mem { broadcast: true, ..last })
        } else {
            self.broadcast(w, other, last);
            Rm::Reg(other)
        };
        self.emit(opcodes::min_signed(w), w, index, index, last);
        self.asm.load(R15, first);
        self.asm.vector(only::STORE_4, Bits::B128, index, 0, Rm::Reg(RAX.0));
        let scale = width.bytes().trailing_zeros() as u8;
        let at_first = Mem { index: Some((RAX, scale)), ..Mem::at(R15, 0, bits.bytes()) };
        if self.is_uniform() {
            self.broadcast(width, to, at_first);
            self.done_in(to);
            return Some(());
        }
        self.emit(opcodes::broadcast(w, false), w, other, 0, Rm::Reg(index));
        let numbers = self.numbers();
        self.emit(opcodes::add_int(w), w, other, other, numbers);
        let existing = self.existing();
        if self.isa == Isa::Avx512 {
            let row = opcodes::compare_signed(w);
            self.asm.merged(row, bits_of_index, TEST, index, Rm::Reg(other), existing);
            self.asm.imm(4);
            self.asm.vex(only::TEST_MASK, Bits::B128, TEST, 0, Rm::Reg(TEST));
        } else {
            self.emit(opcodes::xor(w), w, other, other, Rm::Reg(index));
            self.emit(only::TEST_ALL, w, other, 0, Rm::Reg(other));
        }
        let apart = self.asm.jump_if(If::NotZero);
        let row = opcodes::move_load(width);
        self.asm.masked(row, bits, to, 0, Rm::Mem(at_first), existing);
        let done = self.asm.jump();
        self.asm.land(apart);
        // Clamped indices are inside the operand, also those of points that do not exist.
        let mask = if self.isa == Isa::Avx512 {
            self.asm.vex(only::ALL_OF_MASK, Bits::B256, TEST, TEST, Rm::Reg(TEST));
            TEST
        } else {
            self.asm.vector(opcodes::equal_lanes(w), bits, other, other, Rm::Reg(other));
            other
        };
        // Without this the result would wait for the register's old content.
        self.asm.vector(opcodes::xor(w), bits, to, to, Rm::Reg(to));
        self.asm.gather(opcodes::gather(width), bits, to, (R15, index, scale), mask);
        self.asm.land(done);
        self.done_in(to);
        Some(())
    }
}
