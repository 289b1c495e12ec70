//! Library operations: the whole-program forms, which are scans, sorts, matrix products and routines.
//!
//! Owns [`launch`]. A [`LibraryLaunch`] is a launch of one (`library_launch.rs`). Scans are in `chunked_scan.rs`; sorts
//! in `sort.rs` with `sort_order.rs`, `radix_sort.rs`, `vector_sort.rs` and `short_sort.rs`; products in `gemm.rs`,
//! those of small matrices in `short_product.rs`, gemv-like ones in `skinny_product.rs` and syrk-like ones in
//! `symmetric_product.rs`, cut into the tiles of `product_tile.rs`, which `multiply.rs` computes, those of two vectors
//! in `vector_product.rs`. Invariants: threads write different elements; bits do not depend on the number of threads,
//! except for products of floats.
//!
//! Imports `blocks.rs`, `rows`, `traversal`, `threads` and `routines`, which does routines. Not here: maps and
//! reductions (`compile`, `run`).

mod chunked_scan;
mod gemm;
mod library_launch;
mod multiply;
mod product_tile;
mod radix_sort;
mod short_product;
mod short_sort;
mod skinny_product;
mod sort;
mod sort_order;
mod symmetric_product;
mod vector_product;
mod vector_sort;

pub use vector_product::vector_product;

use crate::blocks::Blocks;
use crate::errors::invalid;
use crate::routines::{self, FourierPlans};
use crate::threads::executor::Executor;
use crate::traversal::iteration_space::StridedAccess;
use gpupy_core::driver::{Evaluated, Launch};
use gpupy_core::ir::Form;
use gpupy_core::{Op, Result};
use library_launch::LibraryLaunch;
use smallvec::SmallVec;

/// Evaluates a launch of a whole-program form.
pub fn launch(
    blocks: &mut Blocks,
    launch: &Launch<'_>,
    plans: &mut FourierPlans,
    executor: &mut Executor<'_>,
) -> Result<Evaluated> {
    let program = launch.program;
    let (loads, rest) = match program.insts.iter().position(|inst| inst.op.form().is_some()) {
        Some(at) => program.insts.split_at(at),
        None => return Err(invalid("a form without its instruction")),
    };
    let mut reads: SmallVec<[StridedAccess<'_>; 2]> = SmallVec::new();
    for load in loads {
        let [operand, access, _] = load.args.map(|arg| arg as usize);
        let (base, _) = blocks.named(launch.operands[operand], launch)?;
        let size = load.dtype.size();
        reads.push(StridedAccess { access: &launch.accesses[access], base, size });
    }
    let dest = &launch.dests[0];
    let (base, _) = blocks.named(dest.block, launch)?;
    let size = program.dests[0].size();
    let dest = StridedAccess { access: &dest.access, base, size };
    let whole = LibraryLaunch { shape: launch.shape, dtype: loads[0].dtype, reads, dest };
    match (rest[0].op, program.form) {
        (_, Form::Scan { op }) => chunked_scan::run(&whole, op, executor)?,
        (_, Form::MatMul) => gemm::run(&whole, executor)?,
        (_, Form::Routine { routine }) => {
            let lines = [whole.reads[0], whole.dest];
            routines::run(
                routine,
                launch.params,
                (whole.shape, whole.dtype),
                lines,
                plans,
                executor,
            )?;
        }
        (op, _) => sort::run(&whole, op == Op::ArgSort, executor)?,
    }
    Ok(Evaluated { launches: 1, ..Evaluated::default() })
}
