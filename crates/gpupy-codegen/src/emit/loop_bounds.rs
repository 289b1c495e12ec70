//! The loops of kernels: their heads as text, and bounds on their iterations.
//!
//! Owns [`MOST_STEPS`], [`LoopHead`], by which every loop is printed, and [`StepCount`]. Invariant: all loops of an
//! invocation together make at most [`MOST_STEPS`] steps, in any launch.
//!
//! Not here: how a long matrix product is cut into dispatches (`compute/plan/tiles.rs`).

use crate::dialect::Dialect;
use gpupy_core::ir::{Form, LOOP_STEPS, Program, REDUCE_CHUNK, REDUCE_LANES};
use gpupy_core::op::Op;
use std::ops::Range;

/// The most steps of an invocation. A step is an iteration of any loop, or the end of a loop.
///
/// Mesa's llvmpipe and lavapipe (measured: version 22.3) count these steps down from 65,535. At 0 they exit every
/// loop as if it had ended. They count nested loops too, so that only a shorter launch helps.
pub const MOST_STEPS: u64 = 65_534;

/// The head of a counted loop.
pub(crate) struct LoopHead<'a> {
    /// The name of the counter, an int.
    pub counter: &'a str,
    /// The counter's first value.
    pub from: &'a str,
    /// The exclusive upper bound of the counter.
    pub below: &'a str,
    /// The counter's increment.
    pub step: u32,
    /// The most iterations.
    pub most: u64,
}

impl<'a> LoopHead<'a> {
    /// A loop from 0 up to `below`, exclusive.
    pub const fn below(counter: &'a str, below: &'a str, most: u64) -> LoopHead<'a> {
        LoopHead { counter, from: "0", below, step: 1, most }
    }

    /// The line that opens the loop.
    pub fn head(&self, dialect: &dyn Dialect) -> String {
        let LoopHead { counter, from, below, step, .. } = self;
        format!(
            "for ({} = {from}; {counter} < {below}; {counter} += {step}) {{",
            dialect.counter(counter)
        )
    }
}

/// A loop over the lanes of a reduction, four at a time. `part` is the first of the four.
pub(crate) const FOURS_OF_LANES: LoopHead<'static> =
    LoopHead { step: 4, ..LoopHead::below("part", LANES, REDUCE_LANES as u64 / 4) };
/// A loop over the lanes of a reduction. `part` is the lane.
pub(crate) const EACH_LANE: LoopHead<'static> = LoopHead::below("part", LANES, REDUCE_LANES as u64);
/// A loop over the points of lane `part` in a chunk of `count` points.
pub(crate) const POINTS_OF_A_LANE: LoopHead<'static> = LoopHead {
    counter: "n",
    from: "part",
    below: "count",
    step: REDUCE_LANES as u32,
    most: (REDUCE_CHUNK / REDUCE_LANES) as u64,
};
/// [`REDUCE_LANES`] as text.
const LANES: &str = "16";

/// Counts the steps of the loops of a text.
#[derive(Debug, Default)]
pub(crate) struct StepCount {
    all: u64,
    /// How often each open block runs, the innermost last.
    runs: Vec<u64>,
}

impl StepCount {
    /// Enters a block that runs at most `most` times in each run of the block around it.
    pub fn enter(&mut self, most: u64) {
        self.runs.push(self.now().saturating_mul(most));
    }

    /// Enters a loop.
    pub fn enter_loop(&mut self, each: &LoopHead<'_>) {
        self.add(each.most.saturating_add(1));
        self.enter(each.most);
    }

    /// Leaves the innermost block.
    pub fn leave(&mut self) {
        self.runs.pop();
    }

    /// Adds steps of the current block.
    pub fn add(&mut self, steps: u64) {
        self.all = self.all.saturating_add(self.now().saturating_mul(steps));
    }

    /// The number of steps.
    pub fn all(&self) -> u64 {
        self.all
    }

    fn now(&self) -> u64 {
        self.runs.last().copied().unwrap_or(1)
    }
}

