//! Splits complex numbers into real and imaginary parts: a program over complex numbers becomes one over real numbers.
//!
//! Owns [`ComplexParts`]. A walk over complex numbers becomes two walks over the same memory, one from the first real
//! part and one from the first imaginary part. Invariant: each part is computed as NumPy computes it, each step
//! rounded; a product is `(ac - bd) + (ad + bc)i`.
//!
//! Not here: splitting consecutive numbers in registers (`lower/complex_lanes.rs`), copies of strided numbers
//! (`compiled_kernel.rs`).

use crate::isa::Isa;
use crate::{KernelStrides, RowArguments, RowStride, StridedPointer};
use gpupy_core::ir::{AccessKind, Builder, Inst, Program};
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};

/// The origin of a walk: a walk of the program over complex numbers.
#[derive(Clone, Copy, Debug)]
struct PartSource {
    number: usize,
    /// The offset of the part in its number, in bytes.
    offset: usize,
}

/// The origins of all walks of a program over parts.
#[derive(Debug, Default)]
pub struct ComplexParts {
    accesses: Vec<PartSource>,
    dests: Vec<PartSource>,
}

/// The representation of a value in the new program.
#[derive(Clone, Copy)]
enum PartValue {
    Real(u32),
    Complex(u32, u32),
    /// A region. Its values are real.
    Region(u32),
    /// An instruction without a value.
    Nothing,
}

impl PartValue {
    fn real(&self) -> Option<u32> {
        match self {
            PartValue::Real(x) => Some(*x),
            _ => None,
        }
    }
}

/// True for a program with complex numbers.
pub fn are_in(program: &Program) -> bool {
    program.insts.iter().any(|inst| inst.dtype.is_complex())
}

/// A program and variant over parts, and the origins of their walks. `None` for a program with an operation that is not
/// defined on parts here, and for one that only moves, splits and joins numbers.
pub fn of(
    program: &Program,
    variant: &KernelStrides,
    isa: Isa,
) -> Option<(Program, KernelStrides, ComplexParts)> {
    let moves = |op: Op| !op.is_scalar_op() || matches!(op, Op::Real | Op::Imag | Op::Complex);
    if program.insts.iter().all(|inst| moves(inst.op)) {
        return None;
    }
    let mut splitter = ComplexSplitter {
        builder: Builder::new(program.form, program.rank),
        values: Vec::with_capacity(program.insts.len()),
        params: Vec::new(),
        given: variant,
        isa,
        variant: KernelStrides { accesses: Vec::new(), dests: Vec::new() },
        parts: ComplexParts::default(),
        walks: 0,
    };
    for dtype in &program.params {
        if dtype.is_complex() {
            return None;
        }
        let param = splitter.builder.param(*dtype);
        splitter.params.push(param);
    }
    for inst in &program.insts {
        let value = splitter.inst(program, inst)?;
        splitter.values.push(value);
    }
    Some((splitter.builder.finish(), splitter.variant, splitter.parts))
}

/// Copies a program and replaces its complex numbers by parts.
struct ComplexSplitter<'a> {
    builder: Builder,
    values: Vec<PartValue>,
    params: Vec<u32>,
    given: &'a KernelStrides,
    isa: Isa,
    variant: KernelStrides,
    parts: ComplexParts,
    /// The number of walks of the original so far.
    walks: usize,
}

