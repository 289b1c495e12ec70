//! Split storage, in programs: a 64-bit operand or destination becomes two of 32 bits.
//!
//! Owns [`SplitProgram`]. [`SplitProgram::of`] is for devices that compute with 64 bits but store at most 32. The
//! *planes* of a block are the low and the high halves of its elements: two blocks of uint32, accessed like the block
//! itself. Invariant: the split program stores the halves of the values that the original stores.
//!
//! Not here: devices without 64-bit integers (`word_pairs`), the memory of planes (`split_storage.rs`, drivers).

use gpupy_core::ir::{Builder, Fingerprint, Inst, Program};
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};

/// One of the blocks that represent a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Plane {
    /// The block itself, whose elements have at most 32 bits.
    Whole,
    /// The low halves.
    Low,
    /// The high halves.
    High,
}

/// A program over planes that replaces a program over 64-bit elements.
#[derive(Clone, Debug)]
pub struct SplitProgram {
    /// The program. Its accesses are those of the original.
    pub program: Program,
    /// The program's fingerprint.
    pub fingerprint: Fingerprint,
    /// For each operand: the operand of the original, and which plane of it.
    pub operands: Vec<(usize, Plane)>,
    /// For each destination: the destination of the original, and which plane of it.
    pub dests: Vec<(usize, Plane)>,
    /// For each parameter: the parameter of the original, and which half of it.
    pub params: Vec<(usize, Plane)>,
}

/// True for dtypes that are stored in planes.
pub fn has_planes(dtype: DType) -> bool {
    dtype.size() == 8 && !dtype.is_complex()
}

impl SplitProgram {
    /// The split program, if the program has a 64-bit block.
    pub fn of(program: &Program) -> Option<SplitProgram> {
        let any = program.operands.iter().chain(&program.dests).any(|dtype| has_planes(*dtype));
        any.then(|| StorageSplitter::new(program).split())
    }
}

/// Copies a program and replaces its loads and stores.
struct StorageSplitter<'a> {
    from: &'a Program,
    to: Builder,
    /// For each operand of the original, its first operand in the copy.
    slots: Vec<u32>,
    /// The copy of each instruction's value.
    values: Vec<u32>,
    operands: Vec<(usize, Plane)>,
    dests: Vec<(usize, Plane)>,
}

