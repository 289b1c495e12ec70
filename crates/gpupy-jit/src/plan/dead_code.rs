//! Dead-code elimination, and the folding of comparisons into the selects that use them.
//!
//! `Program::live` keeps whole regions. Here a region is selects, so that a `result` needs only its own values of the
//! branches.
//!
//! Not here: the order of instructions (`instruction_order.rs`).

use super::{CodePlan, CodeTask};
use gpupy_core::DType;
use gpupy_core::ir::Program;
use gpupy_core::op::{Op, Rule};

impl CodePlan<'_> {
    pub(super) fn find_needed(&mut self) {
        for at in (0..self.notes.len() as u32).rev() {
            let inst = self.inst(at);
            if inst.op == Op::Store {
                self.notes[at as usize].needed = true;
            }
            if !self.notes[at as usize].needed {
                continue;
            }
            for arg in self.args(CodeTask::value(at)).iter() {
                self.notes[*arg as usize].needed = true;
            }
            if inst.op == Op::Result
                && let Some(options) = self.choices.options(self.program, inst)
            {
                for value in [inst.args[0], options.condition, options.first] {
                    let name = self.name(value);
                    self.notes[name as usize].needed = true;
                }
            }
        }
    }

    pub(super) fn fold_comparisons(&mut self) {
        let mut uses = vec![0u32; self.notes.len()];
        let all = 0..self.notes.len() as u32;
        let written: Vec<u32> =
            all.filter(|at| self.notes[*at as usize].needed && self.name(*at) == *at).collect();
        for at in &written {
            for arg in self.args(CodeTask::value(*at)).iter() {
                uses[*arg as usize] += 1;
            }
            // A detour computes the test again at its begin.
            if self.inst(*at).op == Op::Result
                && !self.is_uniform(*at)
                && let Some(options) = self.choices.options(self.program, self.inst(*at))
            {
                uses[self.name(options.first) as usize] += 1;
            }
        }
        for at in written {
            let inst = self.inst(at);
            let test = inst.args[0];
            let uniform = match inst.op {
                Op::Select => self.is_uniform(at),
                Op::If => false,
                _ => continue,
            };
            // A uniform comparison with a select between values of points is not folded.
            if uses[test as usize] == 1
                && is_test(self.program, test)
                && self.is_uniform(test) == uniform
                && self.span_of(test) == self.span_of(at)
            {
                self.notes[test as usize].folded = true;
            }
        }
    }
}

/// Whether an instruction tests numbers, so that its result is a mask.
fn is_test(program: &Program, at: u32) -> bool {
    let inst = &program.insts[at as usize];
    match inst.op.info().rule {
        Rule::Compare => program.insts[inst.args[0] as usize].dtype != DType::Bool,
        _ => matches!(inst.op, Op::IsNan | Op::IsInf | Op::IsFinite),
    }
}
