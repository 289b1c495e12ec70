//! Sums along long rows: machine code adds the operand to the lanes of the tree as it computes it.
//!
//! Only whole chunks are summed this way; the rest of a row is reduced like any other (`launch_items.rs`).
//! Machine code stores the operands of other reductions of the program meanwhile.
//!
//! Not here: the code (`gpupy-jit`, `Step::Lanes`), which sums have it (`program_cache.rs`).

use crate::compile::row_plan::{ReducePlan, RowReduction};
use crate::rows;
use crate::run::launch_items::LaunchItems;
use crate::run::reduce_scratch::ReduceScratch;
use crate::run::row_frame::RowFrame;
use crate::traversal::iteration_space::{Point, walk};
use gpupy_core::ir::{REDUCE_CHUNK, REDUCE_LANES};
use gpupy_jit::{Kernel, RowArguments};
use smallvec::SmallVec;

/// The state in which machine code leaves a reduction.
#[derive(Clone, Copy)]
enum Unreduced {
    /// The lanes of each chunk.
    Lanes,
    /// The elements of each chunk.
    Elements,
}

impl LaunchItems<'_> {
    /// Reduces whole chunks of a row to one result each, for every reduction: machine code adds to lanes, then
    /// row loops combine the lanes of each chunk.
    ///
    /// # Safety
    /// The chunks from the point on are in the input space, and `results` has room for as many results.
    pub unsafe fn add_up(
        &self,
        frame: &mut RowFrame<'_>,
        (reducing, buffers): (&ReducePlan, &ReduceScratch),
        kernel: &Kernel,
        point: &[usize],
        chunks: usize,
    ) {
        let last = self.shape.len() - 1;
        let left: SmallVec<[Unreduced; 2]> = reducing.all.iter().map(left).collect();
        let stores = left.iter().any(|left| matches!(left, Unreduced::Elements));
        // A tile holds only lanes where all reductions are sums.
        let together = self.tile() / if stores { REDUCE_CHUNK } else { REDUCE_LANES };
        let mut point = Point::from(point);
        for first in (0..chunks).step_by(together) {
            let count = together.min(chunks - first);
            walk(&mut frame.inputs[..self.before], &self.inputs[..self.before], &point, last);
            for ((reduction, left), which) in reducing.all.iter().zip(&left).zip(0..) {
                if let (Unreduced::Lanes, Some(lanes)) = (left, buffers.added.row(which)) {
                    // SAFETY: the row holds a tile, and `together` chunks have no more lanes than that.
                    unsafe { rows::nothing_added(lanes, reduction.dtype, count * REDUCE_LANES) }
                }
            }
            let row = RowArguments {
                n: count * REDUCE_CHUNK,
                accesses: frame.inputs.as_ptr(),
                dests: buffers.added.walks.as_ptr(),
                params: self.params.as_ptr(),
                tables: self.tables.as_ptr(),
            };
            // SAFETY: rows hold a tile, so the lanes or elements of `count` chunks; the chunks are in the input
            // space.
            unsafe { kernel.run(&row) }
            for ((reduction, left), which) in reducing.all.iter().zip(&left).zip(0..) {
                let out = buffers.results[which].wrapping_add(first * reduction.size);
                let from = match (buffers.added.row(which), reduction.input) {
                    (Some(row), _) => row.cast_const(),
                    (None, Some(input)) => frame.inputs[input].ptr.cast_const(),
                    (None, None) => continue,
                };
                // SAFETY: `from` holds the lanes or elements of `count` chunks, and `out` has room for their results.
                unsafe {
                    match left {
                        Unreduced::Lanes => {
                            reduction.short_rows.run(out, from, count, REDUCE_LANES);
                        }
                        Unreduced::Elements => {
                            (reduction.lanes)(out, [from; 3], count * REDUCE_CHUNK);
                        }
                    }
                }
            }
            point[last] += count * REDUCE_CHUNK;
        }
    }
}

/// The state in which machine code that adds to lanes leaves a reduction.
fn left(reduction: &RowReduction) -> Unreduced {
    if reduction.adds() { Unreduced::Lanes } else { Unreduced::Elements }
}
