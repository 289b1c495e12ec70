//! bfloat16 in programs for devices and compilers without it.
//!
//! Owns [`lowered`], which rewrites a program. A block of bfloat16 becomes one of uint16, a parameter too, and a value
//! becomes a float32 together with its bits, a uint32 whose lower half is 0. Loads and stores move the bits. Selections
//! and regions move the float32: compilers take a selection of the bits of two numbers by their order for the lesser of
//! them, which loses NaN (Mesa). Arithmetic is float32's, and its result is rounded by integer operations. Invariants:
//! the new program has no bfloat16; operands, accesses, parameters and destinations keep their places; results are
//! those of the original, to the bit, except for the payload of a NaN.
//!
//! Not here: the arithmetic of one element (`op_eval`); drivers that are sent such programs (the engine).

use super::{Builder, Form, Inst, Program};
use crate::dtype::DType;
use crate::op::Op;
use crate::scalar::Scalar;

const BF16: DType = DType::BF16;

/// Whether a program has bfloat16.
pub fn is_in(program: &Program) -> bool {
    let lists = [&program.operands, &program.params, &program.dests];
    lists.into_iter().any(|dtypes| dtypes.contains(&BF16))
        || program.insts.iter().any(|inst| inst.dtype == BF16)
}

/// The dtype that stands for a dtype in blocks and parameters.
pub fn stored(dtype: DType) -> DType {
    if dtype == BF16 { DType::U16 } else { dtype }
}

/// The program without bfloat16. `None` for one that combines bfloat16 by another form than a reduction to the least
/// or greatest: sums and products of a form are rounded at each step.
pub fn lowered(program: &Program) -> Option<Program> {
    let chooses = |op: Op| matches!(op, Op::Min | Op::Max);
    let combines = match program.form {
        Form::Map => false,
        Form::Reduce { .. } => program.reductions().any(|r| r.dtype == BF16 && !chooses(r.op)),
        _ => program.insts.iter().any(|inst| inst.dtype == BF16),
    };
    (!combines).then(|| Lowering::new(program).lower())
}

/// What the lowering of an operation that gives bfloat16 takes, each as an operation and its result's dtype: an upper
/// bound for `Driver::resource_get`.
pub fn operations(op: Op) -> Vec<(Op, DType)> {
    use DType::{Bool, F32, U16, U32};
    let widened = [(Op::Bitcast, F32)];
    let rounded = [
        (Op::Bitcast, U32),
        (Op::And, U32),
        (Op::Gt, Bool),
        (Op::Shr, U32),
        (Op::And, U32),
        (Op::Add, U32),
        (Op::Add, U32),
        (Op::And, U32),
        (Op::Or, U32),
        (Op::Select, U32),
        (Op::And, U32),
    ];
    let mut all = widened.to_vec();
    match op {
        Op::Load | Op::Param | Op::Const => all.extend([(Op::Cast, U32), (Op::Shl, U32)]),
        Op::Gather => all.extend([(Op::Gather, U16), (Op::Cast, U32), (Op::Shl, U32)]),
        Op::Store => all.extend([(Op::Shr, U32), (Op::Cast, U16)]),
        Op::Bitcast => all.extend([(Op::Bitcast, U16), (Op::Cast, U32), (Op::Shl, U32)]),
        Op::Select | Op::Carry | Op::Result => all.extend([(op, F32), (Op::Bitcast, U32)]),
        _ => {
            all.push((op, F32));
            all.extend(rounded);
        }
    }
    all
}

/// A value of the new program.
#[derive(Clone, Copy)]
enum Lowered {
    /// Of another dtype, or a region.
    Other(u32),
    /// A bfloat16: its bits in the upper half of a uint32, and these as a float32.
    Pair { bits: u32, float: u32 },
    /// The result of a reduction, whose bits are taken behind the last one.
    Reduced(u32),
}

struct Lowering<'a> {
    from: &'a Program,
    to: Builder,
    /// The value of each instruction.
    values: Vec<Lowered>,
    /// The results of reductions whose bits are not taken yet, by their instructions.
    reduced: Vec<usize>,
}

