//! Evaluation of one launch: every instruction for a piece of a row of points, then the next piece.
//!
//! Owns [`launch`]. Values are kept as bits in rows of `u64`, so dtypes matter only to operations. Invariant:
//! only the launch's points change in a destination.
//!
//! Not here: whether the program fits (`resources.rs`).

use crate::blocks::{Blocks, invalid};
use gpupy_core::driver::{Access, Launch};
use gpupy_core::ir::{Inst, REDUCE_CHUNK, REDUCE_LANES, Reduction};
use gpupy_core::op::Op;
use gpupy_core::op_eval::{Function, function};
use gpupy_core::{DType, Result};
use std::ops::Range;

/// The most points that are evaluated at a time, so that their values fit in the nearest cache.
const ROW: usize = 1024;

/// Evaluates a launch.
pub fn launch(blocks: &mut Blocks, launch: &Launch<'_>) -> Result<()> {
    // Dead handles are reported before any destination changes.
    let dests = launch.dests.iter().map(|dest| &dest.block);
    launch.operands.iter().chain(dests).try_for_each(|block| blocks.get(*block).map(drop))?;
    let insts = &launch.program.insts;
    let mut evaluation = Evaluation { blocks, launch, rows: vec![vec![0; ROW]; insts.len()] };
    let mut shape = launch.shape.to_vec();
    let axis = shape.len() - 1;
    let reduce = launch.program.reduce_range();
    if reduce.is_some() {
        shape[axis] = shape[axis].div_ceil(REDUCE_CHUNK);
    }
    let mut point = vec![0; shape.len()];
    while point[0] < shape[0] {
        let n = if reduce.is_some() { 1 } else { ROW.min(shape[axis] - point[axis]) };
        if let Some(reduce) = &reduce {
            evaluation.reduce(reduce.start, &point)?;
        }
        evaluation.run(reduce.as_ref().map_or(0, |range| range.end)..insts.len(), &point, n)?;
        // Moves to the next piece of this row, or to the next row.
        point[axis] += n;
        let mut k = axis;
        while k > 0 && point[k] == shape[k] {
            point[k] = 0;
            point[k - 1] += 1;
            k -= 1;
        }
    }
    Ok(())
}

struct Evaluation<'a> {
    blocks: &'a mut Blocks,
    launch: &'a Launch<'a>,
    /// The values of each instruction at the current points.
    rows: Vec<Vec<u64>>,
}

impl Evaluation<'_> {
    /// Runs instructions at `point` and its followers along the last axis, `n` points in all.
    fn run(&mut self, insts: Range<usize>, point: &[usize], n: usize) -> Result<()> {
        for at in insts {
            let inst = &self.launch.program.insts[at];
            let mut row = std::mem::take(&mut self.rows[at]);
            let done = self.step(inst, point, &mut row[..n]);
            self.rows[at] = row;
            done?;
        }
        Ok(())
    }

    fn step(&mut self, inst: &Inst, point: &[usize], row: &mut [u64]) -> Result<()> {
        let launch = self.launch;
        let [a, b, c] = inst.args.map(|arg| arg as usize);
        let numbered = (0..).zip(row.iter_mut());
        match inst.op {
            Op::Const => row.fill(a as u64 | (b as u64) << 32),
            Op::Param => row.fill(launch.params[a]),
            Op::Index => {
                let place = places(&launch.accesses[a], point);
                numbered.for_each(|(k, bits)| *bits = u64::from(place(k) as u32));
            }
            Op::Load => {
                let place = places(&launch.accesses[b], point);
                let block = &self.blocks.get(launch.operands[a])?.bits;
                numbered.for_each(|(k, bits)| *bits = u64::from(block[place(k) as usize]));
            }
            Op::Gather => {
                let block = &self.blocks.get(launch.operands[a])?.bits;
                let last = block.len() as i32 - 1;
                for (bits, index) in row.iter_mut().zip(&self.rows[b]) {
                    *bits = u64::from(block[(*index as i32).clamp(0, last) as usize]);
                }
            }
            Op::Piece => {
                let ends = launch.program.listed(inst);
                for (k, bits) in row.iter_mut().enumerate() {
                    let at = |value: usize| self.rows[value][k] as i32;
                    let is_below = |end: &u32| at(a) < at(*end as usize);
                    *bits = ends.iter().position(is_below).unwrap_or(ends.len()) as u64;
                }
            }
            Op::Choose => {
                let values = launch.program.listed(inst);
                let last = values.len() as i32 - 1;
                for (k, bits) in row.iter_mut().enumerate() {
                    let number = (self.rows[a][k] as i32).clamp(0, last);
                    *bits = self.rows[values[number as usize] as usize][k];
                }
            }
            Op::Store => {
                let place = places(&launch.dests[a].access, point);
                let block = &mut self.blocks.get(launch.dests[a].block)?.bits;
                for ((k, _), bits) in numbered.zip(&self.rows[b]) {
                    block[place(k) as usize] = *bits as u32;
                }
            }
            op => {
                let apply = self.function(op, if op == Op::Select { b } else { a }, inst.dtype)?;
                // Unused arguments of an operation are 0, so they name an existing row.
                let operands = self.rows[a].iter().zip(&self.rows[b]).zip(&self.rows[c]);
                for (bits, ((a, b), c)) in row.iter_mut().zip(operands) {
                    *bits = apply(*a, *b, *c);
                }
            }
        }
        Ok(())
    }

    fn function(&self, op: Op, operand: usize, to: DType) -> Result<Function> {
        let from = self.launch.program.insts[operand].dtype;
        function(op, from, to).ok_or_else(|| invalid("an operation that `check_ir` refuses"))
    }

    /// Runs everything before the first `reduce`, at instruction `at`, for the input points of an output point,
    /// and reduces them by the canonical tree (see `Form::Reduce`), once for each reduction.
    fn reduce(&mut self, at: usize, point: &[usize]) -> Result<()> {
        let axis = point.len() - 1;
        let mut first = point.to_vec();
        first[axis] *= REDUCE_CHUNK;
        let n = REDUCE_CHUNK.min(self.launch.shape[axis] - first[axis]);
        self.run(0..at, &first, n)?;
        for Reduction { at, op, value, dtype } in self.launch.program.reductions() {
            let combine = self.function(op, value as usize, dtype)?;
            let points = &self.rows[value as usize];
            // The points are kept, because another reduction may use them.
            let mut lanes: [u64; REDUCE_LANES] = std::array::from_fn(|l| points[l]);
            for k in REDUCE_LANES..n {
                lanes[k % REDUCE_LANES] = combine(lanes[k % REDUCE_LANES], points[k], 0);
            }
            for half in [8, 4, 2, 1] {
                for lane in 0..half.min(n.saturating_sub(half)) {
                    lanes[lane] = combine(lanes[lane], lanes[lane + half], 0);
                }
            }
            self.rows[at][0] = lanes[0];
        }
        Ok(())
    }
}

/// The element numbers of an access at `point` and its followers along the last axis.
fn places(access: &Access, point: &[usize]) -> impl Fn(i64) -> i64 + use<> {
    let steps = access.strides.iter().zip(point);
    let first = steps.fold(access.offset, |at, (stride, i)| at + stride * *i as i64);
    let step = access.strides.last().copied().unwrap_or(0);
    move |k| first + step * k
}
