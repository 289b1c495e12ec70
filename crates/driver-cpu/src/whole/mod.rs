//! The whole-program forms: scans, sorts and matrix products.
//!
//! Owns [`Whole`], a launch of one, and what it is cut into. Invariants: pieces write different
//! elements; bits do not depend on threads, but for the products of floats.
//!
//! Scans stand in `scan.rs`, sorts in `sort.rs`, products in `product.rs` and
//! `thin.rs`.
//!
//! Not here: maps and reductions (`compile.rs`, `work.rs`).

mod product;
mod quick;
mod radix;
mod scan;
mod sort;
mod thin;

use crate::blocks::{Blocks, invalid};
use crate::eval::Crew;
use crate::space::{Line, Point};
use gpupy_core::driver::{Evaluated, Launch};
use gpupy_core::ir::Form;
use gpupy_core::{DType, Op, Result};
use smallvec::SmallVec;

/// A launch of a whole-program form.
pub struct Whole<'a> {
    /// The input space.
    pub shape: &'a [usize],
    pub dtype: DType,
    /// The operands, in their order.
    pub reads: SmallVec<[Line<'a>; 2]>,
    pub dest: Line<'a>,
}

// SAFETY: pieces write different elements, and what they read nobody writes; the core leaves all of
// it alone until the evaluation returns.
unsafe impl Sync for Whole<'_> {}

impl Whole<'_> {
    /// How many rows along the last axis there are.
    fn rows(&self) -> usize {
        self.shape.iter().rev().skip(1).product()
    }

    /// The first point of a row.
    fn row(&self, number: usize) -> Point {
        unravelled(number, &self.shape[..self.shape.len() - 1], 1)
    }
}

/// Point number `number` of a shape in C order, and so many zeros.
fn unravelled(mut number: usize, shape: &[usize], more: usize) -> Point {
    let mut point = Point::from_elem(0, shape.len() + more);
    for (i, extent) in point.iter_mut().zip(shape).rev() {
        *i = number % extent;
        number /= extent;
    }
    point
}

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
        let base = blocks.get(launch.operands[operand])?.as_ptr();
        let size = load.dtype.size();
        reads.push(Line { access: &launch.accesses[access], base, size });
    }
    let dest = &launch.dests[0];
    let base = blocks.get(dest.block)?.as_ptr();
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
