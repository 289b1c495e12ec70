//! Sums along long rows: machine code adds what it computes to the lanes of the tree.
//!
//! Only whole chunks are summed so; what is left of a row goes the way of other reductions (`launch_items.rs`). Where a
//! program has other reductions besides, machine code stores their elements meanwhile.
//!
//! Not here: the code (`gpupy-jit`, `Step::Lanes`), which sums have it (`kernel_cache.rs`).

use crate::compile::row_plan::{ReducePlan, RowReduction};
use crate::rows::{self, RowFn};
use crate::run::launch_items::{LaunchItems, walk};
use crate::run::reduce_scratch::ReduceScratch;
use crate::run::row_frame::RowFrame;
use crate::traversal::iteration_space::Point;
use gpupy_core::ir::{REDUCE_CHUNK, REDUCE_LANES};
use gpupy_jit::{Kernel, Row};
use smallvec::SmallVec;

/// How a reduction's results come of what machine code has left.
#[derive(Clone, Copy)]
enum Unreduced {
    /// The lanes of each chunk are combined.
    Lanes(RowFn),
    /// The elements of each chunk are.
    Elements,
}

impl LaunchItems<'_> {
    /// Reduces whole chunks of a row into as many results of each reduction, by code that adds to lanes and loops
    /// that combine the lanes of each chunk.
    ///
    /// # Safety
    /// The chunks from the point on are of the input space, and there is room for the results, behind so many
    /// others.
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
        // Of sums alone only lanes lie in the room of a tile.
        let together = self.tile() / if stores { REDUCE_CHUNK } else { REDUCE_LANES };
        let mut point = Point::from(point);
        for first in (0..chunks).step_by(together) {
            let count = together.min(chunks - first);
            walk(&mut frame.leaves[..self.before], &self.leaves[..self.before], &point, last);
            for ((reduction, left), which) in reducing.all.iter().zip(&left).zip(0..) {
                if let (Unreduced::Lanes(_), Some(lanes)) = (left, buffers.added.row(which)) {
                    // SAFETY: the row holds a tile, so the lanes of that many chunks.
                    unsafe { rows::nothing_added(lanes, reduction.dtype, count * REDUCE_LANES) }
                }
            }
            let row = Row {
                n: count * REDUCE_CHUNK,
                accesses: frame.leaves.as_ptr(),
                dests: buffers.added.walks.as_ptr(),
                params: self.params.as_ptr(),
            };
            // SAFETY: as above; of what is stored, the row holds that many chunks; the rest is the caller's.
            unsafe { kernel.run(&row) }
            for ((reduction, left), which) in reducing.all.iter().zip(&left).zip(0..) {
                let out = buffers.results[which].wrapping_add(first * reduction.size);
                let from = match (buffers.added.row(which), reduction.leaf) {
                    (Some(row), _) => row.cast_const(),
                    (None, Some(leaf)) => frame.leaves[leaf].ptr.cast_const(),
                    (None, None) => continue,
                };
                // SAFETY: as above.
                unsafe {
                    match left {
                        Unreduced::Lanes(fold) => fold(out, [from; 3], count),
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

/// What machine code that adds to lanes leaves of a reduction.
fn left(reduction: &RowReduction) -> Unreduced {
    let fold = rows::short_rows(reduction.op, reduction.dtype, REDUCE_LANES);
    match fold.filter(|_| reduction.adds()) {
        Some(fold) => Unreduced::Lanes(fold),
        None => Unreduced::Elements,
    }
}
