//! Regions: loops and choices over rows.
//!
//! A loop goes on while some element is in it, and carries values on only for those; a choice does
//! both branches, each only where some element takes it, and selects. A loop that is left by a choice
//! (`ir::Leaving`) ends as soon as no element takes that choice's first branch. Operations have no effects
//! but their values, so elements that are not concerned may go along.
//!
//! Not here: everything else of a program (`plan_compiler.rs`).

use crate::compile::plan_compiler::{PlanCompiler, RowValue};
use crate::compile::row_plan::{
    Carried, CompiledLoop, LoopInvariant, MaskedLoop, PredicatedBranch, RowStep, TOGETHER,
};
use crate::compile::unrolled_loop::{LoopCode, LoopCompiler};
use crate::errors::NAME;
use gpupy_core::{DType, Error, ErrorKind, Op, Result};

/// Regions that may be open at once.
const DEEPEST: usize = 32;

impl PlanCompiler<'_> {
    /// Compiles the loop at `at`, and leaves `at` at its end.
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

    /// Compiles a loop that is left by a choice to machine code, if there is any for it.
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
        self.slots.at_least(TOGETHER);
        let open = self.slots.row(DType::Bool.size(), until);
        let count = count.slot;
        let turns = CompiledLoop { count, carried: rows, known, open, several, one };
        self.spend_on(region, end);
        self.steps.push(RowStep::CompiledLoop(Box::new(turns)));
        *at = end;
        true
    }

    /// The steps that make the values at the end of an iteration those of the next.
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
            // What an earlier move overwrites has to be kept before.
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

    /// Compiles the choice at `at`, and leaves `at` at its end.
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
        // The second branch may take the rows of the first, so its values are kept.
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

    /// A condition, where the mask holds.
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

    /// Where the first branch of a choice ends.
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

    /// Opens a region, and gives the steps outside.
    fn enter(&mut self) -> Result<Vec<RowStep>> {
        self.depth += 1;
        if self.depth > DEEPEST {
            let error = Error::new(ErrorKind::Refused, NAME);
            return Err(error.says("regions nest too deeply").with("limit", DEEPEST));
        }
        Ok(std::mem::take(&mut self.steps))
    }

    /// Closes a region, and gives its steps.
    fn leave(&mut self, outside: Vec<RowStep>) -> Vec<RowStep> {
        self.depth -= 1;
        std::mem::replace(&mut self.steps, outside)
    }
}
