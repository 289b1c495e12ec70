//! If-conversion: `if` regions become selects between the values of their branches.
//!
//! Owns [`IfRegions`]. Instructions have no effects but their values, so the second branch is computed at every point.
//! The first branch is the rare one: it is skipped if no point of a vector takes it.
//!
//! Not here: the order of the branches' instructions (`plan/`, `function_writer.rs`).

use gpupy_core::ir::{Inst, Program};
use gpupy_core::op::Op;

/// An `if` region, by the positions of its control instructions.
#[derive(Clone, Copy, Debug)]
pub struct IfRegion {
    /// The `if`; the first branch follows it.
    pub at: u32,
    /// The `else`; the second branch follows it.
    pub otherwise: u32,
    /// The `end`.
    pub end: u32,
}

/// All `if` regions of a program, in order.
pub struct IfRegions(Vec<IfRegion>);

/// The operands of the select that replaces a `result`.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub condition: u32,
    pub first: u32,
    pub second: u32,
}

impl IfRegions {
    /// The `if` regions of a verified program. `None` if it has loops or nested `if`s.
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

    /// Whether the program has none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The `if` region that an instruction opens, ends, or is inside of.
    pub fn around(&self, at: u32) -> Option<&IfRegion> {
        let behind = self.0.partition_point(|choice| choice.at <= at);
        self.0[..behind].last().filter(|choice| at <= choice.end)
    }

    /// The operands of the select that replaces a `result`.
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
