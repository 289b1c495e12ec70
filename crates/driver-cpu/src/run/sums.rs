//! Sums along long rows: machine code adds what it computes to the lanes of the tree.
//!
//! Only whole chunks are summed so; what is left of a row goes the way of other reductions (`work.rs`).
//!
//! Not here: the code (`gpupy-jit`, `Step::Lanes`), which sums have it (`known.rs`).

use crate::compile::plan::Reduction;
use crate::rows::{self, RowFn};
use crate::run::frame::Frame;
use crate::run::work::{Work, walk};
use crate::traversal::space::Point;
use gpupy_core::ir::{REDUCE_CHUNK, REDUCE_LANES};
use gpupy_jit::{Kernel, Row, Walk};

impl Work<'_> {
    /// Sums whole chunks of a row into as many results, by code that adds to lanes and a loop that combines
    /// the lanes of each chunk.
    ///
    /// # Safety
    /// The chunks from the point on are of the input space, and there is room for the results.
    pub unsafe fn add_up(
        &self,
        frame: &mut Frame<'_>,
        reduction: &Reduction,
        (kernel, fold): (&Kernel, RowFn),
        point: &[usize],
        chunks: usize,
        out: *mut u8,
    ) {
        let (last, size) = (self.shape.len() - 1, reduction.size);
        let together = self.tile() / REDUCE_LANES;
        let lanes = frame.beyond;
        let dest = Walk { ptr: lanes, step: size as isize };
        let mut point = Point::from(point);
        for first in (0..chunks).step_by(together) {
            let count = together.min(chunks - first);
            walk(&mut frame.leaves[..self.before], &self.leaves[..self.before], &point, last);
            let row = Row {
                n: count * REDUCE_CHUNK,
                accesses: frame.leaves.as_ptr(),
                dests: &raw const dest,
                params: self.params.as_ptr(),
            };
            // SAFETY: the row beyond the plan's holds a tile, so the lanes of that many chunks; the rest is
            // the caller's.
            unsafe {
                rows::nothing_added(lanes, reduction.dtype, count * REDUCE_LANES);
                kernel.run(&row);
                fold(out.add(first * size), [lanes.cast_const(); 3], count);
            }
            point[last] += count * REDUCE_CHUNK;
        }
    }
}