/// The most steps of these regions at one point: from their counts where all are constants, otherwise the
/// IR's own bound.
pub(crate) fn of_regions(program: &Program, instructions: Range<usize>) -> u64 {
    let (mut steps, mut known) = (StepCount::default(), true);
    let mut loops = Vec::new();
    for (at, inst) in program.insts.iter().enumerate().take(instructions.end) {
        match inst.op {
            _ if at < instructions.start => {}
            Op::Loop => {
                let count = program.insts[inst.args[0] as usize];
                known &= count.op == Op::Const;
                let most = (count.args[0] as i32).max(0) as u64;
                steps.add(most.saturating_add(1));
                steps.enter(most);
                loops.push(at as u32);
            }
            Op::End if loops.last() == Some(&inst.args[0]) => {
                steps.leave();
                loops.pop();
            }
            _ => {}
        }
    }
    if known { steps.all() } else { u64::from(LOOP_STEPS) }
}

/// The most steps of a program in any kernel of this crate. The kernels of a matrix product bound their own.
pub(crate) fn of_program(program: &Program) -> u64 {
    let insts = program.insts.len();
    // A fragment computes four elements.
    let fours = |steps: u64| steps.saturating_add(1).saturating_mul(4).saturating_add(1);
    match program.form {
        Form::Map => fours(of_regions(program, 0..insts)),
        Form::Reduce { .. } => {
            let at = program.insts.iter().position(|inst| inst.op == Op::Reduce).unwrap_or(insts);
            let (chunk, lanes) = (REDUCE_CHUNK as u64, REDUCE_LANES as u64);
            let points = of_regions(program, 0..at).saturating_mul(chunk);
            // At most, there is a loop for each four points, and for each lane or each four of them.
            let own = lanes + 1 + 2 * chunk + lanes;
            fours(points.saturating_add(own).saturating_add(of_regions(program, at..insts)))
        }
        Form::Scan { .. } => REDUCE_CHUNK as u64 + 1,
        Form::Sort | Form::MatMul | Form::Routine { .. } => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpupy_core::ir::Builder;
    use gpupy_core::{DType, Scalar};

    /// A map or a sum with nested loops of these counts; `None` is a count that is read.
    fn program(form: Form, counts: &[Option<i32>]) -> Program {
        let mut b = Builder::new(form, 1);
        let (operand, all) = (b.operand(DType::I32), b.access(gpupy_core::ir::AccessKind::Affine));
        let x = b.load(operand, all);
        let counts: Vec<u32> =
            counts.iter().map(|n| n.map_or(x, |n| b.constant(Scalar::i32(n)))).collect();
        let regions: Vec<u32> = counts.iter().map(|count| b.begin_loop(*count, &[])).collect();
        regions.iter().rev().for_each(|region| b.end(*region, &[]));
        let value = if form == Form::Map { x } else { b.reduce(x) };
        b.store(value);
        b.finish()
    }

    #[test]
    fn steps_are_iterations_and_ends_of_all_loops_in_each_other() {
        let of = |counts: &[Option<i32>]| {
            let program = program(Form::Map, counts);
            of_regions(&program, 0..program.insts.len())
        };
        assert_eq!(of(&[]), 0);
        assert_eq!(of(&[Some(-3)]), 1);
        assert_eq!(of(&[Some(10)]), 11);
        assert_eq!(of(&[Some(10), Some(5)]), 11 + 10 * 6);
        assert_eq!(of(&[Some(i32::MAX); 9]), u64::MAX);
        assert_eq!(of(&[Some(10), None]), LOOP_STEPS.into());
    }

    #[test]
    fn what_the_ir_allows_is_not_too_long_for_a_map() {
        assert!(of_program(&program(Form::Map, &[None, None])) <= MOST_STEPS);
        assert!(of_program(&program(Form::Map, &[Some(100_000)])) > MOST_STEPS);
    }

    #[test]
    fn a_reduction_goes_through_the_loops_of_256_points() {
        let sum =
            |counts: &[Option<i32>]| of_program(&program(Form::Reduce { op: Op::Add }, counts));
        assert!(sum(&[]) <= MOST_STEPS);
        assert!(sum(&[Some(50)]) <= MOST_STEPS);
        assert!(sum(&[Some(64)]) > MOST_STEPS);
        assert!(sum(&[None]) > MOST_STEPS);
    }
}