impl<'a> Lowering<'a> {
    fn new(from: &'a Program) -> Lowering<'a> {
        let mut to = Builder::new(from.form, from.rank);
        for dtype in &from.operands {
            to.operand(stored(*dtype));
        }
        for dtype in &from.params {
            to.param_slot(stored(*dtype));
        }
        for kind in &from.accesses {
            to.access(*kind);
        }
        Lowering { from, to, values: Vec::with_capacity(from.insts.len()), reduced: Vec::new() }
    }

    fn lower(mut self) -> Program {
        for inst in &self.from.insts {
            if inst.op != Op::Reduce {
                self.take_bits();
            }
            let value = self.copy(inst);
            self.values.push(value);
        }
        self.to.finish()
    }

    /// Takes the bits of the results of reductions, which no instruction may come between.
    fn take_bits(&mut self) {
        for at in std::mem::take(&mut self.reduced) {
            if let Lowered::Reduced(float) = self.values[at] {
                self.values[at] = self.of_float(float);
            }
        }
    }

    /// The value, or of a bfloat16 its bits.
    fn moved(&self, value: u32) -> u32 {
        match self.values[value as usize] {
            Lowered::Other(value) | Lowered::Pair { bits: value, .. } => value,
            Lowered::Reduced(value) => value,
        }
    }

    /// The value, or of a bfloat16 the float32.
    fn number(&self, value: u32) -> u32 {
        match self.values[value as usize] {
            Lowered::Other(value) | Lowered::Pair { float: value, .. } => value,
            Lowered::Reduced(value) => value,
        }
    }

    fn dtype(&self, value: u32) -> DType {
        self.from.insts[value as usize].dtype
    }

    fn with(&mut self, op: Op, value: u32, bits: u32) -> u32 {
        let literal = self.to.constant(Scalar::u32(bits));
        self.to.op(op, &[value, literal])
    }

    /// A bfloat16 by its bits in the upper half of a uint32.
    fn of_bits(&mut self, bits: u32) -> Lowered {
        Lowered::Pair { bits, float: self.to.convert(Op::Bitcast, bits, DType::F32) }
    }

    /// A bfloat16 by a float32 that has its value.
    fn of_float(&mut self, float: u32) -> Lowered {
        Lowered::Pair { bits: self.to.convert(Op::Bitcast, float, DType::U32), float }
    }

    /// A bfloat16 by a float32 that has its value, or a value of another dtype.
    fn of_number(&mut self, value: u32, is_bfloat16: bool) -> Lowered {
        if is_bfloat16 { self.of_float(value) } else { Lowered::Other(value) }
    }

    /// A bfloat16 by its bits as a uint16.
    fn of_element(&mut self, element: u32) -> Lowered {
        let bits = self.to.convert(Op::Cast, element, DType::U32);
        let bits = self.with(Op::Shl, bits, 16);
        self.of_bits(bits)
    }

    /// The bits of a bfloat16 as a uint16.
    fn element(&mut self, bits: u32) -> u32 {
        let bits = self.with(Op::Shr, bits, 16);
        self.to.convert(Op::Cast, bits, DType::U16)
    }

    /// The bfloat16 that is nearest to a float32, ties to even; of NaN the quiet one with its sign.
    fn rounded(&mut self, float: u32) -> Lowered {
        let bits = self.to.convert(Op::Bitcast, float, DType::U32);
        let size = self.with(Op::And, bits, 0x7fff_ffff);
        let is_nan = self.with(Op::Gt, size, 0x7f80_0000);
        let last = self.with(Op::Shr, bits, 16);
        let odd = self.with(Op::And, last, 1);
        let up = self.with(Op::Add, odd, 0x7fff);
        let number = self.to.op(Op::Add, &[bits, up]);
        let sign = self.with(Op::And, bits, 0x8000_0000);
        let nan = self.with(Op::Or, sign, 0x7fc0_0000);
        let chosen = self.to.op(Op::Select, &[is_nan, nan, number]);
        let bits = self.with(Op::And, chosen, 0xffff_0000);
        self.of_bits(bits)
    }

    fn list(&self, [_, at, len]: [u32; 3]) -> Vec<u32> {
        let listed = &self.from.extra[at as usize..(at + len) as usize];
        listed.iter().map(|value| self.number(*value)).collect()
    }

    /// Copies an instruction.
    fn copy(&mut self, inst: &Inst) -> Lowered {
        let [a, b, _] = inst.args;
        let is_bfloat16 = inst.dtype == BF16;
        let moved = match inst.op {
            Op::Const if is_bfloat16 => self.to.constant(Scalar::u32(a << 16)),
            Op::Const => {
                let bits = u64::from(a) | u64::from(b) << 32;
                self.to.constant(Scalar::new(inst.dtype, bits))
            }
            Op::Param | Op::Load | Op::Gather => {
                let value = match inst.op {
                    Op::Param => self.to.param_at(a),
                    Op::Load => self.to.load(a, b),
                    _ => self.to.gather(a, self.moved(b)),
                };
                return if is_bfloat16 { self.of_element(value) } else { Lowered::Other(value) };
            }
            Op::Index => self.to.index(a),
            Op::Store => {
                let mut value = self.moved(b);
                if is_bfloat16 {
                    value = self.element(value);
                }
                self.to.store(value);
                0
            }
            Op::Loop => self.to.begin_loop(self.moved(a), &self.list(inst.args)),
            Op::If => self.to.begin_if(self.moved(a)),
            Op::Carry => {
                let carried = self.to.carry(self.moved(a), b);
                return self.of_number(carried, is_bfloat16);
            }
            Op::Iter => self.to.iter(self.moved(a)),
            Op::Else => {
                self.to.begin_else(self.moved(a), &self.list(inst.args));
                0
            }
            Op::End => {
                self.to.end(self.moved(a), &self.list(inst.args));
                0
            }
            Op::Result => {
                let dtype = if is_bfloat16 { DType::F32 } else { inst.dtype };
                let result = self.to.result(self.moved(a), b, dtype);
                return self.of_number(result, is_bfloat16);
            }
            Op::Select => {
                let args = inst.args.map(|value| self.number(value));
                let chosen = self.to.op(Op::Select, &args);
                return self.of_number(chosen, is_bfloat16);
            }
            Op::Reduce => {
                let value = self.number(a);
                let reduced = match self.from.reduced_by(inst) {
                    Some(op) => self.to.reduce_by(op, value),
                    None => self.to.reduce(value),
                };
                if !is_bfloat16 {
                    return Lowered::Other(reduced);
                }
                self.reduced.push(self.values.len());
                return Lowered::Reduced(reduced);
            }
            Op::Cast | Op::Bitcast if self.dtype(a) == inst.dtype => {
                return self.values[a as usize];
            }
            Op::Cast if is_bfloat16 => {
                let float = self.to.convert(Op::Cast, self.number(a), DType::F32);
                let is_exact = self.dtype(a).info().digits <= BF16.info().digits;
                return if is_exact { self.of_float(float) } else { self.rounded(float) };
            }
            Op::Cast if self.dtype(a) == BF16 && inst.dtype == DType::F32 => self.number(a),
            Op::Cast => self.to.convert(Op::Cast, self.number(a), inst.dtype),
            Op::Bitcast if is_bfloat16 => {
                let element = self.as_dtype(self.moved(a), DType::U16);
                return self.of_element(element);
            }
            Op::Bitcast if self.dtype(a) == BF16 => {
                let element = self.element(self.moved(a));
                self.as_dtype(element, inst.dtype)
            }
            Op::Bitcast => self.to.convert(Op::Bitcast, self.moved(a), inst.dtype),
            Op::Neg if is_bfloat16 => self.with(Op::Xor, self.moved(a), 0x8000_0000),
            Op::Abs if is_bfloat16 => self.with(Op::And, self.moved(a), 0x7fff_ffff),
            op if op.form().is_some() => {
                let args: Vec<u32> = self.from.uses(inst).map(|value| self.moved(value)).collect();
                self.to.library_op(op, &args)
            }
            op => {
                let args: Vec<u32> = self.from.uses(inst).map(|value| self.number(value)).collect();
                let result = self.to.op(op, &args);
                return match is_bfloat16 {
                    true if is_exact(op) => self.of_float(result),
                    true => self.rounded(result),
                    false => Lowered::Other(result),
                };
            }
        };
        if is_bfloat16 && inst.op != Op::Store {
            self.of_bits(moved)
        } else {
            Lowered::Other(moved)
        }
    }

    /// The same bits as another dtype.
    fn as_dtype(&mut self, value: u32, dtype: DType) -> u32 {
        if self.to.dtype(value) == dtype {
            return value;
        }
        self.to.convert(Op::Bitcast, value, dtype)
    }
}

/// Whether an operation gives a bfloat16 where its operands are bfloat16.
fn is_exact(op: Op) -> bool {
    matches!(
        op,
        Op::Sign
            | Op::Floor
            | Op::Ceil
            | Op::Trunc
            | Op::Rint
            | Op::Min
            | Op::Max
            | Op::Copysign
            | Op::Fmod
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::ir::AccessKind;

    fn reduction(ops: &[Op]) -> Program {
        let mut b = Builder::new(Form::Reduce { op: ops[0] }, 1);
        let access = b.access(AccessKind::Contiguous);
        let operand = b.operand(BF16);
        let scale = b.param(BF16);
        let x = b.load(operand, access);
        let scaled = b.op(Op::Mul, &[x, scale]);
        let reduced: Vec<u32> = ops.iter().map(|op| b.reduce_by(*op, scaled)).collect();
        let scale = b.param_at(0);
        for value in reduced {
            let value = b.op(Op::Mul, &[value, scale]);
            b.store(value);
        }
        b.finish()
    }

    #[test]
    fn the_least_and_the_greatest_stay_reductions_of_one_program() {
        let program = reduction(&[Op::Min, Op::Max]);
        program.verify().unwrap();
        let lowered = lowered(&program).unwrap();
        lowered.verify().unwrap();
        assert!(is_in(&program) && !is_in(&lowered));
        assert_eq!(
            (&lowered.operands[..], &lowered.params[..]),
            (&[DType::U16][..], &[DType::U16][..])
        );
        assert_eq!(lowered.dests, [DType::U16; 2]);
        let ops: Vec<(Op, DType)> = lowered.reductions().map(|r| (r.op, r.dtype)).collect();
        assert_eq!(ops, [(Op::Min, DType::F32), (Op::Max, DType::F32)]);
    }

    #[test]
    fn reductions_of_other_dtypes_may_stand_among_them() {
        let mut b = Builder::new(Form::Reduce { op: Op::Max }, 1);
        let access = b.access(AccessKind::Contiguous);
        let operand = b.operand(BF16);
        let x = b.load(operand, access);
        let wide = b.convert(Op::Cast, x, DType::F32);
        let values = [b.reduce_by(Op::Max, x), b.reduce_by(Op::Add, wide), b.reduce_by(Op::Min, x)];
        for value in values {
            b.store(value);
        }
        let program = b.finish();
        program.verify().unwrap();
        let lowered = lowered(&program).unwrap();
        lowered.verify().unwrap();
        assert_eq!(lowered.dests, [DType::U16, DType::F32, DType::U16]);
    }

    #[test]
    fn sums_and_whole_program_forms_are_not_lowered() {
        assert!(lowered(&reduction(&[Op::Add])).is_none());
        assert!(lowered(&reduction(&[Op::Max, Op::Mul])).is_none());
        let mut b = Builder::new(Form::Sort, 1);
        let access = b.access(AccessKind::Contiguous);
        let operand = b.operand(BF16);
        let x = b.load(operand, access);
        let sorted = b.library_op(Op::Sort, &[x]);
        b.store(sorted);
        assert!(lowered(&b.finish()).is_none());
    }

    #[test]
    fn regions_carry_float32_and_give_it() {
        let mut b = Builder::new(Form::Map, 1);
        let access = b.access(AccessKind::Affine);
        let operand = b.operand(BF16);
        let (x, count) = (b.load(operand, access), b.index(access));
        let region = b.begin_loop(count, &[x, count]);
        let (carried, other) = (b.carry(region, 0), b.carry(region, 1));
        let sum = b.op(Op::Add, &[carried, x]);
        b.end(region, &[sum, other]);
        let (result, last) = (b.result(region, 0, BF16), b.result(region, 1, DType::I32));
        let is_above = b.op(Op::Gt, &[result, x]);
        let branch = b.begin_if(is_above);
        b.begin_else(branch, &[x]);
        b.end(branch, &[result]);
        let chosen = b.result(branch, 0, BF16);
        b.store(chosen);
        b.store(last);
        let program = b.finish();
        program.verify().unwrap();
        let lowered = lowered(&program).unwrap();
        lowered.verify().unwrap();
        assert!(!is_in(&lowered));
        assert_eq!(lowered.dests, [DType::U16, DType::I32]);
    }

    #[test]
    fn a_program_that_moves_bfloat16_does_no_arithmetic() {
        let mut b = Builder::new(Form::Map, 1);
        let access = b.access(AccessKind::Contiguous);
        let operand = b.operand(BF16);
        let x = b.load(operand, access);
        b.store(x);
        let lowered = lowered(&b.finish()).unwrap();
        let computes = |inst: &Inst| inst.dtype == DType::F32 && inst.op != Op::Bitcast;
        assert!(!lowered.insts.iter().any(computes));
    }
}
