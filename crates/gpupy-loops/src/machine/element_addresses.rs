//! Addresses of elements, reads and stores.
//!
//! Places that differ by constants have one address and constants beside it: so the compiler sees that a round reads
//! what the one before has stored, and multiplies once for several rounds. Not here: which places are within
//! (`versions`, `optimization`), other instructions (`emission.rs`).

use cranelift_codegen::ir::types::{F32, F64, I64};
use cranelift_codegen::ir::{
    AliasRegion, InstBuilder, InstructionData, MemFlags, Opcode, Value, ValueDef,
};

use super::emission::Emitter;
use crate::code::Slot;
use crate::kinds::ElementType;

/// Sums that are looked through.
const SUMS: usize = 8;

/// Arrays and the state are apart.
fn of_elements() -> MemFlags {
    MemFlags::trusted().with_alias_region(Some(AliasRegion::Heap))
}

impl Emitter<'_> {
    /// A base, places and strides in bytes, and a place in elements of some bytes.
    pub(super) fn address(
        &mut self,
        base: Slot,
        terms: &[(Slot, Slot)],
        side: Option<(Slot, i64)>,
    ) -> Value {
        let mut address = self.get(base);
        for &(place, stride) in terms {
            let (place, stride) = (self.get(place), self.get(stride));
            let (place, beside) = self.parts(place);
            let term = self.builder.ins().imul(place, stride);
            address = self.builder.ins().iadd(address, term);
            if beside != 0 {
                let more = self.builder.ins().imul_imm(stride, beside);
                address = self.builder.ins().iadd(address, more);
            }
        }
        if let Some((place, bytes)) = side {
            let place = self.get(place);
            let (place, beside) = self.parts(place);
            let term = self.builder.ins().ishl_imm(place, i64::from(bytes.trailing_zeros()));
            address = self.builder.ins().iadd(address, term);
            if beside != 0 {
                address = self.builder.ins().iadd_imm(address, beside.wrapping_mul(bytes));
            }
        }
        address
    }

    pub(super) fn read(&mut self, element: ElementType, place: Slot) -> Value {
        let ((place, beside), flags) = (self.operand(place), of_elements());
        match element {
            ElementType::Bool | ElementType::U8 => {
                self.builder.ins().uload8(I64, flags, place, beside)
            }
            ElementType::I32 => self.builder.ins().sload32(flags, place, beside),
            ElementType::I64 => self.builder.ins().load(I64, flags, place, beside),
            ElementType::F32 => self.builder.ins().load(F32, flags, place, beside),
            ElementType::F64 => self.builder.ins().load(F64, flags, place, beside),
        }
    }

    pub(super) fn write(&mut self, element: ElementType, place: Slot, value: Slot) {
        let ((place, beside), flags) = (self.operand(place), of_elements());
        let value = self.get(value);
        match element {
            ElementType::Bool | ElementType::U8 => {
                self.builder.ins().istore8(flags, value, place, beside)
            }
            ElementType::I32 => self.builder.ins().istore32(flags, value, place, beside),
            _ => self.builder.ins().store(flags, value, place, beside),
        };
    }

    /// An address as an instruction takes it.
    fn operand(&mut self, place: Slot) -> (Value, i32) {
        let place = self.get(place);
        let (address, beside) = self.parts(place);
        match i32::try_from(beside) {
            Ok(beside) => (address, beside),
            Err(_) => (place, 0),
        }
    }

    /// A value as another one and a constant.
    fn parts(&self, value: Value) -> (Value, i64) {
        let graph = &self.builder.func.dfg;
        let definition = |value: Value| match graph.value_def(value) {
            ValueDef::Result(instruction, _) => Some(graph.insts[instruction]),
            _ => None,
        };
        let (mut found, mut sum) = (graph.resolve_aliases(value), 0_i64);
        for _ in 0..SUMS {
            let Some(InstructionData::Binary { opcode, args: [first, second] }) = definition(found)
            else {
                break;
            };
            let constant = |value: Value| match definition(graph.resolve_aliases(value)) {
                Some(InstructionData::UnaryImm { imm, .. }) => Some(imm.bits()),
                _ => None,
            };
            let (next, by) = match (opcode, constant(first), constant(second)) {
                (Opcode::Iadd, _, Some(by)) => (first, by),
                (Opcode::Iadd, Some(by), _) => (second, by),
                (Opcode::Isub, _, Some(by)) => (first, by.wrapping_neg()),
                _ => break,
            };
            (found, sum) = (graph.resolve_aliases(next), sum.wrapping_add(by));
        }
        (found, sum)
    }
}
