//! Elements, numbers of points, parameters and stores.

use crate::encode::gpr::*;
use crate::encode::{Bits, Mem, Rm};
use crate::isa::Isa;
use crate::opcodes::{self, Shift, Width, only};
use crate::writer::Writer;
use gpupy_core::DType;
use gpupy_core::ir::Inst;

impl Writer<'_> {
    /// `load`: elements that follow each other, or one for all points.
    pub(super) fn load(&mut self, dtype: DType) -> Option<()> {
        let (walk, width) = (self.walk(), Width::of(dtype)?);
        if self.is_uniform() {
            self.asm.load(RAX, Mem::at(RSI, 16 * walk as i32, 8));
            if dtype == DType::Bool {
                let (bits, to) = (self.bits(Width::W32), self.temporary());
                let byte = Rm::Mem(Mem::at(RAX, 0, 1));
                self.asm.vector(only::BROADCAST_BYTE, bits, to, 0, byte);
                return self.spread(to);
            }
            let to = self.result();
            self.broadcast(width, to, Mem::at(RAX, 0, width.bytes()));
            return Some(());
        }
        let from = Rm::Mem(self.elements(walk, dtype.size()));
        let (bits, existing) = (self.bits(width), self.existing());
        if dtype == DType::Bool {
            let to = self.temporary();
            self.asm.masked(only::BYTES_TO_LANES, bits, to, 0, from, existing);
            return self.spread(to);
        }
        let to = self.result();
        self.asm.masked(opcodes::move_load(width), bits, to, 0, from, existing);
        Some(())
    }

    /// `index`: the number of the first point and a step to each next one.
    pub(super) fn index(&mut self) -> Option<()> {
        let walk = self.walk();
        let (first, step) =
            (Mem::at(RSI, 16 * walk as i32, 4), Mem::at(RSI, 16 * walk as i32 + 8, 4));
        if self.is_uniform() {
            let to = self.result();
            self.broadcast(Width::W32, to, first);
            return Some(());
        }
        let (bits, to, other) = (self.bits(Width::W32), self.temporary(), self.temporary());
        let before = self.group() as i32 * self.plan.lanes as i32;
        self.asm.add(RAX, RCX, before);
        if self.isa == Isa::Avx512 {
            self.asm.vector(only::GENERAL_TO_LANES, bits, to, 0, Rm::Reg(RAX.0));
        } else {
            self.asm.vector(only::GENERAL_TO_VECTOR, Bits::B128, to, 0, Rm::Reg(RAX.0));
            self.emit(opcodes::broadcast(Width::W32, false), Width::W32, to, 0, Rm::Reg(to));
        }
        let numbers = self.numbers();
        self.emit(opcodes::add_int(Width::W32), Width::W32, to, to, numbers);
        self.broadcast(Width::W32, other, step);
        self.emit(opcodes::mul_int(Width::W32), Width::W32, to, to, Rm::Reg(other));
        self.broadcast(Width::W32, other, first);
        let done = self.result();
        self.emit(opcodes::add_int(Width::W32), Width::W32, done, to, Rm::Reg(other));
        Some(())
    }

    /// `param`: a scalar of the launch, which lies at rcx before the loop.
    pub(super) fn param(&mut self, inst: &Inst) -> Option<()> {
        let (from, width) = (8 * inst.args[0] as i32, Width::of(inst.dtype)?);
        let to = if inst.dtype == DType::Bool { self.temporary() } else { self.result() };
        self.broadcast(width, to, Mem::at(RCX, from, width.bytes()));
        if inst.dtype == DType::Bool { self.spread(to) } else { Some(()) }
    }

    /// Makes a bool of the lowest bit of each lane: all its bits are alike.
    fn spread(&mut self, from: u8) -> Option<()> {
        self.shift_by(Width::W32, Shift::Left, from, from, 31);
        let to = self.result();
        self.shift_by(Width::W32, Shift::RightSigned, to, from, 31);
        Some(())
    }

    /// `to = from` shifted by a number of bits, which is the same in all lanes.
    pub(super) fn shift_by(&mut self, width: Width, what: Shift, to: u8, from: u8, by: u8) {
        let row = match what {
            Shift::RightSigned => opcodes::shift_immediate_signed(width),
            _ => opcodes::shift_immediate(width),
        };
        let bits = self.bits(width);
        self.asm.vector(row, bits, what as u8, to, Rm::Reg(from));
        self.asm.imm(by);
    }

    /// `store`.
    pub(super) fn store(&mut self, inst: &Inst) -> Option<()> {
        let (number, width) = (self.accesses() + inst.args[0] as usize, Width::of(inst.dtype)?);
        let from = self.reg(0);
        let to = self.elements(number, inst.dtype.size());
        let (bits, existing) = (self.bits(width), self.existing());
        if inst.dtype == DType::Bool {
            self.store_bools(from, to);
        } else {
            self.asm.masked(opcodes::move_store(width), bits, from, 0, Rm::Mem(to), existing);
        }
        Some(())
    }

    fn store_bools(&mut self, from: u8, to: Mem) {
        let (bits, existing, lane) = (self.bits(Width::W32), self.existing(), self.temporary());
        self.shift_by(Width::W32, Shift::Right, lane, from, 31);
        if self.isa == Isa::Avx512 {
            self.asm.masked(only::LANES_TO_BYTES, bits, lane, 0, Rm::Mem(to), existing);
            return;
        }
        let upper = self.temporary();
        if bits == Bits::B256 {
            self.asm.vector(only::UPPER_128, Bits::B256, lane, 0, Rm::Reg(upper));
            self.asm.imm(1);
        }
        // With four lanes, what is packed above them is not stored.
        let other = if bits == Bits::B256 { upper } else { lane };
        self.asm.vector(only::PACK_WORDS, Bits::B128, lane, lane, Rm::Reg(other));
        self.asm.vector(only::PACK_BYTES, Bits::B128, lane, lane, Rm::Reg(lane));
        let row = if bits == Bits::B256 { only::STORE_8 } else { only::STORE_4 };
        self.asm.vector(row, Bits::B128, lane, 0, Rm::Mem(to));
    }
}