impl<'a> StorageSplitter<'a> {
    fn new(from: &'a Program) -> StorageSplitter<'a> {
        let (to, slots, operands) = begin(from);
        StorageSplitter { from, to, slots, values: Vec::new(), operands, dests: Vec::new() }
    }

    fn split(mut self) -> SplitProgram {
        // A program may use its parameters in any order, or not at all.
        let params: Vec<u32> = self.from.params.iter().map(|dtype| self.to.param(*dtype)).collect();
        for inst in &self.from.insts {
            let value = match inst.op {
                Op::Param => params[inst.args[0] as usize],
                _ => self.copy(inst),
            };
            self.values.push(value);
        }
        let program = self.to.finish();
        let fingerprint = program.fingerprint();
        let params = (0..program.params.len()).map(|which| (which, Plane::Whole)).collect();
        SplitProgram { program, fingerprint, operands: self.operands, dests: self.dests, params }
    }

    /// Copies an instruction. Returns its value, or the number of a region.
    fn copy(&mut self, inst: &Inst) -> u32 {
        let [a, b, c] = inst.args;
        let from = self.from;
        let values = std::mem::take(&mut self.values);
        let value = |v: u32| values[v as usize];
        let list = || -> Vec<u32> {
            from.extra[b as usize..(b + c) as usize].iter().map(|v| value(*v)).collect()
        };
        let used = || -> Vec<u32> { from.uses(inst).map(value).collect() };
        let copy = match inst.op {
            Op::Const => {
                self.to.constant(Scalar::new(inst.dtype, u64::from(a) | u64::from(b) << 32))
            }
            Op::Index => self.to.index(a),
            Op::Load => self.read(inst.dtype, a, |to, slot| to.load(slot, b)),
            Op::Gather => {
                let index = value(b);
                self.read(inst.dtype, a, |to, slot| to.gather(slot, index))
            }
            Op::Store => {
                let stored = &from.insts[b as usize];
                match stored.op {
                    Op::Const => self.write_literal(a as usize, stored),
                    _ => self.write(a as usize, value(b)),
                }
                0
            }
            Op::Loop => {
                let (count, starts) = (value(a), list());
                self.to.begin_loop(count, &starts)
            }
            Op::If => self.to.begin_if(value(a)),
            Op::Carry => self.to.carry(value(a), b),
            Op::Iter => self.to.iter(value(a)),
            Op::Else => {
                let (region, values) = (value(a), list());
                self.to.begin_else(region, &values);
                0
            }
            Op::End => {
                let (region, values) = (value(a), list());
                self.to.end(region, &values);
                0
            }
            Op::Result => self.to.result(value(a), b, inst.dtype),
            Op::Reduce => match from.reduced_by(inst) {
                Some(op) => self.to.reduce_by(op, value(a)),
                None => self.to.reduce(value(a)),
            },
            Op::Cast | Op::Bitcast => self.to.convert(inst.op, value(a), inst.dtype),
            op if op.form().is_some() => self.to.library_op(op, &used()),
            op => self.to.op(op, &used()),
        };
        self.values = values;
        copy
    }

    /// Loads an element of an operand, joined from its planes.
    fn read(
        &mut self,
        dtype: DType,
        operand: u32,
        element: impl Fn(&mut Builder, u32) -> u32,
    ) -> u32 {
        let slot = self.slots[operand as usize];
        if !has_planes(dtype) {
            return element(&mut self.to, slot);
        }
        let [low, high] = [slot, slot + 1].map(|slot| {
            let half = element(&mut self.to, slot);
            self.to.convert(Op::Cast, half, DType::U64)
        });
        let half = self.to.constant(Scalar::new(DType::U64, 32));
        let high = self.to.op(Op::Shl, &[high, half]);
        let bits = self.to.op(Op::Or, &[low, high]);
        self.to.convert(Op::Bitcast, bits, dtype)
    }

    /// Stores the halves of a literal as literals. Mesa's compiler folds 64-bit shifts wrongly in vectors of four: it
    /// takes other elements.
    fn write_literal(&mut self, dest: usize, inst: &Inst) {
        let dtype = self.from.dests[dest];
        let [low, high, _] = inst.args;
        self.dests.extend(planes(dtype).into_iter().map(|(plane, _)| (dest, plane)));
        let halves = match has_planes(dtype) {
            true => vec![(DType::U32, u64::from(low)), (DType::U32, u64::from(high))],
            false => vec![(dtype, u64::from(low) | u64::from(high) << 32)],
        };
        for (dtype, bits) in halves {
            let half = self.to.constant(Scalar::new(dtype, bits));
            self.to.store(half);
        }
    }

    fn write(&mut self, dest: usize, value: u32) {
        let dtype = self.from.dests[dest];
        self.dests.extend(planes(dtype).into_iter().map(|(plane, _)| (dest, plane)));
        if !has_planes(dtype) {
            return self.to.store(value);
        }
        let bits = self.to.convert(Op::Bitcast, value, DType::U64);
        let half = self.to.constant(Scalar::new(DType::U64, 32));
        let high = self.to.op(Op::Shr, &[bits, half]);
        for half in [bits, high] {
            let half = self.to.convert(Op::Cast, half, DType::U32);
            self.to.store(half);
        }
    }
}

/// Begins a split program, without instructions. Returns it, the first operand for each operand of the original, and
/// the origin of each new operand.
pub(crate) fn begin(from: &Program) -> (Builder, Vec<u32>, Vec<(usize, Plane)>) {
    let mut to = Builder::new(from.form, from.rank);
    let (mut slots, mut operands) = (Vec::new(), Vec::new());
    for (which, dtype) in from.operands.iter().enumerate() {
        slots.push(operands.len() as u32);
        for (plane, dtype) in planes(*dtype) {
            to.operand(dtype);
            operands.push((which, plane));
        }
    }
    for kind in &from.accesses {
        to.access(*kind);
    }
    (to, slots, operands)
}

/// The planes of a dtype's blocks, with their dtypes.
pub(crate) fn planes(dtype: DType) -> Vec<(Plane, DType)> {
    match has_planes(dtype) {
        true => vec![(Plane::Low, DType::U32), (Plane::High, DType::U32)],
        false => vec![(Plane::Whole, dtype)],
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use gpupy_core::ir::{AccessKind, Form};

    #[test]
    fn blocks_of_64_bits_become_two_and_others_stay() {
        let mut b = Builder::new(Form::Map, 1);
        let access = b.access(AccessKind::Contiguous);
        let [narrow, wide] = [DType::I8, DType::F64].map(|dtype| b.operand(dtype));
        let (at, scale) = (b.load(narrow, access), b.param(DType::F64));
        let at = b.convert(Op::Cast, at, DType::I32);
        let region = b.begin_loop(at, &[scale]);
        let (x, i) = (b.carry(region, 0), b.iter(region));
        let found = b.gather(wide, i);
        let sum = b.op(Op::Add, &[x, found]);
        b.end(region, &[sum]);
        let sum = b.result(region, 0, DType::F64);
        b.store(at);
        b.store(sum);
        let planes = SplitProgram::of(&b.finish()).unwrap();
        planes.program.verify().unwrap();
        assert_eq!(planes.program.operands, [DType::I8, DType::U32, DType::U32]);
        assert_eq!(planes.program.params, [DType::F64]);
        assert_eq!(planes.program.dests, [DType::I32, DType::U32, DType::U32]);
        assert_eq!(planes.operands, [(0, Plane::Whole), (1, Plane::Low), (1, Plane::High)]);
        assert_eq!(planes.dests, [(0, Plane::Whole), (1, Plane::Low), (1, Plane::High)]);
    }

    #[test]
    fn programs_without_64_bits_have_no_planes() {
        let mut b = Builder::new(Form::Map, 1);
        let x = b.param(DType::I32);
        b.store(x);
        assert!(SplitProgram::of(&b.finish()).is_none());
    }
}
