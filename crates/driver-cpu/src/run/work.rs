//! Work: what happens to each item of a launch.
//!
//! Owns [`Work`]. Of a map, an item is a row. Of a reduction it is a row of results: rows of the
//! input space become it either along the reduced axis, chunk by chunk (`sums.rs`, where they are long), or
//! across it (`across.rs`). Both ways give the same bits.
//!
//! Not here: which way is taken (`axis.rs`), which items a thread takes (`turns.rs`).

use crate::compile::plan::{Plan, Reduction};
use crate::rows::{self, RowFn};
use crate::run::frame::{Frame, Scratch};
use crate::traversal::axis::{Way, follow};
use crate::traversal::fold::{Filled, Spread};
use crate::traversal::space::{Line, Point, Rows};
use gpupy_core::ir::{REDUCE_CHUNK, REDUCE_LANES};
use gpupy_core::{DType, Result};
use gpupy_jit::{Kernel, Row, Walk};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::ops::Range;

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Results of a reduction in one item, where its axis goes on in the results.
const BATCH: usize = 64;
/// Bytes of the rows that are combined across.
const ACROSS: usize = 64 << 10;
/// Picoseconds for a byte of memory, roughly.
const PER_BYTE: u64 = 25;
/// Elements of a row for machine code, which needs no scratch rows.
pub const COMPILED: usize = 8192;
/// The least that machine code computes of a row for a reduction, which reads it in the nearest cache.
const COMPUTED: usize = 1024;

/// The items of one launch.
pub struct Work<'a> {
    pub plan: &'a Plan,
    /// Machine code for a map, or for what comes before a reduction, in place of its steps.
    pub kernel: Option<&'a Kernel>,
    /// Machine code for a sum along rows of several chunks, which adds to the lanes of the tree.
    pub lanes: Option<&'a Kernel>,
    /// Of the input space, after folding.
    pub shape: &'a [usize],
    /// Of a reduction.
    pub way: Option<Way>,
    /// How many leaves belong to the input space of a reduction.
    pub before: usize,
    /// The space of the results.
    pub rows: Rows,
    pub leaves: &'a [Line<'a>],
    /// Leaves of a map that are spread over scratch rows.
    pub spread: &'a [Spread<'a>],
    /// Destinations of a map that are parted from scratch rows.
    pub parted: &'a [Spread<'a>],
    pub dests: &'a [Line<'a>],
    pub operands: &'a [(*mut u8, usize)],
    pub params: &'a [u64],
}

// SAFETY: items write different elements, and what they read nobody writes; the core leaves all of
// it alone until the evaluation returns.
unsafe impl Sync for Work<'_> {}

/// The most points of an item along an axis of the space of the results.
pub fn longest(
    plan: &Plan,
    compiled: bool,
    way: Option<Way>,
    axis: usize,
    shape: &[usize],
) -> usize {
    match (way, &plan.reduction) {
        (Some(Way::Across(_)), Some(reduction)) => {
            let rows = REDUCE_LANES.min(shape[shape.len() - 1]);
            plan.tile.min(ACROSS / (rows * reduction.size))
        }
        (Some(Way::Along), _) if axis + 1 == shape.len() => BATCH,
        // What comes after a reduction has scratch rows.
        (None, _) if compiled => COMPILED,
        _ => plan.tile,
    }
}

/// Lends this thread's memory for rows.
pub fn with_scratch<T>(run: impl FnOnce(&mut Scratch) -> T) -> T {
    SCRATCH.with_borrow_mut(run)
}

