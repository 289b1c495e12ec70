//! Instruction order: the sequence of tasks, and the number of vectors that a pass interleaves.
//!
//! Not here: which instructions are live (`dead_code.rs`).

use super::{CodePlan, CodeTask, Duty, GROUPS, MOST_GROUPS, SPARE};
use crate::RowStride;
use crate::if_conversion::IfRegion;
use gpupy_core::ir::Inst;
use gpupy_core::op::Op;

impl CodePlan<'_> {
    pub(super) fn order(&mut self) {
        let mut body: Vec<Vec<CodeTask>> = Vec::new();
        let mut detour = Vec::new();
        for at in 0..self.notes.len() as u32 {
            let note = self.notes[at as usize];
            let op = self.inst(at).op;
            if op == Op::End {
                self.end_choice(at, &mut body, std::mem::take(&mut detour));
            }
            if !note.needed || note.folded || note.name != at {
                continue;
            }
            let task = CodeTask::value(at);
            match op {
                Op::Const | Op::If => {}
                // The real part is stored together with the imaginary one.
                Op::Store
                    if self.variant.dests[self.inst(at).args[0] as usize] == RowStride::Real => {}
                _ if note.uniform => self.before.push(task),
                // The result is computed at the end of its `if`.
                Op::Result => {}
                _ if self.choices.around(at).is_some_and(|choice| at < choice.otherwise) => {
                    detour.push(task);
                }
                _ => body.push(vec![task]),
            }
        }
        self.pressure = self.most_alive(&body);
        // A detour may make a step long.
        let (length, isa) = (body.len(), self.isa);
        let fits = |(groups, longest): &(u32, usize)| {
            let needed = *groups as usize * self.pressure + SPARE;
            needed <= isa.registers() && length <= *longest
        };
        let turns = GROUPS.iter().find(|choice| fits(choice)).map_or(1, |(groups, _)| *groups);
        self.groups = (turns * self.span).min(MOST_GROUPS);
        self.pressure *= (self.groups / self.span) as usize;
        for step in &body {
            for group in (0..self.groups).step_by(self.span_of(step[0].inst) as usize) {
                self.body.extend(step.iter().map(|task| CodeTask { group, ..*task }));
            }
        }
        self.convert();
    }

    /// The steps at the `end` of an `if`: its results, and the exit to its detour.
    fn end_choice(&self, end: u32, body: &mut Vec<Vec<CodeTask>>, detour: Vec<CodeTask>) {
        let Some(IfRegion { at, .. }) = self.choices.around(end).copied() else { return };
        let is_result = |inst: &Inst| inst.op == Op::Result && inst.args[0] == at;
        let all = (end..self.notes.len() as u32).filter(|result| {
            let note = self.notes[*result as usize];
            is_result(self.inst(*result)) && note.needed && !note.uniform
        });
        let results: Vec<CodeTask> = all.map(CodeTask::value).collect();
        if results.is_empty() {
            return;
        }
        body.extend(results.iter().map(|result| vec![*result]));
        let test = self.inst(at).args[0];
        let mut step = Vec::new();
        step.extend(self.is_folded(test).then_some(CodeTask::value(test)));
        step.extend(detour);
        step.extend(results.iter().map(|result| CodeTask { duty: Duty::Merge, ..*result }));
        let duty = Duty::Leave(step.len() as u32);
        step.insert(0, CodeTask { inst: at, group: 0, duty });
        body.push(step);
    }

    /// Register pressure: the most values that are live at once, in the steps' first tasks; with pairs, in those of
    /// the first two vectors.
    fn most_alive(&self, body: &[Vec<CodeTask>]) -> usize {
        let mut alive = vec![false; self.notes.len()];
        let (mut now, mut most) = (0, 0);
        for step in body.iter().rev() {
            for task in step.iter().rev() {
                let registers = |inst: u32| (self.span / self.span_of(inst)) as usize;
                if task.duty == Duty::Value
                    && std::mem::replace(&mut alive[task.inst as usize], false)
                {
                    now -= registers(task.inst);
                }
                for arg in self.args(*task).iter().filter(|arg| !self.is_uniform(**arg)) {
                    if !std::mem::replace(&mut alive[*arg as usize], true) {
                        now += registers(*arg);
                    }
                }
            }
            most = most.max(now);
        }
        most
    }
}
