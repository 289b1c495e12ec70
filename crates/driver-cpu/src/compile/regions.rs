//! Regions: loops and branches over rows, by predication.
//!
//! A loop runs while some element is active, and updates carried values only for active elements. A branch runs
//! both sides, each only if some element takes it, and then selects. A loop that is left by a choice
//! (`ir::EarlyExit`) ends as soon as no element takes that choice's first branch. Operations have no side
//! effects, so inactive elements may be computed too.
//!
//! Not here: everything else of a program (`plan_compiler.rs`).

use crate::compile::plan_compiler::{PlanCompiler, RowValue};
use crate::compile::row_plan::{
    Carried, CompiledLoop, LOOP_ROW, LoopInvariant, MaskedLoop, PredicatedBranch, RowStep,
};
use crate::compile::unrolled_loop::{LoopCode, LoopCompiler};
use crate::errors::NAME;
use gpupy_core::{DType, Error, ErrorKind, Op, Result};

/// Regions that may be open at once.
const DEEPEST: usize = 32;

impl PlanCompiler<'_> {
    /// Compiles the loop at `at`, and moves `at` to its end.
    pub fn compile_loop(&mut self, at: &mut usize, mask: Option<RowValue>) -> Result<()> {
        if mask.is_none() && self.by_machine_code(at) {
            return Ok(());
        }
        let (region, end) = (*at, self.ends[*at]);
        let until = self.last[region];
        let count = self.values[self.program.insts[region].args[0] as usize];
        let mut carried = Vec::new();
        for (start, dtype) in self.listed(region) {
            let row = self.slots.row(dtype.size(), until);
            self.copy(start, row, dtype.size());
            carried.push((RowValue { slot: row, scalar: false }, dtype));
        }
        let iter = RowValue { slot: self.slots.scalar(), scalar: true };
        let list = carried.iter().map(|(value, _)| *value).chain([iter]).collect();
        self.results.insert(region, list);

        let outside = self.enter()?;
        let size = DType::Bool.size();
        let below = self.slots.value(size, count.scalar, until);
        self.operation(Op::Lt, DType::I32, DType::Bool, &[iter, count], below)?;
        let below = RowValue { slot: below, scalar: count.scalar };
        let active = self.masked(below, mask, until)?;
        let test = std::mem::take(&mut self.steps);
        *at += 1;
        self.block(at, end, if active.scalar { None } else { Some(active) })?;
        self.carry_on(end, active, &carried)?;
        let body = self.leave(outside);
        let active = (active.slot, active.scalar);
        let is_left = self.program.leaving().any(|leaving| leaving.region == region);
        let iter = iter.slot;
        self.steps.push(RowStep::Loop(Box::new(MaskedLoop { iter, test, active, body, is_left })));
        Ok(())
    }

    /// Compiles a loop that is left by a choice to machine code; false where that is impossible.
    fn by_machine_code(&mut self, at: &mut usize) -> bool {
        let (region, end) = (*at, self.ends[*at]);
        let until = self.last[region];
        let Some(leaving) = self.program.leaving().find(|leaving| leaving.region == region) else {
            return false;
        };
        let count = self.values[self.program.insts[region].args[0] as usize];
        let listed = self.listed(region);
        let carried = listed.iter().map(|(_, dtype)| *dtype).collect();
        let around = LoopCompiler { program: self.program, leaving, carried };
        if !count.scalar {
            return false;
        }
        let Some(LoopCode { several, one, known }) = around.code(|at| self.values[at].scalar)
        else {
            return false;
        };
        let mut rows = Vec::new();
        let mut results = Vec::new();
        for (start, dtype) in listed {
            let size = dtype.size();
            let [own, one, other] = [(); 3].map(|()| self.slots.row(size, until));
            self.copy(start, own, size);
            rows.push(Carried { size, own, changing: [one, other] });
            results.push(RowValue { slot: own, scalar: false });
        }
        self.results.insert(region, results);
        let known = known.into_iter().map(|at| {
            let RowValue { slot, scalar } = self.values[at];
            let size = self.program.insts[at].dtype.size();
            LoopInvariant { size, slot, left: (!scalar).then(|| self.slots.row(size, until)) }
        });
        let known = known.collect();
        self.slots.at_least(LOOP_ROW);
        let open = self.slots.row(DType::Bool.size(), until);
        let count = count.slot;
        let compiled = CompiledLoop { count, carried: rows, known, open, several, one };
        self.spend_on(region, end);
        self.steps.push(RowStep::CompiledLoop(Box::new(compiled)));
        *at = end;
        true
    }

    /// Appends the steps that turn the values at the end of an iteration into the carried values of the next.
    fn carry_on(
        &mut self,
        end: usize,
        active: RowValue,
        carried: &[(RowValue, DType)],
    ) -> Result<()> {
        let next: Vec<RowValue> = self.listed(end).into_iter().map(|(value, _)| value).collect();
        let mut moves = Vec::new();
        for (k, (value, dtype)) in carried.iter().enumerate() {
            let size = dtype.size();
            // A value that an earlier move overwrites is copied first.
            let overwritten = carried[..k].iter().any(|(before, _)| before.slot == next[k].slot);
            let from = if !active.scalar {
                let chosen = self.slots.row(size, end);
                let values = [active, next[k], *value];
                self.operation(Op::Select, *dtype, *dtype, &values, chosen)?;
                RowValue { slot: chosen, scalar: false }
            } else if overwritten {
                let kept = self.slots.row(size, end);
                self.copy(next[k], kept, size);
                RowValue { slot: kept, scalar: false }
            } else {
                next[k]
            };
            moves.push((from, value.slot, size));
        }
        for (from, to, size) in moves.into_iter().filter(|(from, to, _)| from.slot != *to) {
            self.copy(from, to, size);
        }
        Ok(())
    }

    /// Compiles the branch at `at`, and moves `at` to its end.
    pub fn compile_choice(&mut self, at: &mut usize, mask: Option<RowValue>) -> Result<()> {
        let (region, end) = (*at, self.ends[*at]);
        let until = self.last[region];
        let condition = self.values[self.program.insts[region].args[0] as usize];
        let opposite = self.slots.value(DType::Bool.size(), condition.scalar, until);
        self.operation(Op::Not, DType::Bool, DType::Bool, &[condition], opposite)?;
        let opposite = RowValue { slot: opposite, scalar: condition.scalar };
        let taken = self.masked(condition, mask, until)?;
        let refused = self.masked(opposite, mask, until)?;

        let outside = self.enter()?;
        *at += 1;
        let between = self.other_branch(region);
        let inner = |value: RowValue| if value.scalar { mask } else { Some(value) };
        self.block(at, between, inner(taken))?;
        // The second branch may reuse the rows of the first, so the first branch's results are copied.
        let mut first = Vec::new();
        for (value, dtype) in self.listed(between) {
            let row = self.slots.row(dtype.size(), end);
            self.copy(value, row, dtype.size());
            first.push((RowValue { slot: row, scalar: false }, dtype));
        }
        self.slots.free(between);
        let then = std::mem::take(&mut self.steps);
        *at += 1;
        self.block(at, end, inner(refused))?;
        let otherwise = self.leave(outside);
        let (taken, refused) = ((taken.slot, taken.scalar), (refused.slot, refused.scalar));
        self.steps.push(RowStep::If(Box::new(PredicatedBranch {
            taken,
            then,
            refused,
            otherwise,
        })));
        let mut results = Vec::new();
        for ((first, dtype), (second, _)) in first.into_iter().zip(self.listed(end)) {
            let row = self.slots.row(dtype.size(), until);
            self.operation(Op::Select, dtype, dtype, &[condition, first, second], row)?;
            results.push(RowValue { slot: row, scalar: false });
        }
        self.results.insert(region, results);
        Ok(())
    }

    /// The conjunction of a condition with the mask.
    fn masked(
        &mut self,
        condition: RowValue,
        mask: Option<RowValue>,
        until: usize,
    ) -> Result<RowValue> {
        let Some(mask) = mask else { return Ok(condition) };
        let slot = self.slots.row(DType::Bool.size(), until);
        self.operation(Op::And, DType::Bool, DType::Bool, &[condition, mask], slot)?;
        Ok(RowValue { slot, scalar: false })
    }

    /// The end of the first branch.
    fn other_branch(&self, region: usize) -> usize {
        let ends_it = |at: &usize| {
            let inst = self.program.insts[*at];
            inst.op == Op::Else && inst.args[0] as usize == region
        };
        (region..self.ends[region]).find(ends_it).unwrap_or(self.ends[region])
    }

    /// The values that a control instruction lists.
    fn listed(&self, at: usize) -> Vec<(RowValue, DType)> {
        let [_, from, len] = self.program.insts[at].args.map(|arg| arg as usize);
        let list = self.program.extra[from..from + len].iter().map(|value| *value as usize);
        list.map(|value| (self.values[value], self.program.insts[value].dtype)).collect()
    }

    /// Opens a region, and returns the steps outside it.
    fn enter(&mut self) -> Result<Vec<RowStep>> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let error = Error::new(ErrorKind::Refused, NAME);
            return Err(error.says("regions nest too deeply").with("limit", DEEPEST));
        }
        Ok(std::mem::take(&mut self.steps))
    }

    /// Closes a region, and returns its steps.
    fn leave(&mut self, outside: Vec<RowStep>) -> Vec<RowStep> {
        self.depth -= 1;
        std::mem::replace(&mut self.steps, outside)
    }
}
