//! Liveness: the last use of each value.
//!
//! Owns [`last_uses`] and [`ends`]. A value from outside a loop that the loop uses is live until the loop's
//! end, because the next iteration uses it again.
//!
//! Not here: the allocation of rows (`scratch_layout.rs`).

use gpupy_core::Op;
use gpupy_core::ir::Program;

/// The position of the `end` of each region, by the position that opens it; for other instructions, their own
/// position.
pub fn ends(program: &Program) -> Vec<usize> {
    let mut ends: Vec<usize> = (0..program.insts.len()).collect();
    for (at, inst) in program.insts.iter().enumerate().filter(|(_, inst)| inst.op == Op::End) {
        ends[inst.args[0] as usize] = at;
    }
    ends
}

/// The last instruction that uses each value, or its own position if there is none. For an instruction that
/// opens a region, the last use of one of the region's results.
pub fn last_uses(program: &Program, ends: &[usize]) -> Vec<usize> {
    let insts = &program.insts;
    let mut last: Vec<usize> = ends.to_vec();
    // The loops that are open.
    let mut open: Vec<usize> = Vec::new();
    for (at, inst) in insts.iter().enumerate() {
        let needed_until = |value: usize, until: usize, last: &mut Vec<usize>| {
            let outside = open.iter().find(|region| **region > value);
            last[value] = last[value].max(outside.map_or(until, |region| ends[*region]));
        };
        for value in program.uses(inst) {
            needed_until(value as usize, at, &mut last);
        }
        match inst.op {
            // A count is asked again for each iteration, a condition when both branches are done.
            Op::Loop | Op::If => needed_until(inst.args[0] as usize, ends[at], &mut last),
            _ => {}
        }
        match inst.op {
            Op::Loop => open.push(at),
            Op::End => open.retain(|region| *region != inst.args[0] as usize),
            _ => {}
        }
    }
    for (at, inst) in insts.iter().enumerate().filter(|(_, inst)| inst.op == Op::Result) {
        let region = inst.args[0] as usize;
        last[region] = last[region].max(last[at]);
    }
    last
}
