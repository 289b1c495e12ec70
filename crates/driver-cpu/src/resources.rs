//! The account of what a program needs: this driver counts instructions.
//!
//! Owns the meaning of the slots of `Resources`. The limit bounds the time of compiling a program; evaluation
//! has no limit. Invariant: a program's account is exactly the sum of the accounts of its parts, so the upper
//! bound that the engine keeps is exact.
//!
//! Not here: whether an operation is supported at all (`get_method` in `driver.rs`).

use gpupy_core::Op;
use gpupy_core::driver::{Part, Resources};
use gpupy_core::ir::Program;

/// The slot of all instructions but literals, its name and our limit.
const INSTRUCTIONS: usize = 0;
pub const LIMIT: (&str, u32) = ("instructions", 4096);

/// The limit in force, given the one that the configuration asks for (0 for none).
pub fn limit(wanted: &Resources) -> u32 {
    match wanted.0[INSTRUCTIONS] {
        0 => LIMIT.1,
        wanted => wanted.min(LIMIT.1),
    }
}

/// The account of one part.
pub fn of_part(_: Part) -> Resources {
    let mut need = Resources::default();
    need.0[INSTRUCTIONS] = 1;
    need
}

/// The account of a program.
pub fn of_program(program: &Program) -> Resources {
    let mut need = Resources::default();
    let counted = program.insts.iter().filter(|inst| inst.op != Op::Const);
    need.0[INSTRUCTIONS] = u32::try_from(counted.count()).unwrap_or(u32::MAX);
    need
}

/// Whether an account is within a limit.
pub fn fit(need: &Resources, limit: u32) -> bool {
    need.0[INSTRUCTIONS] <= limit
}
