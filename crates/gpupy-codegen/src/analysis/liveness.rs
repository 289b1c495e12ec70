//! Liveness: the instructions that a set of destinations needs, and the most values live at one point.
//!
//! Owns [`live_instructions`] and [`most_live_values`]. Invariant: a live instruction's operands are
//! live, and so are the control instructions around it.
//!
//! Not here: common subexpressions (`Builder` of gpupy-core shares them).

use gpupy_core::ir::Program;
use gpupy_core::op::Op;

/// For each instruction, whether the stores to these destinations need it. A program's only reduction is always live.
pub fn live_instructions(program: &Program, dests: &[u32]) -> Vec<bool> {
    let mut live = vec![false; program.insts.len()];
    let alone = program.reduce_range().is_some_and(|range| range.len() == 1);
    let closers = closers(program);
    // Users come after their operands. The operands of a region's end are marked together with the region's header.
    for at in (0..program.insts.len()).rev() {
        let inst = &program.insts[at];
        live[at] |= match inst.op {
            Op::Store => dests.contains(&inst.args[0]),
            Op::Reduce => alone,
            _ => false,
        };
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
        for value in program.uses(inst) {
            live[value as usize] = true;
        }
    }
    live
}

/// The `else` and `end` of each region, by the region's number.
fn closers(program: &Program) -> Vec<Vec<usize>> {
    let mut closers = vec![Vec::new(); program.insts.len()];
    for (at, inst) in program.insts.iter().enumerate() {
        if matches!(inst.op, Op::Else | Op::End) {
            closers[inst.args[0] as usize].push(at);
        }
    }
    closers
}

/// Register pressure: the most values that are computed and still needed at one point, in program order.
pub fn most_live_values(program: &Program) -> u32 {
    let mut last_use = vec![0; program.insts.len()];
    for (at, inst) in program.insts.iter().enumerate() {
        for value in program.uses(inst) {
            last_use[value as usize] = at;
        }
    }
    let mut ends = vec![0u32; program.insts.len()];
    let (mut live, mut most) = (0u32, 0u32);
    for (at, inst) in program.insts.iter().enumerate() {
        // Constants and parameters are immediate operands and occupy no register.
        let waits = last_use[at] > at && !matches!(inst.op, Op::Const | Op::Param);
        if waits {
            live += 1;
            ends[last_use[at]] += 1;
        }
        most = most.max(live);
        live -= ends[at];
    }
    most
}
