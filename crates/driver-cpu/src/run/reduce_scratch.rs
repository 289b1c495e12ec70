//! The layout of the scratch rows of reductions, after the scratch memory of a plan.
//!
//! Owns [`ReduceScratch`]. First come the rows that machine code computes, each operand once, then the results
//! of each reduction. Invariant: rows that are in use at once do not overlap.
//!
//! Not here: the computation (`launch_items.rs`, `column_reduce.rs`, `lane_sums.rs`).

use crate::compile::row_plan::{ReducePlan, RowReduction};
use gpupy_jit::StridedPointer;
use smallvec::SmallVec;

/// Rows start at multiples of a cache line.
const LINE: usize = 64;

/// The sizes of the scratch rows of a launch.
#[derive(Clone, Copy)]
pub struct RowSizes {
    /// The most elements that machine code computes at once; 0 without machine code.
    pub computed: usize,
    /// The most results of a reduction that are collected in a row.
    pub results: usize,
}

impl RowSizes {
    fn of_results(self, reduction: &RowReduction) -> usize {
        (self.results * reduction.size).next_multiple_of(LINE)
    }

    /// Bytes of the rows that machine code computes. Code that adds to lanes may compute a value twice.
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
    /// Their addresses, as destinations of the code.
    pub walks: SmallVec<[StridedPointer; 2]>,
    /// The row of each reduction's operand; `None` where the operand is an input in place.
    pub of: SmallVec<[Option<usize>; 2]>,
}

/// The addresses of the scratch rows.
pub struct ReduceScratch {
    /// The results of each reduction.
    pub results: SmallVec<[*mut u8; 2]>,
    /// Rows for machine code that stores elements.
    pub stored: ComputedRows,
    /// Rows for machine code that adds to the lanes of sums where it can.
    pub added: ComputedRows,
}

impl ReduceScratch {
    /// Lays the rows out in memory of as many bytes as the sizes need.
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
            let here = StridedPointer { ptr: at, step: value.size as isize };
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

    /// The row of a reduction's operand, unless that is an input in place.
    pub fn row(&self, which: usize) -> Option<*mut u8> {
        Some(self.walks[self.of[which]?].ptr)
    }
}
