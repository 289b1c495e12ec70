//! Gathers: elements of a table, by int32 positions that are clamped to it.
//!
//! Tables have elements of 32 or 64 bits: a gather reads whole lanes, and those of narrower elements would reach beyond
//! the end of a table.

use crate::code::encode::gpr::*;
use crate::code::encode::{Bits, Gpr, Mem, Rm};
use crate::code::opcodes::{self, LaneWidth, only};
use crate::function_writer::{FunctionWriter, TEST};
use crate::isa::Isa;
use crate::row_arguments::GatherTable;
use gpupy_core::ir::Inst;
use std::mem::{offset_of, size_of};

impl FunctionWriter<'_> {
    /// `gather`.
    pub(super) fn gather(&mut self, inst: &Inst) -> Option<()> {
        let size = inst.dtype.size();
        let (width, positions) = (LaneWidth::of(inst.dtype)?, LaneWidth::W32);
        if size != width.bytes() {
            return None;
        }
        let field =
            |offset: usize| (inst.args[0] as usize * size_of::<GatherTable>() + offset) as i32;
        let (first, last) =
            (field(offset_of!(GatherTable, first)), field(offset_of!(GatherTable, last)));
        self.asm.load(R15, Mem::at(RSP, 0, 8));
        let (from, at) = (self.reg(0), self.temporary());
        let (to, mask) = (self.temporary(), self.temporary());
        let zero = self.constant(positions, 0);
        self.emit(opcodes::max_signed(positions), positions, at, from, zero);
        let last = Mem::at(R15, last, positions.bytes());
        let most = match self.isa {
            Isa::Avx512 => Rm::Mem(Mem { broadcast: true, ..last }),
            Isa::Avx2 => {
                self.broadcast(positions, mask, last);
                Rm::Reg(mask)
            }
        };
        self.emit(opcodes::min_signed(positions), positions, at, at, most);
        self.asm.load(RAX, Mem::at(R15, first, 8));
        // All lanes are read: those beyond the end of the row have clamped positions, too.
        let mask = match self.isa {
            Isa::Avx512 => {
                self.asm.vex(only::EQUAL_MASKS, Bits::B256, TEST, TEST, Rm::Reg(TEST));
                TEST
            }
            Isa::Avx2 => {
                self.emit(opcodes::equal_lanes(width), width, mask, mask, Rm::Reg(mask));
                mask
            }
        };
        // Lanes that are not read keep what was in them, so that a result would wait for another.
        self.emit(opcodes::xor(width), width, to, to, Rm::Reg(to));
        let index = Some((Gpr(at), size.trailing_zeros() as u8));
        let (bits, from) = (self.bits(width), Mem { index, ..Mem::at(RAX, 0, size) });
        self.asm.gather(opcodes::gather(width), bits, to, from, mask);
        self.done_in(to);
        Some(())
    }
}
