//! The account of what a program needs: operations, and destinations.
//!
//! Owns the meaning of the slots of `Resources`. Invariant: a program's account is exactly the sum
//! of its parts' accounts, so the upper bound that the core keeps is also the truth.
//!
//! Not here: whether an operation exists at all (`get_method` in `lib.rs`).

use gpupy_core::driver::{Driver, Part, Resources};
use gpupy_core::ir::Program;
use gpupy_core::op::Op;

/// The slot that counts operations, reductions and gathers.
pub const OPERATIONS: usize = 0;
/// The slot that counts destinations.
pub const DESTINATIONS: usize = 1;

/// Each slot's name and limit.
const SLOTS: [(&str, u32); 2] = [("operations", 1), ("destinations", 4)];

/// The limits in force: ours, or lower ones where the configuration has them.
pub fn limits(lowered: &Resources) -> Resources {
    let mut limits = Resources::default();
    for (slot, (_, ours)) in SLOTS.iter().enumerate() {
        let wanted = lowered.0[slot];
        limits.0[slot] = if wanted == 0 {
            *ours
        } else {
            wanted.min(*ours)
        };
    }
    limits
}

/// The limits with their names, for people to read.
pub fn named(limits: &Resources) -> Vec<(&'static str, u32)> {
    SLOTS
        .iter()
        .zip(limits.0)
        .map(|((name, _), limit)| (*name, limit))
        .collect()
}

/// What one part needs.
pub fn of_part(part: Part) -> Resources {
    let mut need = Resources::default();
    match part {
        Part::Op(..) => need.0[OPERATIONS] = 1,
        Part::Dest(_) => need.0[DESTINATIONS] = 1,
        Part::Operand(_) | Part::Param(_) | Part::Index => {}
    }
    need
}

/// What a program needs.
pub fn of_program(driver: &dyn Driver, program: &Program) -> Resources {
    let mut total = driver.resource_zero();
    for inst in &program.insts {
        let part = match inst.op {
            Op::Const | Op::Param | Op::Index | Op::Load => continue,
            Op::Store => Part::Dest(inst.dtype),
            op => Part::Op(op, inst.dtype),
        };
        driver.resource_add(&mut total, &of_part(part));
    }
    total
}
