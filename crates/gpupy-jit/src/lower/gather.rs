//! Gathers: the elements of an operand at computed indices, which are clamped into it.
//!
//! Where the indices of a vector are consecutive, as in a row of pixels that has moved, their elements are one load.
//! The test costs little beside a gather, and rows of either kind follow each other, so that it is predicted well.
//!
//! Elements of 8 and 16 bits are in gathered lanes of 32: those that end with the element, or, at the beginning of the
//! operand, its first 32 bits, which are shifted.
//!
//! Not here: loads by strides (`leaf.rs`), float16 and complex elements, which the driver interprets.

use crate::code::encode::gpr::*;
use crate::code::encode::{Bits, If, Mem, Rm};
use crate::code::opcodes::{self, LaneWidth, Shift, only};
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
        let size = inst.dtype.size();
        let place = if size < 4 { self.temporary() } else { index };
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
        let scale = size.trailing_zeros() as u8;
        let lanes = bits.bytes() / width.bytes();
        let at_first = Mem { index: Some((RAX, scale)), ..Mem::at(R15, 0, lanes * size) };
        if self.is_uniform() {
            let row = match size {
                1 => only::BROADCAST_BYTE,
                2 => only::BROADCAST_WORD,
                _ => {
                    self.broadcast(width, to, at_first);
                    self.done_in(to);
                    return Some(());
                }
            };
            let element = Rm::Mem(Mem { bytes: size as u8, ..at_first });
            self.asm.vector(row, bits, to, 0, element);
            self.extended(to, inst.dtype);
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
        let row = match size {
            1 => only::U8_TO_I32,
            2 => only::U16_TO_I32,
            _ => opcodes::move_load(width),
        };
        self.asm.masked(row, bits, to, 0, Rm::Mem(at_first), existing);
        let done = self.asm.jump();
        self.asm.land(apart);
        if size < 4 {
            // The element is the last of those in 32 bits.
            let before = self.constant(w, (1u64 << 32) - (4 / size as u64 - 1));
            self.emit(opcodes::add_int(w), w, place, index, before);
            self.emit(opcodes::max_signed(w), w, place, place, zero);
        }
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
        self.asm.gather(opcodes::gather(width), bits, to, (R15, place, scale), mask);
        if size < 4 {
            self.emit(opcodes::sub_int(w), w, index, index, Rm::Reg(place));
            self.shift_by(w, Shift::Left, index, index, 3 + scale);
            self.emit(opcodes::shift_right(w), w, to, to, Rm::Reg(index));
        }
        self.asm.land(done);
        match size {
            ..4 => self.extended(to, inst.dtype),
            _ => self.done_in(to),
        }
        Some(())
    }
}
