//! Work: what happens to each item of a launch.
//!
//! Owns [`LaunchItems`]. Of a map, an item is a row. Of a reduction it is a row of results: rows of the
//! input space become it either along the reduced axis, chunk by chunk (`lane_sums.rs`, where they are long), or
//! across it (`column_reduce.rs`). Both ways give the same bits.
//!
//! Not here: which way is taken (`axis_choice.rs`), which items a thread takes (`compacted_loop.rs`).

use crate::compile::row_plan::{ReducePlan, RowPlan, RowReduction};
use crate::rows;
use crate::run::reduce_scratch::{ReduceScratch, RowSizes};
use crate::run::row_frame::{RowFrame, ThreadScratch};
use crate::traversal::axis_choice::{ReduceOrder, follow};
use crate::traversal::coalesce::{ExpandedRow, ShortRowCopy};
use crate::traversal::iteration_space::{IterationSpace, Point, StridedAccess};
use gpupy_core::ir::{REDUCE_CHUNK, REDUCE_LANES};
use gpupy_core::{DType, Result};
use gpupy_jit::{Kernel, Row, Walk};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::ops::Range;

thread_local! {
    static SCRATCH: RefCell<ThreadScratch> = RefCell::default();
}

/// Results of a reduction in one item, where its axis goes on in the results.
const BATCH: usize = 64;
/// Bytes of the rows that are combined across.
const ACROSS: usize = 64 << 10;
/// Picoseconds for a byte of memory, roughly.
const PER_BYTE: u64 = 25;
/// Elements of a row for machine code, which needs no scratch rows.
pub const COMPILED: usize = 8192;
/// The most elements of a row in which elements lie apart: what lies beside them is still in the
/// cache when the next rows want it.
pub const APART: usize = 512;
/// The least that machine code computes of a row for a reduction, which reads it in the nearest cache.
const COMPUTED: usize = 1024;

/// The items of one launch.
pub struct LaunchItems<'a> {
    pub plan: &'a RowPlan,
    /// Machine code for a map, or for what comes before a reduction, in place of its steps.
    pub kernel: Option<&'a Kernel>,
    /// Machine code for sums along rows of several chunks, which adds to the lanes of the tree.
    pub lanes: Option<&'a Kernel>,
    /// Of the input space, after folding.
    pub shape: &'a [usize],
    /// Of a reduction.
    pub reduce_order: Option<ReduceOrder>,
    /// How many leaves belong to the input space of a reduction.
    pub before: usize,
    /// The space of the results.
    pub rows: IterationSpace,
    pub leaves: &'a [StridedAccess<'a>],
    /// ProgramInputs of a map that are spread over scratch rows.
    pub expanded: &'a [ShortRowCopy<'a>],
    /// Destinations of a map that are parted from scratch rows.
    pub scattered: &'a [ShortRowCopy<'a>],
    pub dests: &'a [StridedAccess<'a>],
    pub operands: &'a [(*mut u8, usize)],
    pub params: &'a [u64],
}

// SAFETY: items write different elements, and what they read nobody writes; the core leaves all of
// it alone until the evaluation returns.
unsafe impl Sync for LaunchItems<'_> {}

/// The most points of an item along an axis of the space of the results.
pub fn longest(
    plan: &RowPlan,
    compiled: bool,
    reduce_order: Option<ReduceOrder>,
    axis: usize,
    shape: &[usize],
) -> usize {
    match (reduce_order, &plan.reducing) {
        (Some(ReduceOrder::Columns(_)), Some(reducing)) => {
            let sizes: usize = reducing.all.iter().map(|reduction| reduction.size).sum();
            plan.tile.min(ACROSS / (lanes_of(shape) * sizes)).max(1)
        }
        (Some(ReduceOrder::Rows), _) if axis + 1 == shape.len() => BATCH,
        // What comes after a reduction has scratch rows.
        (None, _) if compiled => COMPILED,
        _ => plan.tile,
    }
}

/// Lends this thread's memory for rows.
pub fn with_scratch<T>(run: impl FnOnce(&mut ThreadScratch) -> T) -> T {
    SCRATCH.with_borrow_mut(run)
}