impl ComplexSplitter<'_> {
    fn inst(&mut self, program: &Program, inst: &Inst) -> Option<PartValue> {
        let [a, b, _] = inst.args.map(|arg| arg as usize);
        Some(match inst.op {
            Op::Const => {
                let bits = u64::from(inst.args[0]) | u64::from(inst.args[1]) << 32;
                PartValue::Real(self.builder.constant(Scalar::new(inst.dtype, bits)))
            }
            Op::Param => PartValue::Real(*self.params.get(a)?),
            Op::Index => {
                let step = self.next_step()?;
                let access = self.access(program.accesses[a], 0, step);
                PartValue::Real(self.builder.index(access))
            }
            Op::Load => {
                let (kind, step) = (program.accesses[b], self.next_step()?);
                let steps = self.steps_of_parts(step);
                let mut load = |dtype: DType, offset, step| {
                    let access = self.access(kind, offset, step);
                    let operand = self.builder.operand(dtype);
                    self.builder.load(operand, access)
                };
                match inst.dtype.part() {
                    Some(part) => {
                        let [re, im] = steps;
                        PartValue::Complex(load(part, 0, re), load(part, part.size(), im))
                    }
                    None => PartValue::Real(load(inst.dtype, 0, step)),
                }
            }
            Op::Store => {
                let step = *self.given.dests.get(a)?;
                match self.values[b] {
                    PartValue::Real(value) => self.store(a, 0, step, value),
                    PartValue::Complex(re, im) => {
                        // `CodePlan` expects the parts of a number next to each other.
                        let steps = self.steps_of_parts(step);
                        self.store(a, 0, steps[0], re);
                        self.store(a, inst.dtype.size() / 2, steps[1], im);
                    }
                    PartValue::Region(_) | PartValue::Nothing => return None,
                }
                PartValue::Nothing
            }
            Op::If => PartValue::Region(self.builder.begin_if(self.real(a)?)),
            Op::Else | Op::End => {
                let given = program.extra.get(b..b + inst.args[2] as usize)?;
                let values = given.iter().map(|value| self.real(*value as usize));
                let (values, region) = (values.collect::<Option<Vec<_>>>()?, self.region(a)?);
                match inst.op {
                    Op::Else => self.builder.begin_else(region, &values),
                    _ => self.builder.end(region, &values),
                }
                PartValue::Nothing
            }
            Op::Result if !inst.dtype.is_complex() => {
                PartValue::Real(self.builder.result(self.region(a)?, inst.args[1], inst.dtype))
            }
            op if op.is_scalar_op() => self.operation(inst)?,
            _ => return None,
        })
    }

    /// The new program's value for a real value of the original.
    fn real(&self, number: usize) -> Option<u32> {
        self.values.get(number)?.real()
    }

    /// The new program's region for a region of the original.
    fn region(&self, number: usize) -> Option<u32> {
        match self.values.get(number)? {
            PartValue::Region(region) => Some(*region),
            _ => None,
        }
    }

    /// The stride of the original's next walk.
    fn next_step(&mut self) -> Option<RowStride> {
        self.walks += 1;
        self.given.accesses.get(self.walks - 1).copied()
    }

    /// The strides of both parts for a stride of complex numbers.
    fn steps_of_parts(&self, step: RowStride) -> [RowStride; 2] {
        match step {
            RowStride::Zero => [RowStride::Zero; 2],
            RowStride::Unit if self.isa == Isa::Avx512 => [RowStride::Real, RowStride::Imaginary],
            _ => [RowStride::Any; 2],
        }
    }

    /// Adds an access for the original's newest walk, or for a part of its elements.
    fn access(&mut self, kind: AccessKind, offset: usize, step: RowStride) -> u32 {
        self.variant.accesses.push(step);
        self.parts.accesses.push(PartSource { number: self.walks - 1, offset });
        self.builder.access(kind)
    }

    fn store(&mut self, dest: usize, offset: usize, step: RowStride, value: u32) {
        self.builder.store(value);
        self.variant.dests.push(step);
        self.parts.dests.push(PartSource { number: dest, offset });
    }

    fn operation(&mut self, inst: &Inst) -> Option<PartValue> {
        let arity = inst.op.info().arity as usize;
        let args: Vec<PartValue> =
            inst.args[..arity].iter().map(|arg| self.values[*arg as usize]).collect();
        let b = &mut self.builder;
        Some(match (inst.op, &args[..]) {
            (Op::Complex, [PartValue::Real(re), PartValue::Real(im)]) => {
                PartValue::Complex(*re, *im)
            }
            (Op::Real, [PartValue::Complex(re, _)]) => PartValue::Real(*re),
            (Op::Imag, [PartValue::Complex(_, im)]) => PartValue::Real(*im),
            (Op::Neg, [PartValue::Complex(re, im)]) => {
                PartValue::Complex(b.op(Op::Neg, &[*re]), b.op(Op::Neg, &[*im]))
            }
            (Op::Add | Op::Sub, [PartValue::Complex(re, im), PartValue::Complex(c, d)]) => {
                PartValue::Complex(b.op(inst.op, &[*re, *c]), b.op(inst.op, &[*im, *d]))
            }
            (Op::Mul, [PartValue::Complex(re, im), PartValue::Complex(c, d)]) => {
                let mut product = |x: &u32, y: &u32| b.op(Op::Mul, &[*x, *y]);
                let (ac, bd) = (product(re, c), product(im, d));
                let (ad, bc) = (product(re, d), product(im, c));
                PartValue::Complex(b.op(Op::Sub, &[ac, bd]), b.op(Op::Add, &[ad, bc]))
            }
            (Op::Eq | Op::Ne, [PartValue::Complex(re, im), PartValue::Complex(c, d)]) => {
                let (first, second) = (b.op(inst.op, &[*re, *c]), b.op(inst.op, &[*im, *d]));
                let joined = if inst.op == Op::Eq { Op::And } else { Op::Or };
                PartValue::Real(b.op(joined, &[first, second]))
            }
            (
                Op::Select,
                [PartValue::Real(test), PartValue::Complex(re, im), PartValue::Complex(c, d)],
            ) => {
                let mut select = |x: &u32, y: &u32| b.op(Op::Select, &[*test, *x, *y]);
                PartValue::Complex(select(re, c), select(im, d))
            }
            (Op::Cast, [PartValue::Complex(re, im)]) => match inst.dtype.part() {
                Some(part) => PartValue::Complex(cast(b, *re, part), cast(b, *im, part)),
                None if inst.dtype == DType::Bool => {
                    let (first, second) = (cast(b, *re, inst.dtype), cast(b, *im, inst.dtype));
                    PartValue::Real(b.op(Op::Or, &[first, second]))
                }
                None => PartValue::Real(cast(b, *re, inst.dtype)),
            },
            (Op::Cast, [PartValue::Real(x)]) if inst.dtype.is_complex() => {
                let part = inst.dtype.part()?;
                PartValue::Complex(cast(b, *x, part), b.constant(Scalar::zero(part)))
            }
            (op @ (Op::Cast | Op::Bitcast), [PartValue::Real(x)]) if !inst.dtype.is_complex() => {
                PartValue::Real(b.convert(op, *x, inst.dtype))
            }
            (op, args) if !inst.dtype.is_complex() => {
                let args: Vec<u32> = args.iter().map(PartValue::real).collect::<Option<_>>()?;
                PartValue::Real(b.op(op, &args))
            }
            _ => return None,
        })
    }
}

fn cast(builder: &mut Builder, value: u32, to: DType) -> u32 {
    if builder.dtype(value) == to { value } else { builder.convert(Op::Cast, value, to) }
}

impl ComplexParts {
    /// The row arguments of the program over parts. Its walks are stored in `walks`.
    ///
    /// # Safety
    /// The row has all walks of the program over complex numbers.
    pub unsafe fn row(&self, row: &RowArguments, walks: &mut Vec<StridedPointer>) -> RowArguments {
        walks.clear();
        let sources = self.accesses.iter().map(|source| (source, row.accesses));
        for (source, list) in sources.chain(self.dests.iter().map(|dest| (dest, row.dests))) {
            // SAFETY: the row has walk `source.number`.
            let StridedPointer { ptr, step } = unsafe { *list.add(source.number) };
            walks.push(StridedPointer { ptr: ptr.wrapping_add(source.offset), step });
        }
        let dests = walks[self.accesses.len()..].as_ptr();
        RowArguments { accesses: walks.as_ptr(), dests, ..*row }
    }
}
