//! Searches: reductions to the place of an element in each row.
//!
//! Not here: which reductions are searches (`compile/search_plan.rs`), all others (`launch_items.rs`).

use crate::compile::search_plan::RowSearch;
use crate::run::launch_items::LaunchItems;
use crate::traversal::iteration_space::Point;
use gpupy_core::ir::REDUCE_CHUNK;

impl LaunchItems<'_> {
    /// Whether the least number of a row is that of the first element that is found: numbers count the row, and none is
    /// beyond the one that stands for all other elements.
    pub fn is_sound(&self, search: &RowSearch) -> bool {
        let numbers = self.inputs[search.numbers].access;
        let Some((step, outer)) = numbers.strides.split_last() else { return false };
        let last = numbers.offset + self.shape[outer.len()] as i64 - 1;
        let is_counted = *step == 1 && numbers.offset >= 0 && last <= i64::from(i32::MAX);
        is_counted && outer.iter().all(|step| *step == 0) && last <= i64::from(self.other(search))
    }

    /// What stands for elements that are not found.
    fn other(&self, search: &RowSearch) -> i32 {
        self.params[search.other] as i32
    }

    /// Writes the number of the first found element of each of `n` chunks of rows.
    ///
    /// # Safety
    /// The point and the `n - 1` points after it are in the output space, and there is room for their results.
    pub unsafe fn search(&self, search: &RowSearch, to: *mut i32, point: &Point, n: usize) {
        let last = self.shape.len() - 1;
        let mut first = point.clone();
        first[last] *= REDUCE_CHUNK;
        // From a result's elements to those of the next, along a row of several chunks or from row to row.
        let (axis, elements) =
            if self.rows.axis == last { (last, REDUCE_CHUNK) } else { (self.rows.axis, 1) };
        let walks = [search.of, search.wanted].map(|input| {
            let walk = self.inputs[input].walk(&first, axis);
            (walk.ptr.cast_const(), walk.step * elements as isize)
        });
        let numbers = self.inputs[search.numbers].access.offset as usize;
        for k in 0..n {
            let from = if axis == last { first[last] + k * REDUCE_CHUNK } else { first[last] };
            let count = REDUCE_CHUNK.min(self.shape[last] - from);
            let [row, wanted] = walks.map(|(ptr, step)| ptr.wrapping_offset(step * k as isize));
            // SAFETY: the row and the wanted element exist, as the contract guarantees, and `to` has room for `n`
            // results.
            unsafe {
                let to = to.add(k);
                (search.first_equal)(to.cast(), [row, wanted, row], count);
                let place = to.read() as usize;
                let number = (numbers + from + place) as i32;
                to.write(if place < count { number } else { self.other(search) });
            }
        }
    }
}