impl LaunchItems<'_> {
    /// Runs some items.
    ///
    /// # Errors
    /// - `OutOfMemory`: there is no scratch memory for them.
    pub fn run(&self, items: Range<usize>) -> Result<()> {
        if let (Some(kernel), None) = (self.kernel, &self.plan.reducing) {
            return SCRATCH.with_borrow_mut(|scratch| {
                let beyond = scratch.bytes(self.copied_bytes())?;
                self.run_compiled(kernel, items, beyond);
                Ok(())
            });
        }
        SCRATCH.with_borrow_mut(|scratch| {
            let reducing = self.plan.reducing.as_ref();
            let beyond = match reducing {
                Some(reducing) => self.sizes().bytes(reducing),
                None => self.copied_bytes(),
            };
            let walks = (self.leaves.len(), self.dests.len());
            let mut frame =
                RowFrame::new(self.plan, scratch, walks, self.operands, self.params, beyond)?;
            let base = frame.beyond;
            let reducing = reducing.map(|all| (all, ReduceScratch::new(all, self.sizes(), base)));
            let mut point = Point::new();
            let mut filled: SmallVec<[ExpandedRow; 4]> =
                SmallVec::from_elem(None, self.expanded.len());
            for item in items {
                let n = self.rows.item(item, &mut point);
                // SAFETY: the core promises that accesses name elements that exist, and `IterationSpace` that
                // the item's points do; their strides are those of the plan.
                unsafe {
                    let mut reduced: &[*mut u8] = &[];
                    if let Some((reducing, buffers)) = &reducing {
                        match self.reduce_order {
                            Some(ReduceOrder::Columns(_)) => {
                                self.column_reduce(&mut frame, (reducing, buffers), &point, n);
                            }
                            _ => self.row_reduce(&mut frame, (reducing, buffers), &point, n),
                        }
                        reduced = &buffers.results;
                    }
                    self.results(&mut frame, reduced, &point, n, &mut filled);
                }
            }
            Ok(())
        })
    }

    /// Picoseconds for a point, roughly.
    pub fn cost(&self) -> u64 {
        cost(self.plan, self.kernel.is_some())
    }

    /// Runs some items of a map by machine code.
    fn run_compiled(&self, kernel: &Kernel, items: Range<usize>, beyond: *mut u8) {
        let nowhere = Walk { ptr: std::ptr::null_mut(), step: 0 };
        let mut leaves: SmallVec<[Walk; 8]> = SmallVec::from_elem(nowhere, self.leaves.len());
        let mut dests: SmallVec<[Walk; 4]> = SmallVec::from_elem(nowhere, self.dests.len());
        let mut point = Point::new();
        let mut filled: SmallVec<[ExpandedRow; 4]> = SmallVec::from_elem(None, self.expanded.len());
        for item in items {
            let n = self.rows.item(item, &mut point);
            walk(&mut leaves, self.leaves, &point, self.rows.axis);
            walk(&mut dests, self.dests, &point, self.rows.axis);
            // SAFETY: the item's points exist; the caller has room for the rows.
            unsafe { self.expand_leaves(&mut leaves, &point, n, beyond, &mut filled) };
            self.compute_aside(&mut dests, beyond);
            let row = Row {
                n,
                accesses: leaves.as_ptr(),
                dests: dests.as_ptr(),
                params: self.params.as_ptr(),
            };
            // SAFETY: the core promises that accesses name elements that exist, and `IterationSpace` that the
            // item's points do; their strides are those that the code was written for.
            unsafe {
                kernel.run(&row);
                self.scatter(&point, n, beyond);
            }
        }
    }

    /// Computes a row of results: of a map, or what comes after the reduction.
    ///
    /// # Safety
    /// The point and the `n - 1` after it are of the space; the reductions' results are there.
    unsafe fn results(
        &self,
        frame: &mut RowFrame<'_>,
        reduced: &[*mut u8],
        point: &[usize],
        n: usize,
        filled: &mut [ExpandedRow],
    ) {
        let axis = self.rows.axis;
        walk(&mut frame.leaves[self.before..], &self.leaves[self.before..], point, axis);
        walk(frame.dests, self.dests, point, axis);
        let beyond = frame.beyond;
        // SAFETY: the caller's; there is room for the rows.
        unsafe { self.expand_leaves(frame.leaves, point, n, beyond, filled) };
        self.compute_aside(frame.dests, beyond);
        frame.moved(reduced);
        // SAFETY: the caller's.
        unsafe {
            frame.run(&self.plan.steps, n);
            self.scatter(point, n, beyond);
        }
    }

    /// Bytes of all rows over which leaves are spread, or from which destinations are parted.
    fn copied_bytes(&self) -> usize {
        (self.expanded.len() + self.scattered.len()) * self.expanded_bytes()
    }

    /// The row, behind those of leaves that are spread, from which a destination is parted.
    fn scattered_row(&self, k: usize, rows: *mut u8) -> *mut u8 {
        rows.wrapping_add((self.expanded.len() + k) * self.expanded_bytes())
    }

    /// Takes the walks of destinations that are parted to their scratch rows.
    fn compute_aside(&self, dests: &mut [Walk], rows: *mut u8) {
        for (k, scattered) in self.scattered.iter().enumerate() {
            let step = scattered.line.size as isize;
            dests[scattered.which] = Walk { ptr: self.scattered_row(k, rows), step };
        }
    }

    /// Parts the results of a row to where they belong.
    ///
    /// # Safety
    /// The point and the `n - 1` after it exist, and the scratch rows hold their results.
    unsafe fn scatter(&self, point: &[usize], n: usize, rows: *mut u8) {
        for (k, scattered) in self.scattered.iter().enumerate() {
            // SAFETY: the caller's.
            unsafe { scattered.scatter(self.scattered_row(k, rows), point, n) }
        }
    }

    /// Bytes of a row over which a leaf is spread.
    fn expanded_bytes(&self) -> usize {
        self.rows.tile * DType::C128.size()
    }

    /// Spreads leaves over scratch rows, and takes their walks there.
    ///
    /// # Safety
    /// The point and the `n - 1` after it exist; there is room for the rows.
    unsafe fn expand_leaves(
        &self,
        leaves: &mut [Walk],
        point: &[usize],
        n: usize,
        rows: *mut u8,
        filled: &mut [ExpandedRow],
    ) {
        for ((k, expanded), filled) in self.expanded.iter().enumerate().zip(filled) {
            let row = rows.wrapping_add(k * self.expanded_bytes());
            // SAFETY: the caller's.
            leaves[expanded.which] = unsafe { expanded.expand(row, point, n, filled) };
        }
    }

    /// How large the rows of reductions are.
    fn sizes(&self) -> RowSizes {
        let is_compiled = self.kernel.is_some() || self.lanes.is_some();
        let lanes = match self.reduce_order {
            Some(ReduceOrder::Columns(_)) => lanes_of(self.shape),
            _ => 1,
        };
        RowSizes {
            computed: if is_compiled { self.tile() } else { 0 },
            results: lanes * self.rows.tile,
        }
    }

    /// The most elements of a row that is computed at once for a reduction.
    pub fn tile(&self) -> usize {
        if self.kernel.is_some() { self.plan.tile.max(COMPUTED) } else { self.plan.tile }
    }

    /// Runs the steps before the reductions on a row of the input space.
    ///
    /// # Safety
    /// The point and the `n - 1` after it along the axis are of the input space.
    pub unsafe fn input(
        &self,
        frame: &mut RowFrame<'_>,
        (reducing, buffers): (&ReducePlan, &ReduceScratch),
        point: &[usize],
        axis: usize,
        n: usize,
    ) {
        walk(&mut frame.leaves[..self.before], &self.leaves[..self.before], point, axis);
        if let Some(kernel) = self.kernel {
            let row = Row {
                n,
                accesses: frame.leaves.as_ptr(),
                dests: buffers.stored.walks.as_ptr(),
                params: self.params.as_ptr(),
            };
            // SAFETY: the caller's; the rows beyond the plan's hold a tile.
            return unsafe { kernel.run(&row) };
        }
        frame.moved(&buffers.results);
        // SAFETY: the caller's.
        unsafe { frame.run(&reducing.steps, n) }
    }

    /// The row of what a reduction combines, after the steps before.
    pub fn value(
        &self,
        frame: &RowFrame<'_>,
        (reducing, buffers): (&ReducePlan, &ReduceScratch),
        which: usize,
    ) -> *const u8 {
        let RowReduction { leaf, value, .. } = reducing.all[which];
        match (leaf, self.kernel.and_then(|_| buffers.stored.row(which))) {
            (Some(leaf), _) => frame.leaves[leaf].ptr,
            (None, Some(row)) => row,
            (None, None) => frame.slot(value),
        }
    }

    /// Reduces along the axis into the rows of results.
    ///
    /// # Safety
    /// The point and the `n - 1` after it are of the space of the results.
    unsafe fn row_reduce(
        &self,
        frame: &mut RowFrame<'_>,
        (reducing, buffers): (&ReducePlan, &ReduceScratch),
        point: &Point,
        n: usize,
    ) {
        let last = self.shape.len() - 1;
        let extent = self.shape[last];
        let mut input = point.clone();
        if self.rows.axis == last {
            let start = point[last] * REDUCE_CHUNK;
            let (mut from, until) = (start, extent.min(start + n * REDUCE_CHUNK));
            if let Some(kernel) = self.lanes {
                let chunks = (until - from) / REDUCE_CHUNK;
                input[last] = from;
                // SAFETY: the chunks are of the space; there is room for a result of each.
                unsafe { self.add_up(frame, (reducing, buffers), kernel, &input, chunks) };
                from += chunks * REDUCE_CHUNK;
            }
            for piece in (from..until).step_by(self.tile()) {
                let m = self.tile().min(until - piece);
                input[last] = piece;
                let done = (piece - start) / REDUCE_CHUNK;
                // SAFETY: pieces of rows are of the space; there is room for a result of each chunk.
                unsafe {
                    self.input(frame, (reducing, buffers), &input, last, m);
                    for (which, reduction) in reducing.all.iter().enumerate() {
                        let row = self.value(frame, (reducing, buffers), which);
                        let out = buffers.results[which].add(done * reduction.size);
                        (reduction.lanes)(out, [row; 3], m);
                    }
                }
            }
            return;
        }
        // Every row is one chunk; rows that follow each other everywhere are one long row.
        let together = if self.follow(extent) { (self.tile() / extent).max(1) } else { 1 };
        for first in (0..n).step_by(together) {
            let m = together.min(n - first);
            input[self.rows.axis] = point[self.rows.axis] + first;
            // SAFETY: rows are of the space; there is room for a result of each.
            unsafe {
                self.input(frame, (reducing, buffers), &input, last, m * extent);
                for (which, reduction) in reducing.all.iter().enumerate() {
                    let row = self.value(frame, (reducing, buffers), which);
                    let out = buffers.results[which].add(first * reduction.size);
                    reduce_rows(reduction, (out, row), m, extent, together > 1);
                }
            }
        }
    }

    /// Whether all leaves of the input space go on from the end of a row to the next.
    fn follow(&self, extent: usize) -> bool {
        let (axis, last) = (self.rows.axis, self.shape.len() - 1);
        follow(self.leaves[..self.before].iter(), axis, last, extent)
    }
}

