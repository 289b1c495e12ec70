//! Analyses of a program: ends of regions, live instructions, last uses, uniform values.
//!
//! Owns [`region_ends`](Program::region_ends), [`live`](Program::live), [`last_uses`](Program::last_uses),
//! [`most_live_values`](Program::most_live_values) and [`uniform`](Program::uniform). Invariants: a live instruction's
//! operands are live, and so are the control instructions around it; a uniform value depends on uniform values alone.
//!
//! Not here: common subexpressions (`Builder`), ranges and signs of values (gpupy-codegen's sign analysis, the
//! engine's bounds).

use super::{Inst, Program};
use crate::op::Op;

impl Program {
    /// The position of the `end` of each region, by the position that opens it. For other instructions, their own.
    pub fn region_ends(&self) -> Vec<usize> {
        let mut ends: Vec<usize> = (0..self.insts.len()).collect();
        for (at, inst) in self.insts.iter().enumerate().filter(|(_, inst)| inst.op == Op::End) {
            ends[inst.args[0] as usize] = at;
        }
        ends
    }

    /// For each instruction, whether one of the roots needs it: dead-code elimination keeps these.
    pub fn live(&self, is_root: impl Fn(usize, &Inst) -> bool) -> Vec<bool> {
        let closers = self.closers();
        let mut live = vec![false; self.insts.len()];
        // An instruction comes after its operands. What the end of a region needs is marked with its opening.
        for (at, inst) in self.insts.iter().enumerate().rev() {
            live[at] |= is_root(at, inst);
            if !live[at] {
                continue;
            }
            if matches!(inst.op, Op::Result | Op::Carry | Op::Iter) {
                let region = inst.args[0] as usize;
                live[region] = true;
                for closer in &closers[region] {
                    live[*closer] = true;
                }
            }
            for value in self.uses(inst) {
                live[value as usize] = true;
            }
        }
        live
    }

    /// The `else` and `end` of each region, by the position that opens it.
    fn closers(&self) -> Vec<Vec<usize>> {
        let mut closers = vec![Vec::new(); self.insts.len()];
        for (at, inst) in self.insts.iter().enumerate() {
            if matches!(inst.op, Op::Else | Op::End) {
                closers[inst.args[0] as usize].push(at);
            }
        }
        closers
    }

    /// The last use of each value; the position of the value itself if it has no use. A loop uses outer values until
    /// its end, because the next iteration uses them again. A region lives until the last use of its results. `ends`
    /// are the [`region_ends`](Program::region_ends).
    pub fn last_uses(&self, ends: &[usize]) -> Vec<usize> {
        let mut last: Vec<usize> = ends.to_vec();
        let mut open_loops: Vec<usize> = Vec::new();
        for (at, inst) in self.insts.iter().enumerate() {
            let needed_until = |value: usize, until: usize, last: &mut Vec<usize>| {
                let outside = open_loops.iter().find(|region| **region > value);
                last[value] = last[value].max(outside.map_or(until, |region| ends[*region]));
            };
            for value in self.uses(inst) {
                needed_until(value as usize, at, &mut last);
            }
            // Each iteration reads the count again, and the end of an `if` reads its condition.
            if matches!(inst.op, Op::Loop | Op::If) {
                needed_until(inst.args[0] as usize, ends[at], &mut last);
            }
            match inst.op {
                Op::Loop => open_loops.push(at),
                Op::End => open_loops.retain(|region| *region != inst.args[0] as usize),
                _ => {}
            }
        }
        for (at, inst) in self.insts.iter().enumerate().filter(|(_, inst)| inst.op == Op::Result) {
            let region = inst.args[0] as usize;
            last[region] = last[region].max(last[at]);
        }
        last
    }

    /// Register pressure: the most values that are live at one point, in program order, including counters of open
    /// loops. Constants and parameters are immediate operands and take no register.
    pub fn most_live_values(&self) -> u32 {
        let last = self.last_uses(&self.region_ends());
        let mut dying = vec![0u32; self.insts.len()];
        let (mut live, mut most) = (0u32, 0u32);
        for (at, inst) in self.insts.iter().enumerate() {
            let is_held = !matches!(inst.op, Op::Const | Op::Param);
            if is_held && last[at] > at {
                live += 1;
                dying[last[at]] += 1;
            }
            most = most.max(live);
            live -= dying[at];
        }
        most
    }

    /// For each instruction, whether its value is uniform: equal at all points, if so are the `load`s and `index`es for
    /// whose positions `is_uniform` holds. Values that loops carry and reductions count as different, as do
    /// instructions without a value.
    pub fn uniform(&self, is_uniform: impl Fn(usize) -> bool) -> Vec<bool> {
        let closers = self.closers();
        let mut uniform = vec![false; self.insts.len()];
        for (at, inst) in self.insts.iter().enumerate() {
            uniform[at] = match inst.op {
                Op::Const | Op::Param | Op::Iter => true,
                Op::Load | Op::Index => is_uniform(at),
                Op::Result => {
                    let [region, which, _] = inst.args.map(|arg| arg as usize);
                    let branches = closers[region].iter().map(|closer| {
                        let list = self.insts[*closer].args[1] as usize;
                        self.extra[list + which]
                    });
                    self.insts[region].op == Op::If
                        && uniform[self.insts[region].args[0] as usize]
                        && branches.into_iter().all(|value| uniform[value as usize])
                }
                op if op.is_scalar_op() || matches!(op, Op::Gather | Op::Piece | Op::Choose) => {
                    self.uses(inst).all(|value| uniform[value as usize])
                }
                _ => false,
            };
        }
        uniform
    }
}
