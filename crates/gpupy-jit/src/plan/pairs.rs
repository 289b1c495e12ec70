//! Pairs: in a program of 32-bit and 64-bit lanes, one register holds the 32-bit lanes of two vectors.
//!
//! A vector has as many points as a register has of the program's widest lanes. Without pairs, instructions on 32-bit
//! lanes use half of a register. Indices are int64 where data is float32, so that such programs are common.
//!
//! Owns which instructions are *paired*: those that have 32-bit lanes only. Their tasks compute two vectors. Between
//! them and the tasks of one vector, values are *converted*: joined, or split into the upper half. A register's lower
//! half needs no conversion.
//!
//! Not here: instructions of conversions (`lower/lane_ops.rs`), the order of other tasks (`instruction_order.rs`).

use super::{CodePlan, CodeTask, Duty, OperandList};
use crate::code::opcodes::LaneWidth;
use gpupy_core::op::Op;

impl CodePlan<'_> {
    /// Makes pairs, if the program then needs fewer instructions.
    pub(super) fn find_pairs(&mut self, bytes_of_widest: usize) {
        let in_parts = |variant: &crate::KernelStrides| {
            variant.accesses.iter().chain(&variant.dests).any(|step| step.is_of_parts())
        };
        if bytes_of_widest != LaneWidth::W64.bytes()
            || !self.choices.is_empty()
            || in_parts(self.variant)
        {
            return;
        }
        for at in 0..self.notes.len() as u32 {
            let is_narrow = self.has_narrow_lanes(at);
            self.notes[at as usize].paired = is_narrow;
        }
        self.span = 2;
        if self.saved_by_pairs() <= 0 {
            self.notes.iter_mut().for_each(|note| note.paired = false);
            self.span = 1;
        }
    }

    /// Whether an instruction's value and operands have 32-bit lanes.
    fn has_narrow_lanes(&self, at: u32) -> bool {
        let is_narrow = |at: &u32| LaneWidth::of(self.inst(*at).dtype) == Some(LaneWidth::W32);
        is_narrow(&at) && self.args(CodeTask::value(at)).iter().all(is_narrow)
    }

    /// The instructions that pairs save for two vectors, less the conversions that they need.
    fn saved_by_pairs(&self) -> isize {
        let mut is_converted = vec![false; self.notes.len()];
        let mut saved = 0;
        for (at, note) in (0u32..).zip(&self.notes) {
            let takes_place = note.needed && note.name == at && !note.uniform;
            if !takes_place || self.inst(at).op == Op::Const {
                continue;
            }
            saved += isize::from(note.paired);
            for arg in self.args(CodeTask::value(at)).iter() {
                let from = self.notes[*arg as usize];
                let is_narrow = LaneWidth::of(self.inst(*arg).dtype) == Some(LaneWidth::W32);
                let differs = is_narrow && from.paired != note.paired && !from.uniform;
                if differs && !std::mem::replace(&mut is_converted[*arg as usize], true) {
                    saved -= 1;
                }
            }
        }
        saved
    }

    /// The number of vectors that a task of an instruction computes.
    pub(super) fn span_of(&self, inst: u32) -> u32 {
        if self.notes[inst as usize].paired { self.span } else { 1 }
    }

    /// The points that a task computes.
    pub fn lanes_of(&self, task: CodeTask) -> usize {
        match task.duty {
            Duty::Join | Duty::Split => self.lanes,
            _ => self.lanes * self.span_of(task.inst) as usize,
        }
    }

    /// The points that a value has a lane for.
    pub fn lanes_of_value(&self, value: u32) -> usize {
        let inst = self.inst_of(value);
        let is_converted = !value.is_multiple_of(self.span);
        let of_pair = self.notes[inst as usize].paired != is_converted;
        if of_pair && self.span == 2 { 2 * self.lanes } else { self.lanes }
    }

    /// The value of an instruction as its task computes it, for a vector of the pass.
    pub fn value(&self, inst: u32, group: u32) -> u32 {
        let name = self.name(inst);
        let first = group - group % self.span_of(name);
        (name * self.groups + if self.is_uniform(name) { 0 } else { first }) * self.span
    }

    /// The value of an instruction as a conversion makes it, for a vector of the pass.
    fn converted(&self, inst: u32, group: u32) -> u32 {
        let name = self.name(inst);
        (name * self.groups + if self.is_uniform(name) { 0 } else { group }) * self.span + 1
    }

    /// The conversion that a task needs of the value of an instruction.
    fn conversion(&self, task: CodeTask, arg: u32) -> Option<CodeTask> {
        let inst = self.name(arg);
        let is_narrow = LaneWidth::of(self.inst(inst).dtype) == Some(LaneWidth::W32);
        let (given, wanted) = (self.span_of(inst), self.span_of(task.inst));
        let is_split = given > wanted && !task.group.is_multiple_of(given);
        if !is_narrow || task.duty != Duty::Value || self.is_uniform(inst) && given >= wanted {
            return None;
        }
        let duty = if given < wanted { Some(Duty::Join) } else { is_split.then_some(Duty::Split) };
        duty.map(|duty| CodeTask { inst, group: task.group, duty })
    }

    /// The values that a task reads.
    pub fn operands(&self, task: CodeTask) -> OperandList {
        let mut operands = OperandList::default();
        match task.duty {
            Duty::Join => {
                operands.push(self.value(task.inst, task.group));
                operands.push(self.value(task.inst, task.group + 1));
            }
            Duty::Split => operands.push(self.value(task.inst, task.group)),
            _ => {
                for arg in self.args(task).iter() {
                    operands.push(match self.conversion(task, *arg) {
                        Some(conversion) => self.result(conversion),
                        None => self.value(*arg, task.group),
                    });
                }
            }
        }
        operands
    }

    /// The value that a task computes.
    pub fn result(&self, task: CodeTask) -> u32 {
        match task.duty {
            Duty::Join | Duty::Split => self.converted(task.inst, task.group),
            _ => self.value(task.inst, task.group),
        }
    }

    /// Puts conversions before the first tasks that need them; those of uniform values before the loop.
    pub(super) fn convert(&mut self) {
        let mut is_made = vec![false; self.values()];
        let mut before = Vec::new();
        for task in std::mem::take(&mut self.before) {
            before.extend(self.missing(task, &mut is_made));
            before.push(task);
        }
        let mut body = Vec::new();
        for task in std::mem::take(&mut self.body) {
            let missing = self.missing(task, &mut is_made);
            let (uniform, own): (Vec<_>, Vec<_>) =
                missing.into_iter().partition(|conversion| self.is_uniform(conversion.inst));
            before.extend(uniform);
            body.extend(own);
            body.push(task);
        }
        (self.before, self.body) = (before, body);
    }

    /// The conversions that a task needs and that are not made.
    fn missing(&self, task: CodeTask, is_made: &mut [bool]) -> Vec<CodeTask> {
        let all = self.args(task);
        let all = all.iter().filter_map(|arg| self.conversion(task, *arg));
        all.filter(|task| !std::mem::replace(&mut is_made[self.result(*task) as usize], true))
            .collect()
    }
}