impl Work<'_> {
    /// Runs some items.
    ///
    /// # Errors
    /// - `OutOfMemory`: there is no scratch memory for them.
    pub fn run(&self, items: Range<usize>) -> Result<()> {
        if let (Some(kernel), None) = (self.kernel, &self.plan.reduction) {
            return SCRATCH.with_borrow_mut(|scratch| {
                let beyond = scratch.bytes(self.copied_bytes())?;
                self.run_compiled(kernel, items, beyond);
                Ok(())
            });
        }
        SCRATCH.with_borrow_mut(|scratch| {
            let beyond = match (self.way, &self.plan.reduction) {
                (Some(Way::Across(_)), Some(_)) => ACROSS,
                (_, Some(reduction)) => self.rows.tile * reduction.size,
                _ => self.copied_bytes(),
            };
            let beyond = self.computed_bytes() + beyond;
            let walks = (self.leaves.len(), self.dests.len());
            let mut frame =
                Frame::new(self.plan, scratch, walks, self.operands, self.params, beyond)?;
            let mut point = Point::new();
            let mut filled: SmallVec<[Filled; 4]> = SmallVec::from_elem(None, self.spread.len());
            for item in items {
                let n = self.rows.item(item, &mut point);
                // SAFETY: the core promises that accesses name elements that exist, and `Rows` that
                // the item's points do; their strides are those of the plan.
                unsafe {
                    if let Some(reduction) = &self.plan.reduction {
                        match self.way {
                            Some(Way::Across(_)) => {
                                self.across(&mut frame, reduction, &point, n);
                            }
                            _ => self.along(&mut frame, reduction, &point, n),
                        }
                    }
                    self.results(&mut frame, &point, n, &mut filled);
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
        let mut filled: SmallVec<[Filled; 4]> = SmallVec::from_elem(None, self.spread.len());
        for item in items {
            let n = self.rows.item(item, &mut point);
            walk(&mut leaves, self.leaves, &point, self.rows.axis);
            walk(&mut dests, self.dests, &point, self.rows.axis);
            // SAFETY: the item's points exist; the caller has room for the rows.
            unsafe { self.spread_leaves(&mut leaves, &point, n, beyond, &mut filled) };
            self.compute_aside(&mut dests, beyond);
            let row = Row {
                n,
                accesses: leaves.as_ptr(),
                dests: dests.as_ptr(),
                params: self.params.as_ptr(),
            };
            // SAFETY: the core promises that accesses name elements that exist, and `Rows` that the
            // item's points do; their strides are those that the code was written for.
            unsafe {
                kernel.run(&row);
                self.part(&point, n, beyond);
            }
        }
    }

    /// Computes a row of results: of a map, or what comes after the reduction.
    ///
    /// # Safety
    /// The point and the `n - 1` after it are of the space; the reduction's results are there.
    unsafe fn results(
        &self,
        frame: &mut Frame<'_>,
        point: &[usize],
        n: usize,
        filled: &mut [Filled],
    ) {
        let axis = self.rows.axis;
        walk(&mut frame.leaves[self.before..], &self.leaves[self.before..], point, axis);
        walk(frame.dests, self.dests, point, axis);
        let beyond = frame.beyond;
        // SAFETY: the caller's; there is room for the rows.
        unsafe { self.spread_leaves(frame.leaves, point, n, beyond, filled) };
        self.compute_aside(frame.dests, beyond);
        frame.moved(self.reduced(frame));
        // SAFETY: the caller's.
        unsafe {
            frame.run(&self.plan.steps, n);
            self.part(point, n, beyond);
        }
    }

    /// Bytes of all rows over which leaves are spread, or from which destinations are parted.
    fn copied_bytes(&self) -> usize {
        (self.spread.len() + self.parted.len()) * self.spread_bytes()
    }

    /// The row, behind those of leaves that are spread, from which a destination is parted.
    fn parted_row(&self, k: usize, rows: *mut u8) -> *mut u8 {
        rows.wrapping_add((self.spread.len() + k) * self.spread_bytes())
    }

    /// Takes the walks of destinations that are parted to their scratch rows.
    fn compute_aside(&self, dests: &mut [Walk], rows: *mut u8) {
        for (k, parted) in self.parted.iter().enumerate() {
            let step = parted.line.size as isize;
            dests[parted.which] = Walk { ptr: self.parted_row(k, rows), step };
        }
    }

    /// Parts the results of a row to where they belong.
    ///
    /// # Safety
    /// The point and the `n - 1` after it exist, and the scratch rows hold their results.
    unsafe fn part(&self, point: &[usize], n: usize, rows: *mut u8) {
        for (k, parted) in self.parted.iter().enumerate() {
            // SAFETY: the caller's.
            unsafe { parted.part(self.parted_row(k, rows), point, n) }
        }
    }

    /// Bytes of a row over which a leaf is spread.
    fn spread_bytes(&self) -> usize {
        self.rows.tile * DType::C128.size()
    }

    /// Spreads leaves over scratch rows, and takes their walks there.
    ///
    /// # Safety
    /// The point and the `n - 1` after it exist; there is room for the rows.
    unsafe fn spread_leaves(
        &self,
        leaves: &mut [Walk],
        point: &[usize],
        n: usize,
        rows: *mut u8,
        filled: &mut [Filled],
    ) {
        for ((k, spread), filled) in self.spread.iter().enumerate().zip(filled) {
            let row = rows.wrapping_add(k * self.spread_bytes());
            // SAFETY: the caller's.
            leaves[spread.which] = unsafe { spread.fill(row, point, n, filled) };
        }
    }

    /// Bytes of the row that machine code computes for a reduction, beyond the plan's scratch rows.
    fn computed_bytes(&self) -> usize {
        let reduction = self.plan.reduction.as_ref();
        reduction.map_or(0, |reduction| self.tile() * reduction.size)
    }

    /// The most elements of a row that is computed at once for a reduction.
    pub fn tile(&self) -> usize {
        if self.kernel.is_some() { self.plan.tile.max(COMPUTED) } else { self.plan.tile }
    }

    /// Where the results of a reduction are gathered: behind that row.
    pub fn reduced(&self, frame: &Frame<'_>) -> *mut u8 {
        frame.beyond.wrapping_add(self.computed_bytes())
    }

    /// Runs the steps before a reduction on a row of the input space, and gives the value's row.
    ///
    /// # Safety
    /// The point and the `n - 1` after it along the axis are of the input space.
    pub unsafe fn input(
        &self,
        frame: &mut Frame<'_>,
        reduction: &Reduction,
        point: &[usize],
        axis: usize,
        n: usize,
    ) -> *const u8 {
        walk(&mut frame.leaves[..self.before], &self.leaves[..self.before], point, axis);
        if let Some(kernel) = self.kernel {
            let dest = Walk { ptr: frame.beyond, step: reduction.size as isize };
            let row = Row {
                n,
                accesses: frame.leaves.as_ptr(),
                dests: &raw const dest,
                params: self.params.as_ptr(),
            };
            // SAFETY: the caller's; the row beyond the plan's holds a tile.
            unsafe { kernel.run(&row) }
            return frame.beyond;
        }
        frame.moved(self.reduced(frame));
        // SAFETY: the caller's.
        unsafe { frame.run(&reduction.steps, n) }
        frame.slot(reduction.value)
    }

    /// Reduces along the axis into the row of results.
    ///
    /// # Safety
    /// The point and the `n - 1` after it are of the space of the results.
    unsafe fn along(&self, frame: &mut Frame<'_>, reduction: &Reduction, point: &Point, n: usize) {
        let last = self.shape.len() - 1;
        let (extent, size) = (self.shape[last], reduction.size);
        let mut input = point.clone();
        let mut out = self.reduced(frame);
        if self.rows.axis == last {
            let mut from = point[last] * REDUCE_CHUNK;
            let until = extent.min(from + n * REDUCE_CHUNK);
            if let Some((kernel, fold)) = self.lanes.zip(short_rows(reduction, REDUCE_LANES)) {
                let chunks = (until - from) / REDUCE_CHUNK;
                input[last] = from;
                // SAFETY: the chunks are of the space; there is room for a result of each.
                unsafe { self.add_up(frame, reduction, (kernel, fold), &input, chunks, out) };
                from += chunks * REDUCE_CHUNK;
                out = out.wrapping_add(chunks * size);
            }
            for start in (from..until).step_by(self.tile()) {
                let m = self.tile().min(until - start);
                input[last] = start;
                // SAFETY: pieces of rows are of the space; there is room for a result of each chunk.
                unsafe {
                    let row = self.input(frame, reduction, &input, last, m);
                    (reduction.lanes)(out, [row; 3], m);
                    out = out.add(m.div_ceil(REDUCE_CHUNK) * size);
                }
            }
            return;
        }
        // Every row is one chunk; rows that follow each other everywhere are one long row.
        let together = if self.follow(extent) { (self.tile() / extent).max(1) } else { 1 };
        let short = match together {
            1 => None,
            _ => short_rows(reduction, extent),
        };
        for first in (0..n).step_by(together) {
            let m = together.min(n - first);
            input[self.rows.axis] = point[self.rows.axis] + first;
            // SAFETY: rows are of the space; there is room for a result of each.
            unsafe {
                let row = self.input(frame, reduction, &input, last, m * extent);
                if let Some(short) = short {
                    short(out, [row; 3], m);
                    out = out.add(m * size);
                    continue;
                }
                for k in 0..m {
                    (reduction.lanes)(out, [row.add(k * extent * size); 3], extent);
                    out = out.add(size);
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
pub fn cost(plan: &Plan, compiled: bool) -> u64 {
    PER_BYTE * plan.bytes + if compiled { plan.cost / 3 } else { plan.cost }
}

/// What combines rows of so many elements into one each, where there is a loop for that many.
fn short_rows(reduction: &Reduction, extent: usize) -> Option<RowFn> {
    rows::short_rows(reduction.op, reduction.dtype, extent)
}

/// Takes walks to a point.
pub fn walk(walks: &mut [Walk], lines: &[Line<'_>], point: &[usize], axis: usize) {
    for (walk, line) in walks.iter_mut().zip(lines) {
        *walk = line.walk(point, axis);
    }
}
