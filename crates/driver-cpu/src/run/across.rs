//! Reductions across rows: each row takes the part of one element of the canonical tree.
//!
//! Rows of the input space that are combined into the same lane of the tree are 16 apart. Where they
//! lie in memory they are taken three at a time, so that a lane's row is read and written less often.
//!
//! Not here: reductions along rows (`work.rs`), the loops over rows (`rows`).

use crate::compile::plan::{Place, Reduction};
use crate::run::frame::Frame;
use crate::run::work::Work;
use crate::traversal::space::Point;
use gpupy_core::ir::{REDUCE_CHUNK, REDUCE_LANES};

impl Work<'_> {
    /// Reduces across the axis into the row of results.
    ///
    /// # Safety
    /// The point and the `n - 1` after it are of the space of the results.
    pub unsafe fn across(
        &self,
        frame: &mut Frame<'_>,
        reduction: &Reduction,
        point: &Point,
        n: usize,
    ) {
        let last = self.shape.len() - 1;
        let size = reduction.size;
        let from = point[last] * REDUCE_CHUNK;
        let count = REDUCE_CHUNK.min(self.shape[last] - from);
        let lanes = self.reduced(frame);
        let lane = |l: usize| lanes.wrapping_add(l * n * size);
        let mut input = point.clone();
        input[last] = from;
        let lying = self.lying_rows(frame, reduction, &input);
        // SAFETY: rows are of the space; there is room for 16 rows, or as many as there are.
        unsafe {
            match lying {
                Some((first, step)) => {
                    let row = |k: usize| first.wrapping_offset(step * k as isize);
                    combine_lying(reduction, count, n, lane, row);
                }
                None => {
                    for k in 0..count {
                        input[last] = from + k;
                        let row = self.input(frame, reduction, &input, self.rows.axis, n);
                        let to = lane(k % REDUCE_LANES);
                        if k < REDUCE_LANES {
                            std::ptr::copy_nonoverlapping(row, to, n * size);
                        } else {
                            (reduction.accumulate)(to, [row; 3], n);
                        }
                    }
                }
            }
        }
        for half in [8, 4, 2, 1] {
            for l in 0..half.min(count.saturating_sub(half)) {
                // SAFETY: both rows exist.
                unsafe { (reduction.accumulate)(lane(l), [lane(l + half).cast_const(); 3], n) }
            }
        }
    }

    /// Where the row of a point lies and how far it is to the next one, if what is reduced is a leaf
    /// whose rows are taken as they are.
    fn lying_rows(
        &self,
        frame: &Frame<'_>,
        reduction: &Reduction,
        point: &[usize],
    ) -> Option<(*const u8, isize)> {
        let place = frame.plan.slots[reduction.value as usize];
        match place {
            Place::Leaf(leaf) if self.kernel.is_none() && reduction.steps.is_empty() => {
                let walk = self.leaves[leaf].walk(point, point.len() - 1);
                Some((walk.ptr.cast_const(), walk.step))
            }
            _ => None,
        }
    }
}

/// Combines `count` rows, at least 1, of `n` elements into as many lanes as they need.
///
/// # Safety
/// The rows and lanes exist.
unsafe fn combine_lying(
    reduction: &Reduction,
    count: usize,
    n: usize,
    lane: impl Fn(usize) -> *mut u8,
    row: impl Fn(usize) -> *const u8,
) {
    for l in 0..REDUCE_LANES.min(count) {
        // SAFETY: the caller's.
        unsafe { std::ptr::copy_nonoverlapping(row(l), lane(l), n * reduction.size) }
    }
    let mut done = REDUCE_LANES;
    while done < count {
        for l in 0..REDUCE_LANES.min(count - done) {
            let [a, b, c] = [0, 1, 2].map(|k| done + k * REDUCE_LANES + l);
            // SAFETY: the caller's; rows beyond the last one are left out.
            unsafe {
                if c < count {
                    (reduction.accumulate_three)(lane(l), [row(a), row(b), row(c)], n);
                    continue;
                }
                for k in [a, b].into_iter().filter(|k| *k < count) {
                    (reduction.accumulate)(lane(l), [row(k); 3], n);
                }
            }
        }
        done += 3 * REDUCE_LANES;
    }
}
