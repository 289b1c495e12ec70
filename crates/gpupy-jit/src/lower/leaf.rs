//! Loads, indices, parameters and stores.

use crate::RowStride;
use crate::code::encode::gpr::*;
use crate::code::encode::{Bits, Mem, Rm};
use crate::code::opcodes::{self, LaneWidth, Shift, only};
use crate::function_writer::FunctionWriter;
use crate::isa::Isa;
use gpupy_core::DType;
use gpupy_core::ir::{Inst, REDUCE_LANES};

impl FunctionWriter<'_> {
    /// `load`: consecutive elements, or one for all points.
    pub(super) fn load(&mut self, dtype: DType) -> Option<()> {
        let (walk, width) = (self.walk(), LaneWidth::of(dtype)?);
        let bits = self.bits(width);
        if self.is_uniform() {
            self.asm.load(RAX, Mem::at(RSI, 16 * walk as i32, 8));
            if dtype == DType::F16 {
                self.spread_float16(Mem::at(RAX, 0, dtype.size()));
                return Some(());
            }
            let row = match dtype.size() {
                1 => only::BROADCAST_BYTE,
                2 => only::BROADCAST_WORD,
                _ => {
                    let to = self.result();
                    self.broadcast(width, to, Mem::at(RAX, 0, width.bytes()));
                    return Some(());
                }
            };
            let (to, element) = (self.temporary(), Mem::at(RAX, 0, dtype.size()));
            self.asm.vector(row, bits, to, 0, Rm::Mem(element));
            self.extended(to, dtype);
            return Some(());
        }
        let step = self.plan.variant.accesses[walk];
        if step.is_of_parts() {
            return self.load_part(dtype, step == RowStride::Imaginary);
        }
        let from = self.elements(walk, dtype.size());
        if dtype == DType::F16 {
            self.load_float16(from);
            return Some(());
        }
        let from = Rm::Mem(from);
        let row = match dtype {
            DType::Bool | DType::U8 => only::U8_TO_I32,
            DType::U16 => only::U16_TO_I32,
            DType::I8 => only::I8_TO_I32,
            DType::I16 => only::I16_TO_I32,
            _ => opcodes::move_load(width),
        };
        let existing = self.existing();
        let to = if dtype == DType::Bool { self.temporary() } else { self.result() };
        self.asm.masked(row, bits, to, 0, from, existing);
        if dtype == DType::Bool {
            self.extended(to, dtype);
        }
        Some(())
    }

    /// `index`: its value at the first point, and an increment for each further point, or a list of values.
    pub(super) fn index(&mut self) -> Option<()> {
        let walk = self.walk();
        if self.plan.variant.accesses[walk] == RowStride::Listed {
            return self.load(DType::I32);
        }
        let (first, step) =
            (Mem::at(RSI, 16 * walk as i32, 4), Mem::at(RSI, 16 * walk as i32 + 8, 4));
        if self.is_uniform() {
            let to = self.result();
            self.broadcast(LaneWidth::W32, to, first);
            return Some(());
        }
        let (bits, to, other) = (self.bits(LaneWidth::W32), self.temporary(), self.temporary());
        let before = self.first() as i32;
        self.asm.add(RAX, RCX, before);
        if self.isa == Isa::Avx512 {
            self.asm.vector(only::GENERAL_TO_LANES, bits, to, 0, Rm::Reg(RAX.0));
        } else {
            self.asm.vector(only::GENERAL_TO_VECTOR, Bits::B128, to, 0, Rm::Reg(RAX.0));
            self.emit(
                opcodes::broadcast(LaneWidth::W32, false),
                LaneWidth::W32,
                to,
                0,
                Rm::Reg(to),
            );
        }
        let numbers = self.numbers();
        self.emit(opcodes::add_int(LaneWidth::W32), LaneWidth::W32, to, to, numbers);
        self.broadcast(LaneWidth::W32, other, step);
        self.emit(opcodes::mul_int(LaneWidth::W32), LaneWidth::W32, to, to, Rm::Reg(other));
        self.broadcast(LaneWidth::W32, other, first);
        let done = self.result();
        self.emit(opcodes::add_int(LaneWidth::W32), LaneWidth::W32, done, to, Rm::Reg(other));
        Some(())
    }

    /// `param`: a scalar of the launch, in memory at rcx before the loop.
    pub(super) fn param(&mut self, inst: &Inst) -> Option<()> {
        let (from, width) = (8 * inst.args[0] as i32, LaneWidth::of(inst.dtype)?);
        if inst.dtype == DType::F16 {
            self.spread_float16(Mem::at(RCX, from, inst.dtype.size()));
            return Some(());
        }
        let is_small = inst.dtype.size() < 4;
        let to = if is_small { self.temporary() } else { self.result() };
        self.broadcast(width, to, Mem::at(RCX, from, width.bytes()));
        if is_small {
            self.extended(to, inst.dtype);
        }
        Some(())
    }

    /// `to = from`, shifted by one count for all lanes.
    pub(super) fn shift_by(&mut self, width: LaneWidth, what: Shift, to: u8, from: u8, by: u8) {
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
        if self.plan.variant.dests[inst.args[0] as usize] == RowStride::Imaginary {
            return self.store_parts(inst);
        }
        let (number, width) = (self.accesses() + inst.args[0] as usize, LaneWidth::of(inst.dtype)?);
        if self.plan.variant.dests[inst.args[0] as usize] == RowStride::Lanes {
            return self.add_to_lanes(number, inst.dtype, width);
        }
        let from = self.reg(0);
        let to = self.elements(number, inst.dtype.size());
        let (bits, existing) = (self.bits(width), self.existing());
        if inst.dtype == DType::F16 {
            self.store_float16(from, to);
        } else if inst.dtype.size() < 4 {
            self.store_small(inst.dtype, from, to);
        } else {
            self.asm.masked(opcodes::move_store(width), bits, from, 0, Rm::Mem(to), existing);
        }
        Some(())
    }

    /// Adds the value to the lanes of a sum.
    fn add_to_lanes(&mut self, number: usize, dtype: DType, width: LaneWidth) -> Option<()> {
        if !matches!(dtype, DType::F32 | DType::F64) || !REDUCE_LANES.is_multiple_of(self.lanes()) {
            return None;
        }
        let (bits, from) = (self.bits(width), self.reg(0));
        let (sum, to) = (self.temporary(), Rm::Mem(self.lanes_of_chunk(number, dtype.size())));
        self.asm.vector(opcodes::add_float(width), bits, sum, from, to);
        self.asm.vector(opcodes::move_store(width), bits, sum, 0, to);
        Some(())
    }

    /// Stores the lower bits of lanes; one bit for bools.
    pub(super) fn store_small(&mut self, dtype: DType, from: u8, to: Mem) {
        let (w, existing, mut lane) = (LaneWidth::W32, self.existing(), from);
        let bits = self.bits(w);
        if dtype == DType::Bool {
            lane = self.temporary();
            self.shift_by(w, Shift::Right, lane, from, 31);
        }
        if self.isa == Isa::Avx512 {
            let row = if dtype.size() == 1 { only::LANES_TO_BYTES } else { only::LANES_TO_WORDS };
            return self.asm.masked(row, bits, lane, 0, Rm::Mem(to), existing);
        }
        let (packed, upper) = (self.temporary(), self.temporary());
        let used = self.constant(w, if dtype.size() == 1 { 0xff } else { 0xffff });
        self.emit(opcodes::and(w), w, packed, lane, used);
        // With four lanes, only the packed lower half is stored.
        let is_full = bits == Bits::B256;
        if is_full {
            self.asm.vector(only::UPPER_128, Bits::B256, packed, 0, Rm::Reg(upper));
            self.asm.imm(1);
        }
        let other = if is_full { upper } else { packed };
        self.asm.vector(only::PACK_LANES, Bits::B128, packed, packed, Rm::Reg(other));
        if dtype.size() == 1 {
            self.asm.vector(only::PACK_BYTES, Bits::B128, packed, packed, Rm::Reg(packed));
        }
        let row = match to.bytes {
            16 => opcodes::move_store(w),
            8 => only::STORE_8,
            _ => only::STORE_4,
        };
        self.asm.vector(row, Bits::B128, packed, 0, Rm::Mem(to));
    }
}
