//! Column reduction: rows are combined element by element, so each row takes the part of one element of the
//! canonical tree.
//!
//! Owns [`LaneRows`]. Input rows that are combined into the same lane of the tree are 16 apart. Rows that are
//! inputs in place are taken three at a time, so that a lane's row is read and written less often. Each row
//! goes into all reductions before the next rows are read.
//!
//! Not here: reductions along rows (`launch_items.rs`), the loops over rows (`rows`).

use crate::compile::row_plan::{ReducePlan, RowReduction};
use crate::run::launch_items::LaunchItems;
use crate::run::reduce_scratch::ReduceScratch;
use crate::run::row_frame::RowFrame;
use crate::traversal::iteration_space::Point;
use gpupy_core::ir::{REDUCE_CHUNK, REDUCE_LANES};
use smallvec::SmallVec;

/// The lanes of a reduction, each a row of elements.
struct LaneRows<'a> {
    reduction: &'a RowReduction,
    first: *mut u8,
    /// Elements of a row.
    n: usize,
    /// The first row of its operand and the distance to the next in bytes, where the operand is an input in
    /// place.
    lying: Option<(*const u8, isize)>,
}

impl LaneRows<'_> {
    fn lane(&self, l: usize) -> *mut u8 {
        self.first.wrapping_add(l * self.n * self.reduction.size)
    }

    /// Combines a row into its lane; the first row of a lane is copied.
    ///
    /// # Safety
    /// `row` has `n` elements, and the lanes have their memory.
    unsafe fn take(&self, k: usize, row: *const u8) {
        let to = self.lane(k % REDUCE_LANES);
        // SAFETY: `row` has `n` elements, and the lane is a row of `n` elements that does not overlap it.
        unsafe {
            if k < REDUCE_LANES {
                std::ptr::copy_nonoverlapping(row, to, self.n * self.reduction.size);
            } else {
                (self.reduction.accumulate)(to, [row; 3], self.n);
            }
        }
    }

    /// Combines up to three rows, 16 apart from `k` on and below `count`, into their lane.
    ///
    /// # Safety
    /// Rows below `count` and the lane exist; `k` is not the first row of a lane.
    unsafe fn take_three(&self, k: usize, count: usize) {
        let Some((first, step)) = self.lying else { return };
        let row = |k: usize| first.wrapping_offset(step * k as isize);
        let [a, b, c] = [k, k + REDUCE_LANES, k + 2 * REDUCE_LANES];
        // SAFETY: rows below `count` exist, and no other row is named.
        unsafe {
            if c < count {
                let rows = [row(a), row(b), row(c)];
                return (self.reduction.accumulate_three)(
                    self.lane(k % REDUCE_LANES),
                    rows,
                    self.n,
                );
            }
            for k in [a, b].into_iter().filter(|k| *k < count) {
                self.take(k, row(k));
            }
        }
    }

    /// Combines the lanes of `count` rows into the first lane.
    ///
    /// # Safety
    /// As many lanes hold rows as `count` rows fill.
    unsafe fn fold(&self, count: usize) {
        for half in [8, 4, 2, 1] {
            for l in 0..half.min(count.saturating_sub(half)) {
                let other = self.lane(l + half).cast_const();
                // SAFETY: only lanes below `count` are named, and these hold rows.
                unsafe { (self.reduction.accumulate)(self.lane(l), [other; 3], self.n) }
            }
        }
    }
}

impl LaunchItems<'_> {
    /// Reduces columns into the rows of results.
    ///
    /// # Safety
    /// The point and the `n - 1` points after it are in the output space.
    pub unsafe fn column_reduce(
        &self,
        frame: &mut RowFrame<'_>,
        (reducing, buffers): (&ReducePlan, &ReduceScratch),
        point: &Point,
        n: usize,
    ) {
        let last = self.shape.len() - 1;
        let from = point[last] * REDUCE_CHUNK;
        let count = REDUCE_CHUNK.min(self.shape[last] - from);
        let mut input_point = point.clone();
        input_point[last] = from;
        let all: SmallVec<[LaneRows<'_>; 2]> = reducing
            .all
            .iter()
            .zip(&buffers.results)
            .map(|(reduction, first)| {
                let lying = self.lying_rows(reducing, reduction, &input_point);
                LaneRows { reduction, first: *first, n, lying }
            })
            .collect();
        // SAFETY: rows up to `count` are in the input space; scratch memory has room for 16 lanes, or for `count`.
        unsafe {
            if all.iter().all(|lanes| lanes.lying.is_some()) {
                combine_lying(&all, count);
            } else {
                for k in 0..count {
                    input_point[last] = from + k;
                    self.compute_operands(
                        frame,
                        (reducing, buffers),
                        &input_point,
                        self.rows.axis,
                        n,
                    );
                    for (which, lanes) in all.iter().enumerate() {
                        lanes.take(k, self.value(frame, (reducing, buffers), which));
                    }
                }
            }
            all.iter().for_each(|lanes| lanes.fold(count));
        }
    }

    /// The row of a point and the distance to the next one, if the operand is an input in place.
    fn lying_rows(
        &self,
        reducing: &ReducePlan,
        reduction: &RowReduction,
        point: &[usize],
    ) -> Option<(*const u8, isize)> {
        let input =
            reduction.input.filter(|_| self.kernel.is_none() && reducing.steps.is_empty())?;
        let walk = self.inputs[input].walk(point, point.len() - 1);
        Some((walk.ptr.cast_const(), walk.step))
    }
}

/// Combines `count` rows, at least 1, into the lanes of each reduction.
///
/// # Safety
/// The rows and lanes exist.
unsafe fn combine_lying(all: &[LaneRows<'_>], count: usize) {
    for l in 0..REDUCE_LANES.min(count) {
        for lanes in all {
            let Some((first, step)) = lanes.lying else { continue };
            // SAFETY: `l` is below `count`, so the row exists.
            unsafe { lanes.take(l, first.wrapping_offset(step * l as isize)) }
        }
    }
    for done in (REDUCE_LANES..count).step_by(3 * REDUCE_LANES) {
        for k in done..count.min(done + REDUCE_LANES) {
            for lanes in all {
                // SAFETY: `take_three` leaves out rows from `count` on, and the others exist.
                unsafe { lanes.take_three(k, count) }
            }
        }
    }
}
