//! The choices of a program: what its `if` regions choose between.
//!
//! Owns [`IfRegions`]. Instructions have no effects but their values, so the second branch is computed at
//! every point. The first is the one that seldom counts: it is passed over where no point of a
//! vector takes it.
//!
//! Not here: where the branches' instructions go (`plan/`, `function_writer.rs`).

use gpupy_core::ir::{Inst, Program};
use gpupy_core::op::Op;

/// A choice, by the positions of its instructions.
#[derive(Clone, Copy, Debug)]
pub struct IfRegion {
    /// The `if`; the first branch follows it.
    pub at: u32,
    /// The `else`; the second branch follows it.
    pub otherwise: u32,
    /// The `end`.
    pub end: u32,
}

/// All choices of a program, in order.
pub struct IfRegions(Vec<IfRegion>);

/// What a `result` is chosen from.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub condition: u32,
    pub first: u32,
    pub second: u32,
}

impl IfRegions {
    /// The choices of a program that verifies; `None` where it has loops, or choices within choices.
    pub fn of(program: &Program) -> Option<IfRegions> {
        let mut all: Vec<IfRegion> = Vec::new();
        let mut depth = 0;
        for (inst, at) in program.insts.iter().zip(0u32..) {
            match inst.op {
                Op::Loop => return None,
                Op::If if depth > 0 => return None,
                Op::If => {
                    depth = 1;
                    all.push(IfRegion { at, otherwise: at, end: at });
                }
                Op::Else => all.last_mut()?.otherwise = at,
                Op::End => {
                    depth = 0;
                    all.last_mut()?.end = at;
                }
                _ => {}
            }
        }
        Some(IfRegions(all))
    }

    /// The choice that an instruction opens or ends, or whose branches it is in.
    pub fn around(&self, at: u32) -> Option<&IfRegion> {
        let behind = self.0.partition_point(|choice| choice.at <= at);
        self.0[..behind].last().filter(|choice| at <= choice.end)
    }

    /// What a `result` is chosen from.
    pub fn options(&self, program: &Program, result: &Inst) -> Option<Options> {
        let [region, k, _] = result.args;
        let choice = self.around(region)?;
        let listed = |at: u32| {
            let list = program.insts[at as usize].args[1] + k;
            program.extra.get(list as usize).copied()
        };
        Some(Options {
            condition: program.insts[region as usize].args[0],
            first: listed(choice.otherwise)?,
            second: listed(choice.end)?,
        })
    }
}
