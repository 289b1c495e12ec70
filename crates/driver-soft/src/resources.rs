//! The account of what a program needs: this driver counts operations, and evaluates one at a time.
//!
//! Owns the meaning of the slots of `Resources`. The reductions of a program count as one operation with
//! several results. Invariant: otherwise a program's account is exactly the sum of the accounts of its parts,
//! so the upper bound that the engine keeps is exact.
//!
//! Not here: whether an operation is supported at all (`get_method` in `lib.rs`).

use gpupy_core::driver::{Part, Resources};
use gpupy_core::ir::Program;
use gpupy_core::op::Op;

/// Scalar operations, reductions and gathers: their slot, and its name and limit.
const OPERATIONS: usize = 0;
pub const LIMIT: (&str, u32) = ("operations", 1);

/// The account of one part.
pub fn of_part(part: Part) -> Resources {
    let mut need = Resources::default();
    need.0[OPERATIONS] = u32::from(matches!(part, Part::Op(..)));
    need
}

/// The account of a program.
pub fn of_program(program: &Program) -> Resources {
    let leaf = |op| matches!(op, Op::Const | Op::Param | Op::Index | Op::Load | Op::Store);
    let mut need = Resources::default();
    let others = program.reductions().skip(1).count();
    let operations = program.insts.iter().filter(|inst| !leaf(inst.op)).count() - others;
    need.0[OPERATIONS] = operations as u32;
    need
}

/// True for a program with at most one operation.
pub fn fit(need: &Resources) -> bool {
    need.0[OPERATIONS] <= LIMIT.1
}