/// Picoseconds for a point of a plan, roughly: machine code computes faster, and memory stays as it is.
pub fn cost(plan: &RowPlan, compiled: bool) -> u64 {
    PER_BYTE * plan.bytes + if compiled { plan.cost / 3 } else { plan.cost }
}

/// Reduces `m` rows of `extent` elements that follow each other to one result each; where there are often several,
/// by a loop for rows that short, if there is one.
///
/// # Safety
/// The rows exist, and room for the results.
unsafe fn reduce_rows(
    reduction: &RowReduction,
    (out, row): (*mut u8, *const u8),
    m: usize,
    extent: usize,
    several: bool,
) {
    let size = reduction.size;
    let short = rows::short_rows(reduction.op, reduction.dtype, extent).filter(|_| several);
    // SAFETY: the caller's.
    unsafe {
        if let Some(short) = short {
            return short(out, [row; 3], m);
        }
        for k in 0..m {
            (reduction.lanes)(out.add(k * size), [row.add(k * extent * size); 3], extent);
        }
    }
}

/// The lanes of the tree that there are along the last axis of a shape.
fn lanes_of(shape: &[usize]) -> usize {
    REDUCE_LANES.min(shape[shape.len() - 1])
}

/// Takes walks to a point.
pub fn walk(walks: &mut [Walk], lines: &[StridedAccess<'_>], point: &[usize], axis: usize) {
    for (walk, line) in walks.iter_mut().zip(lines) {
        *walk = line.walk(point, axis);
    }
}
