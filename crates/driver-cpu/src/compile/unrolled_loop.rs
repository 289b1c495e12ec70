//! Machine code for loops that are left by a choice (`ir::EarlyExit`), unrolled by a few iterations.
//!
//! Owns [`LoopCompiler`], which makes [`LoopCode`] of a loop. An iteration without inner loops is a map from
//! the carried values and the loop invariants: its branches become selects, and an element that has left the
//! loop keeps its value. So several iterations, one after another, are one program. That program also computes
//! the mask of elements that are still in the loop.
//!
//! Not here: running the code (`run/compacted_loop.rs`), other loops (`regions.rs`).

use crate::thresholds::T;
use gpupy_core::ir::{AccessKind, Builder, EarlyExit, Form, Inst, Program};
use gpupy_core::{DType, Op, Scalar};
use gpupy_jit::{Kernel, KernelStrides, RowStride};
use rustc_hash::FxHashMap;

/// The code of a loop, and the positions of its loop invariants.
pub struct LoopCode {
    pub several: (Kernel, i32),
    pub one: Kernel,
    pub known: Vec<usize>,
}

/// A loop, with the dtypes of its carried values.
pub struct LoopCompiler<'a> {
    pub program: &'a Program,
    pub leaving: EarlyExit,
    pub carried: Vec<DType>,
}

impl LoopCompiler<'_> {
    /// Machine code for the loop, or `None` where it cannot be written. `is_scalar` tells whether the value of
    /// an instruction outside the loop is uniform.
    pub fn code(&self, is_scalar: impl Fn(usize) -> bool) -> Option<LoopCode> {
        let operations = self.program.insts[self.leaving.region..self.end()?]
            .iter()
            .filter(|inst| inst.op.is_scalar_op())
            .count();
        let unrolled = (T.unrolled_operations / operations.max(1)).clamp(1, T.unrolled_times);
        let (program, known) = self.unrolled_program(unrolled)?;
        let (single, _) = self.unrolled_program(1)?;
        let steps = self.carried.iter().map(|_| RowStride::Unit);
        let of_known =
            known.iter().map(|at| if is_scalar(*at) { RowStride::Zero } else { RowStride::Unit });
        let accesses: Vec<RowStride> = steps.chain(of_known).collect();
        let compiled = |program: &Program| {
            let dests = vec![RowStride::Unit; program.dests.len()];
            gpupy_jit::compile(program, &KernelStrides { accesses: accesses.clone(), dests })
        };
        let several = (compiled(&program)?, i32::try_from(unrolled).ok()?);
        Some(LoopCode { several, one: compiled(&single)?, known })
    }

    fn end(&self) -> Option<usize> {
        let closes =
            |inst: &Inst| inst.op == Op::End && inst.args[0] as usize == self.leaving.region;
        self.program.insts.iter().position(closes)
    }

    /// `count` iterations as a map from the carried values and the loop invariants to the carried values and
    /// the mask of elements that are still in the loop, with the positions of the invariants.
    fn unrolled_program(&self, count: usize) -> Option<(Program, Vec<usize>)> {
        let known = self.known()?;
        let mut builder = Builder::new(Form::Map, 1);
        let mut load = |dtype| {
            let access = builder.access(AccessKind::Contiguous);
            let operand = builder.operand(dtype);
            builder.load(operand, access)
        };
        let mut carried: Vec<u32> = self.carried.iter().map(|dtype| load(*dtype)).collect();
        let outside: FxHashMap<usize, u32> =
            known.iter().map(|at| (*at, load(self.program.insts[*at].dtype))).collect();
        let mut turn = Unroller { program: self.program, builder, values: FxHashMap::default() };
        let end = self.end()?;
        for _ in 0..count {
            turn.values = outside.clone();
            carried = turn.through(self.leaving.region, end, &carried)?;
        }
        // The mask: where another iteration would do something.
        turn.values = outside;
        let open = turn.condition(&self.leaving, &carried)?;
        for value in carried.into_iter().chain([open]) {
            turn.builder.store(value);
        }
        Some((turn.builder.finish(), known))
    }

    /// The positions of the loop invariants other than literals; `None` for a loop that counts, reads memory or
    /// has inner loops.
    fn known(&self) -> Option<Vec<usize>> {
        let (region, end) = (self.leaving.region, self.end()?);
        let mut known = Vec::new();
        for inst in &self.program.insts[region + 1..end] {
            match inst.op {
                Op::Iter | Op::Loop | Op::Load | Op::Gather | Op::Index | Op::Param => return None,
                Op::Carry | Op::Result => continue,
                _ => {}
            }
            for value in self.program.uses(inst).map(|value| value as usize) {
                let is_literal = self.program.insts[value].op == Op::Const;
                if value < region && !is_literal && !known.contains(&value) {
                    known.push(value);
                }
            }
        }
        Some(known)
    }
}

