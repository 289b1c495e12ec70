//! Numbers in pieces in programs for devices without them.
//!
//! Owns [`lowered`], which rewrites a program: `piece` becomes the comparisons of a number with the ends, and
//! `choose` a chain of selects by these. Invariants: the new program has neither; operands, parameters, accesses and
//! destinations keep their places, so that a launch serves both; results are those of the original, to the bit.
//!
//! Not here: drivers that are sent such programs (the engine).

use super::{Inst, Program};
use crate::dtype::DType;
use crate::op::Op;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Whether a program has numbers in pieces.
pub fn is_in(program: &Program) -> bool {
    program.insts.iter().any(|inst| is_lowered(inst.op))
}

/// Whether an operation is rewritten.
pub fn is_lowered(op: Op) -> bool {
    matches!(op, Op::Piece | Op::Choose)
}

/// What the lowering of an operation takes for each value of its list, each as an operation and its result's dtype: an
/// upper bound for `Driver::resource_get`.
pub fn operations(op: Op, dtype: DType) -> SmallVec<[(Op, DType); 2]> {
    match op {
        Op::Piece => SmallVec::from_slice(&[(Op::Lt, DType::Bool), (Op::Select, DType::I32)]),
        _ => SmallVec::from_slice(&[(Op::Lt, DType::Bool), (Op::Select, dtype)]),
    }
}

/// The program without numbers in pieces.
pub fn lowered(program: &Program) -> Program {
    let left = Program { insts: Vec::new(), extra: Vec::new(), ..program.clone() };
    let mut lowering = PiecesLowering {
        from: program,
        to: left,
        values: Vec::with_capacity(program.insts.len()),
        tests: FxHashMap::default(),
        counted: counted(program),
    };
    for (at, inst) in program.insts.iter().enumerate() {
        let value = lowering.copy(at, inst);
        lowering.values.push(value);
    }
    lowering.to
}

/// For each instruction, whether its value is used otherwise than to choose by it.
fn counted(program: &Program) -> Vec<bool> {
    let mut counted = vec![false; program.insts.len()];
    for inst in &program.insts {
        let chooser = usize::from(inst.op == Op::Choose);
        for value in program.uses(inst).skip(chooser) {
            counted[value as usize] = true;
        }
    }
    counted
}

struct PiecesLowering<'a> {
    from: &'a Program,
    to: Program,
    /// The value of each instruction.
    values: Vec<u32>,
    /// For each `piece`, whether the number is below each of its ends.
    tests: FxHashMap<u32, SmallVec<[u32; 4]>>,
    counted: Vec<bool>,
}

impl PiecesLowering<'_> {
    fn copy(&mut self, at: usize, inst: &Inst) -> u32 {
        let [a, ..] = inst.args;
        match inst.op {
            Op::Piece => {
                let number = self.values[a as usize];
                let ends = self.list(inst);
                let tests =
                    ends.iter().map(|end| self.push(Op::Lt, DType::Bool, [number, *end, 0]));
                let tests: SmallVec<[u32; 4]> = tests.collect();
                let piece = if self.counted[at] { self.count(&tests) } else { number };
                self.tests.insert(at as u32, tests);
                piece
            }
            Op::Choose => {
                let values = self.list(inst);
                let tests = match self.tests.get(&a) {
                    Some(tests) => tests.clone(),
                    None => self.tests_of(self.values[a as usize], values.len()),
                };
                self.chosen(&tests, &values, inst.dtype)
            }
            op => {
                let mut args = inst.args;
                for arg in op.value_arguments() {
                    args[arg] = self.values[args[arg] as usize];
                }
                if op.has_list() {
                    let values = self.list(inst);
                    args[1] = self.to.extra.len() as u32;
                    self.to.extra.extend(values);
                }
                self.push(op, inst.dtype, args)
            }
        }
    }

    fn push(&mut self, op: Op, dtype: DType, args: [u32; 3]) -> u32 {
        self.to.insts.push(Inst { op, dtype, args });
        self.to.insts.len() as u32 - 1
    }

    /// The values in an instruction's list.
    fn list(&self, inst: &Inst) -> SmallVec<[u32; 4]> {
        self.from.listed(inst).iter().map(|value| self.values[*value as usize]).collect()
    }

    fn literal(&mut self, number: usize) -> u32 {
        self.push(Op::Const, DType::I32, [number as u32, 0, 0])
    }

    /// The number of the first test that holds, or of tests.
    fn count(&mut self, tests: &[u32]) -> u32 {
        let numbers: SmallVec<[u32; 4]> = (0..=tests.len()).map(|k| self.literal(k)).collect();
        self.chosen(tests, &numbers, DType::I32)
    }

    /// Whether a number is at most each place in a list but the last.
    fn tests_of(&mut self, number: u32, count: usize) -> SmallVec<[u32; 4]> {
        let mut tests = SmallVec::new();
        for k in 1..count {
            let end = self.literal(k);
            tests.push(self.push(Op::Lt, DType::Bool, [number, end, 0]));
        }
        tests
    }

    /// The value in the place of the first test that holds; the last of them where none does.
    fn chosen(&mut self, tests: &[u32], values: &[u32], dtype: DType) -> u32 {
        let known = tests.len().min(values.len() - 1);
        let mut chosen = values[known];
        for (test, value) in tests[..known].iter().zip(values).rev() {
            chosen = self.push(Op::Select, dtype, [*test, *value, chosen]);
        }
        chosen
    }
}
