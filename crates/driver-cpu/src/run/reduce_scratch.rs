//! Rooms: where the rows of reductions lie, behind the scratch memory of a plan.
//!
//! Owns [`ReduceScratch`]. First come the rows that machine code computes, each value once, then the results of each
//! reduction. Invariant: no two rows overlap that are in use at once.
//!
//! Not here: what happens to the rows (`launch_items.rs`, `column_reduce.rs`, `lane_sums.rs`).

use crate::compile::row_plan::{ReducePlan, RowReduction};
use gpupy_jit::Walk;
use smallvec::SmallVec;

/// Rows are apart from each other by whole lines of a cache.
const LINE: usize = 64;

/// How large the rows of a launch are.
#[derive(Clone, Copy)]
pub struct RowSizes {
    /// The most elements that machine code computes at once; 0 where there is none.
    pub computed: usize,
    /// The most elements in which the results of a reduction are gathered.
    pub results: usize,
}

impl RowSizes {
    fn of_results(self, reduction: &RowReduction) -> usize {
        (self.results * reduction.size).next_multiple_of(LINE)
    }

    /// Bytes of the rows that machine code computes; where it adds to lanes, it may compute a value twice.
    fn of_computed(self, reducing: &ReducePlan) -> usize {
        let all = reducing.computed(true).into_iter();
        all.map(|value| (self.computed * value.size).next_multiple_of(LINE)).sum()
    }

    /// Bytes of all rows.
    pub fn bytes(self, reducing: &ReducePlan) -> usize {
        let results: usize = reducing.all.iter().map(|reduction| self.of_results(reduction)).sum();
        self.of_computed(reducing) + results
    }
}

/// The rows that machine code computes.
pub struct ComputedRows {
    /// Where they lie, as destinations of the code.
    pub walks: SmallVec<[Walk; 2]>,
    /// Of each reduction, the number of its row; `None` where its elements are a leaf's.
    pub of: SmallVec<[Option<usize>; 2]>,
}

/// Where the rows lie.
pub struct ReduceScratch {
    /// Of each reduction, its results.
    pub results: SmallVec<[*mut u8; 2]>,
    /// Of machine code that stores elements.
    pub stored: ComputedRows,
    /// Of machine code that adds what it can to the lanes of sums.
    pub added: ComputedRows,
}

impl ReduceScratch {
    /// ReduceScratch in this memory, which has as many bytes as the sizes say.
    pub fn new(reducing: &ReducePlan, sizes: RowSizes, base: *mut u8) -> ReduceScratch {
        let mut at = base.wrapping_add(sizes.of_computed(reducing));
        let results = reducing.all.iter().map(|reduction| {
            let here = at;
            at = at.wrapping_add(sizes.of_results(reduction));
            here
        });
        ReduceScratch {
            results: results.collect(),
            stored: ComputedRows::new(reducing, false, sizes, base),
            added: ComputedRows::new(reducing, true, sizes, base),
        }
    }
}

impl ComputedRows {
    fn new(reducing: &ReducePlan, lanes: bool, sizes: RowSizes, base: *mut u8) -> ComputedRows {
        let values = reducing.computed(lanes);
        let mut at = base;
        let walks = values.iter().map(|value| {
            let here = Walk { ptr: at, step: value.size as isize };
            at = at.wrapping_add((sizes.computed * value.size).next_multiple_of(LINE));
            here
        });
        let walks = walks.collect();
        let number = |reduction: &RowReduction| {
            let wanted = reduction.computed(lanes)?;
            values.iter().position(|value| *value == wanted)
        };
        ComputedRows { walks, of: reducing.all.iter().map(number).collect() }
    }

    /// The row of a reduction whose elements are not a leaf's.
    pub fn row(&self, which: usize) -> Option<*mut u8> {
        Some(self.walks[self.of[which]?].ptr)
    }
}