/// Builds the unrolled program.
struct Unroller<'a> {
    program: &'a Program,
    builder: Builder,
    /// Values of this program, by the position of the loop's instruction.
    values: FxHashMap<usize, u32>,
}

impl Unroller<'_> {
    fn value(&mut self, at: usize) -> Option<u32> {
        if let Some(value) = self.values.get(&at) {
            return Some(*value);
        }
        let inst = self.program.insts[at];
        (inst.op == Op::Const).then(|| self.literal(&inst))
    }

    /// The carried values after an iteration of the loop between these positions.
    fn through(&mut self, region: usize, end: usize, carried: &[u32]) -> Option<Vec<u32>> {
        for at in region + 1..end {
            let inst = self.program.insts[at];
            let new = match inst.op {
                Op::Carry => carried[inst.args[1] as usize],
                Op::Result => self.chosen(&inst)?,
                Op::If | Op::Else | Op::End => continue,
                _ => self.operation(&inst)?,
            };
            self.values.insert(at, new);
        }
        let list = self.list(end)?.to_vec();
        list.into_iter().map(|value| self.value(value as usize)).collect()
    }

    /// The condition of the loop's choice.
    fn condition(&mut self, leaving: &EarlyExit, carried: &[u32]) -> Option<u32> {
        for at in leaving.region + 1..leaving.choice {
            let inst = self.program.insts[at];
            let new = match inst.op {
                Op::Carry => carried[inst.args[1] as usize],
                _ => self.operation(&inst)?,
            };
            self.values.insert(at, new);
        }
        self.value(self.program.insts[leaving.choice].args[0] as usize)
    }

    fn literal(&mut self, inst: &Inst) -> u32 {
        let bits = u64::from(inst.args[0]) | u64::from(inst.args[1]) << 32;
        self.builder.constant(Scalar::new(inst.dtype, bits))
    }

    fn operation(&mut self, inst: &Inst) -> Option<u32> {
        if inst.op == Op::Const {
            return Some(self.literal(inst));
        }
        let program = self.program;
        let args = program.uses(inst).map(|value| self.value(value as usize));
        let args: Vec<u32> = args.collect::<Option<_>>()?;
        Some(match inst.op {
            Op::Cast | Op::Bitcast => self.builder.convert(inst.op, args[0], inst.dtype),
            op => self.builder.op(op, &args),
        })
    }

    /// The result of a branch, as a select.
    fn chosen(&mut self, result: &Inst) -> Option<u32> {
        let [choice, k, _] = result.args.map(|arg| arg as usize);
        let closes = |op: Op| {
            let is_it = |inst: &Inst| inst.op == op && inst.args[0] as usize == choice;
            self.program.insts.iter().position(is_it)
        };
        let (first, second) = (closes(Op::Else)?, closes(Op::End)?);
        let listed = |at: usize| self.list(at)?.get(k).copied();
        let (first, second) = (listed(first)?, listed(second)?);
        let condition = self.value(self.program.insts[choice].args[0] as usize)?;
        let (first, second) = (self.value(first as usize)?, self.value(second as usize)?);
        if first == second {
            return Some(first);
        }
        Some(self.builder.op(Op::Select, &[condition, first, second]))
    }

    /// The values that a control instruction lists.
    fn list(&self, at: usize) -> Option<&[u32]> {
        let [_, from, count] = self.program.insts[at].args.map(|arg| arg as usize);
        self.program.extra.get(from..from + count)
    }
}
