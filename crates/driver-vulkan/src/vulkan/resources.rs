//! The account of what a program needs.
//!
//! Owns the meaning of the slots of `Resources`. Vulkan has no limits for any of them; they are budgets
//! of ours: shaders much longer take more time to compile than they save launches.
//!
//! Invariant: the sum over a program's parts is never below what `of_program` finds.
//!
//! Not here: whether an operation exists at all (`get_method` in `driver.rs`).

use gpupy_codegen::most_live_values;
use gpupy_core::driver::{Part, Resources};
use gpupy_core::ir::Program;
use gpupy_core::op::{Op, Rule};
use std::borrow::Cow;

const INSTRUCTIONS: usize = 0;
const TEMPORARIES: usize = 1;
const PARAMETERS: usize = 2;
const OPERANDS: usize = 3;
/// The slot that counts destinations.
pub const DESTINATIONS: usize = 4;

const NAMES: [&str; 5] = ["instructions", "temporaries", "parameters", "operands", "destinations"];
const LIMITS: [u32; 5] = [1536, 2048, 1024, 32, 8];

/// The limits in force: ours, or lower ones where the configuration has them.
pub fn limits(lowered: &Resources) -> Resources {
    let mut limits = Resources([u32::MAX; 8]);
    limits.0[..LIMITS.len()].copy_from_slice(&LIMITS);
    for (limit, lowered) in limits.0.iter_mut().zip(lowered.0) {
        if lowered > 0 {
            *limit = lowered.min(*limit);
        }
    }
    limits
}

/// The limits with their names, for people to read.
pub fn named(limits: &Resources) -> Vec<(Cow<'static, str>, u32)> {
    NAMES.into_iter().map(Cow::Borrowed).zip(limits.0).collect()
}

/// What one part needs at most.
pub fn of_part(part: Part) -> Resources {
    let mut need = Resources::default();
    match part {
        Part::Op(op, _) if op.info().rule == Rule::Special && op != Op::Gather => {}
        Part::Op(..) | Part::Index => (need.0[INSTRUCTIONS], need.0[TEMPORARIES]) = (1, 1),
        Part::Operand(_) => {
            (need.0[INSTRUCTIONS], need.0[TEMPORARIES], need.0[OPERANDS]) = (1, 1, 1);
        }
        Part::Param(_) => need.0[PARAMETERS] = 1,
        Part::Dest(_) => (need.0[INSTRUCTIONS], need.0[DESTINATIONS]) = (1, 1),
    }
    need
}

/// What a program really needs.
pub fn of_program(program: &Program) -> Resources {
    let mut need = Resources::default();
    for inst in &program.insts {
        let part = match inst.op {
            Op::Const | Op::Param => continue,
            Op::Load => Part::Operand(inst.dtype),
            Op::Index => Part::Index,
            Op::Store => Part::Dest(inst.dtype),
            op => Part::Op(op, inst.dtype),
        };
        need.0[INSTRUCTIONS] += of_part(part).0[INSTRUCTIONS];
    }
    need.0[TEMPORARIES] = most_live_values(program);
    need.0[PARAMETERS] = program.params.len() as u32;
    need.0[OPERANDS] = program.operands.len() as u32;
    need.0[DESTINATIONS] = program.dests.len() as u32;
    need
}
