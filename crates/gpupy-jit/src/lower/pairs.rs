//! Conversions of 32-bit lanes between registers of one vector and of two (`plan/pairs.rs`).

use crate::code::encode::{Bits, Mem, Rm};
use crate::code::opcodes::{self, LaneWidth, only};
use crate::function_writer::FunctionWriter;
use crate::isa::Isa;

const W: LaneWidth = LaneWidth::W32;

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
                self.emit(opcodes::move_load(W), W, to, 0, Rm::Mem(upper));
            }
        }
    }

    /// A whole register.
    fn whole(&self) -> Bits {
        Bits::of_bytes(self.isa.bytes())
    }
}
