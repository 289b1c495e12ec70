//! Column reduction: rows are combined element by element, so each row takes the part of one element of the
//! canonical tree.
//!
//! Rows that are inputs in place are combined by themselves. Others are computed one after another, or 16 at once
//! where they are short and follow each other, and those 16 apart are combined into one lane of the tree as they
//! come: each row goes into all reductions before the next is computed.
//!
//! Not here: reductions along rows (`launch_items.rs`), the loops over rows (`rows`).

use crate::compile::row_plan::{ReducePlan, RowReduction};
use crate::rows::SpacedRows;
use crate::run::launch_items::LaunchItems;
use crate::run::reduce_scratch::ReduceScratch;
use crate::run::row_frame::RowFrame;
use crate::traversal::crossing::CACHE_LINE;
use crate::traversal::iteration_space::{Point, StridedAccess};
use gpupy_core::ir::{REDUCE_CHUNK, REDUCE_LANES};

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
        let all = || reducing.all.iter().zip(&buffers.results);
        let lying = |reduction| self.lying_rows(reducing, reduction, &input_point);
        let are_lying = all().all(|(reduction, _)| lying(reduction).is_some());
        let at_once = self.rows_at_once(are_lying, n);
        if are_lying && at_once == 1 {
            for (reduction, to) in all() {
                let Some((first, step)) = lying(reduction) else { continue };
                // SAFETY: rows up to `count` are in the input space, and scratch memory has room for one.
                unsafe { (reduction.columns)(*to, SpacedRows { first, step, count }, n) }
            }
            return;
        }
        for k in (0..count).step_by(at_once) {
            input_point[last] = from + k;
            let elements = at_once.min(count - k) * n;
            // SAFETY: the rows are in the input space, and scratch memory has room for 16 lanes, or for `count`.
            unsafe {
                let along = self.rows.axis;
                self.compute_operands(frame, (reducing, buffers), &input_point, along, elements);
                for (which, (reduction, first)) in all().enumerate() {
                    let row = self.value(frame, (reducing, buffers), which);
                    let lane = first.wrapping_add(k % REDUCE_LANES * n * reduction.size);
                    match k < REDUCE_LANES {
                        true => std::ptr::copy_nonoverlapping(row, lane, elements * reduction.size),
                        false => (reduction.accumulate)(lane, [row; 3], elements),
                    }
                }
            }
        }
        for (reduction, first) in all() {
            let step = (n * reduction.size) as isize;
            let count = count.min(REDUCE_LANES);
            // SAFETY: as many lanes hold rows of `n` elements, and the first takes the result.
            unsafe { (reduction.columns)(*first, SpacedRows { first: *first, step, count }, n) }
        }
    }

    /// How many rows of `n` elements are taken at a time: those of all lanes where they are short and follow each other
    /// in memory, as one row; else one.
    fn rows_at_once(&self, are_lying: bool, n: usize) -> usize {
        let last = self.shape.len() - 1;
        let follows = |line: &StridedAccess<'_>| {
            let strides = &line.access.strides;
            strides[last] == strides[self.rows.axis] * n as i64
        };
        // Of longer rows in place than two lines of the cache, columns are combined by themselves.
        let size = |input: &StridedAccess<'_>| input.size;
        let widest = self.inputs[..self.before].iter().map(size).max().unwrap_or(1);
        let most = if are_lying { 2 * CACHE_LINE / widest } else { self.tile() / REDUCE_LANES };
        match n <= most && self.inputs[..self.before].iter().all(follows) {
            true => REDUCE_LANES,
            false => 1,
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
