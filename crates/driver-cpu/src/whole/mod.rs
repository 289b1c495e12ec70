//! The whole-program forms: scans, sorts and matrix products.
//!
//! Owns [`launch`]. A [`Whole`] is a launch of one, and stands in `form.rs`; scans stand in `scan.rs`, sorts in
//! `sort.rs` with `radix.rs` and `quick.rs`, products in `product.rs` and `thin.rs`, cut into the boxes of `piece.rs`.
//! Invariants: pieces write different elements; bits do not depend on threads, but for the products of floats.
//!
//! Imports `blocks.rs`, `rows`, `traversal` and `threads`. Not here: maps and reductions (`compile`, `run`).

mod form;
mod piece;
mod product;
mod quick;
mod radix;
mod scan;
mod sort;
mod thin;

use crate::blocks::Blocks;
use crate::errors::invalid;
use crate::threads::crew::Crew;
use crate::traversal::space::Line;
use form::Whole;
use gpupy_core::driver::{Evaluated, Launch};
use gpupy_core::ir::Form;
use gpupy_core::{Op, Result};
use smallvec::SmallVec;

/// Evaluates a launch of a whole-program form.
pub fn launch(blocks: &mut Blocks, launch: &Launch<'_>, crew: &mut Crew<'_>) -> Result<Evaluated> {
    let program = launch.program;
    let (loads, rest) = match program.insts.iter().position(|inst| inst.op.form().is_some()) {
        Some(at) => program.insts.split_at(at),
        None => return Err(invalid("a form without its instruction")),
    };
    let mut reads: SmallVec<[Line<'_>; 2]> = SmallVec::new();
    for load in loads {
        let [operand, access, _] = load.args.map(|arg| arg as usize);
        let (base, _) = blocks.named(launch.operands[operand], launch)?;
        let size = load.dtype.size();
        reads.push(Line { access: &launch.accesses[access], base, size });
    }
    let dest = &launch.dests[0];
    let (base, _) = blocks.named(dest.block, launch)?;
    let size = program.dests[0].size();
    let dest = Line { access: &dest.access, base, size };
    let whole = Whole { shape: launch.shape, dtype: loads[0].dtype, reads, dest };
    match (rest[0].op, program.form) {
        (_, Form::Scan { op }) => scan::run(&whole, op, crew)?,
        (_, Form::MatMul) => product::run(&whole, crew)?,
        (op, _) => sort::run(&whole, op == Op::ArgSort, crew)?,
    }
    Ok(Evaluated { launches: 1, ..Evaluated::default() })
}
