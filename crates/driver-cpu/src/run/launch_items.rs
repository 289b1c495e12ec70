//! The items of a launch, and the computation of each.
//!
//! Owns [`LaunchItems`]. An item of a map is a row. An item of a reduction is a row of results, which input
//! rows are reduced to: either along the reduced axis (row reduction), chunk by chunk (`lane_sums.rs` for long
//! sums), or across it (column reduction, `column_reduce.rs`). Both give the same bits.
//!
//! Not here: the choice between both (`axis_choice.rs`), the scheduling of items (`chunk_scheduler.rs`).

use crate::compile::row_plan::{ReducePlan, RowPlan, RowReduction};
use crate::rows;
use crate::run::reduce_scratch::{ReduceScratch, RowSizes};
use crate::run::row_frame::{RowFrame, ThreadScratch};
use crate::thresholds::T;
use crate::traversal::axis_choice::{ReduceOrder, follow};
use crate::traversal::coalesce::{ExpandedRow, ShortRowCopy};
use crate::traversal::crossing::Crossing;
use crate::traversal::iteration_space::{IterationSpace, Point, StridedAccess, walk};
use gpupy_core::ir::{REDUCE_CHUNK, REDUCE_LANES};
use gpupy_core::{DType, Result};
use gpupy_jit::{GatherTable, Kernel, RowArguments, RowGroup, StridedPointer};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::ops::Range;

thread_local! {
    static SCRATCH: RefCell<ThreadScratch> = RefCell::default();
}

/// The items of one launch.
pub struct LaunchItems<'a> {
    pub plan: &'a RowPlan,
    /// Machine code that replaces the steps of a map, or the steps before a reduction.
    pub kernel: Option<&'a Kernel>,
    /// Machine code for sums along rows of several chunks; it adds to the lanes of the tree.
    pub lanes: Option<&'a Kernel>,
    /// The input space, after axis coalescing.
    pub shape: &'a [usize],
    /// `Some` for a reduction.
    pub reduce_order: Option<ReduceOrder>,
    /// `Some` for a reduction of rows of a few chunks each: the axis beside, as the loop order says.
    pub beside: Option<usize>,
    /// The number of inputs that belong to the input space of a reduction.
    pub before: usize,
    /// The space of the results.
    pub rows: IterationSpace,
    pub inputs: &'a [StridedAccess<'a>],
    /// The accesses of a map that cross its rows, which are neither expanded nor scattered then.
    pub crossing: Option<&'a Crossing>,
    /// Inputs of a map that are expanded into scratch rows.
    pub expanded: &'a [ShortRowCopy<'a>],
    /// Destinations of a map that are scattered from scratch rows.
    pub scattered: &'a [ShortRowCopy<'a>],
    pub dests: &'a [StridedAccess<'a>],
    /// The operands, for gathers; empty for a program without these.
    pub tables: &'a [GatherTable],
    pub params: &'a [u64],
}

// SAFETY: different items write different elements and read none that is written; the core does not touch
// any of them until the evaluation returns.
unsafe impl Sync for LaunchItems<'_> {}

/// The most points of an item along an axis of the output space.
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
            plan.tile.min(T.across_bytes / (lanes_of(shape) * sizes)).max(1)
        }
        (Some(ReduceOrder::Rows), _) if axis + 1 == shape.len() => T.batched_results,
        // The epilogue of a reduction uses scratch rows.
        (None, _) if compiled => T.compiled_row,
        _ => plan.tile,
    }
}

/// Runs a closure with this thread's scratch memory.
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
                match self.expanded.is_empty() && self.scattered.is_empty() {
                    true => self.beside(items, beyond, &mut |group| {
                        // SAFETY: the contract guarantees that accesses name elements that exist, and that no point
                        // reads what another writes; the items' points are in the space, and their strides are those
                        // that the code was written for.
                        unsafe { kernel.run_rows(group) };
                    }),
                    false => self.run_compiled(kernel, items, beyond),
                }
                Ok(())
            });
        }
        SCRATCH.with_borrow_mut(|scratch| {
            let reducing = self.plan.reducing.as_ref();
            let beyond = match reducing {
                Some(reducing) => self.sizes().bytes(reducing),
                None => self.copied_bytes(),
            };
            let walks = (self.inputs.len(), self.dests.len());
            let mut frame =
                RowFrame::new(self.plan, scratch, walks, self.tables, self.params, beyond)?;
            let base = frame.beyond;
            if self.crossing.is_some() {
                self.beside(items, base, &mut |mut group| {
                    for _ in 0..group.count {
                        let (inputs, dests) = group.walks.split_at(group.accesses);
                        frame.inputs.copy_from_slice(inputs);
                        frame.dests.copy_from_slice(dests);
                        frame.moved(&[]);
                        // SAFETY: walks name elements that exist, as the contract guarantees, and `n` is at most a
                        // tile.
                        unsafe { frame.run(&self.plan.steps, group.n) };
                        group.move_on();
                    }
                });
                return Ok(());
            }
            let reducing = reducing.map(|all| (all, ReduceScratch::new(all, self.sizes(), base)));
            let mut filled: SmallVec<[ExpandedRow; 4]> =
                SmallVec::from_elem(None, self.expanded.len());
            let mut cursor = self.rows.cursor(items);
            while let Some(n) = cursor.advance() {
                let point = &cursor.point;
                // SAFETY: the contract guarantees that accesses name elements that exist, and the item's
                // points are in the space; their strides are those of the plan.
                unsafe {
                    let mut reduced: &[*mut u8] = &[];
                    if let Some((reducing, buffers)) = &reducing {
                        match self.reduce_order {
                            Some(ReduceOrder::Columns(_)) => {
                                self.column_reduce(&mut frame, (reducing, buffers), point, n);
                            }
                            _ => self.row_reduce(&mut frame, (reducing, buffers), point, n),
                        }
                        reduced = &buffers.results;
                    }
                    self.results(&mut frame, reduced, point, n, &mut filled);
                }
            }
            Ok(())
        })
    }

    /// Picoseconds for a point, roughly.
    pub fn cost(&self) -> u64 {
        cost(self.plan, self.kernel.is_some())
    }

    /// Runs items of a map whose inputs and destinations are where they belong, or cross the rows: rows that lie beside
    /// each other at once.
    fn beside(&self, items: Range<usize>, beyond: *mut u8, run: &mut dyn FnMut(RowGroup<'_>)) {
        let nowhere = StridedPointer { ptr: std::ptr::null_mut(), step: 0 };
        let accesses = self.inputs.len();
        let mut walks: SmallVec<[StridedPointer; 16]> =
            SmallVec::from_elem(nowhere, accesses + self.dests.len());
        let step = |line: &StridedAccess<'_>| {
            self.rows.outer.map_or(0, |outer| line.access.strides[outer] as isize)
                * line.size as isize
        };
        let steps: SmallVec<[isize; 16]> = self.inputs.iter().chain(self.dests).map(step).collect();
        let mut moved = steps.clone();
        let most = self.crossing.map_or(usize::MAX, |crossing| crossing.rows - 1);
        let mut cursor = self.rows.cursor(items);
        let (params, tables) = (self.params.as_ptr(), self.tables.as_ptr());
        while let Some(n) = cursor.advance() {
            let (inputs, dests) = walks.split_at_mut(accesses);
            walk(inputs, self.inputs, &cursor.point, self.rows.axis);
            walk(dests, self.dests, &cursor.point, self.rows.axis);
            let count = 1 + cursor.pass_beside(most);
            let Some(crossing) = self.crossing else {
                run(RowGroup {
                    n,
                    count,
                    walks: &mut walks,
                    accesses,
                    steps: &steps,
                    params,
                    tables,
                });
                continue;
            };
            moved.copy_from_slice(&steps);
            // SAFETY: the items' points are in the space, and `beyond` has room for the scratch rows.
            unsafe {
                let dests = crossing.load(&mut walks, &mut moved, (count, n), beyond);
                run(RowGroup {
                    n,
                    count,
                    walks: &mut walks,
                    accesses,
                    steps: &moved,
                    params,
                    tables,
                });
                crossing.store(&dests, (count, n), beyond);
            }
        }
    }

    /// Runs items of a map with expanded inputs or scattered destinations by machine code.
    fn run_compiled(&self, kernel: &Kernel, items: Range<usize>, beyond: *mut u8) {
        let nowhere = StridedPointer { ptr: std::ptr::null_mut(), step: 0 };
        let count = self.inputs.len();
        let mut walks: SmallVec<[StridedPointer; 16]> =
            SmallVec::from_elem(nowhere, count + self.dests.len());
        let mut filled: SmallVec<[ExpandedRow; 4]> = SmallVec::from_elem(None, self.expanded.len());
        let mut cursor = self.rows.cursor(items);
        let (params, tables) = (self.params.as_ptr(), self.tables.as_ptr());
        while let Some(n) = cursor.advance() {
            let (inputs, dests) = walks.split_at_mut(count);
            walk(inputs, self.inputs, &cursor.point, self.rows.axis);
            walk(dests, self.dests, &cursor.point, self.rows.axis);
            let point = &cursor.point;
            // SAFETY: the item's points are in the space; `beyond` has room for the copied rows.
            unsafe { self.expand_inputs(inputs, point, n, beyond, &mut filled) };
            self.compute_aside(dests, beyond);
            let row = RowArguments {
                n,
                accesses: inputs.as_ptr(),
                dests: dests.as_ptr(),
                params,
                tables,
            };
            // SAFETY: the contract guarantees that accesses name elements that exist, and the item's
            // points are in the space; their strides are those that the code was written for.
            unsafe {
                kernel.run(&row);
                self.scatter(point, n, beyond);
            }
        }
    }

    /// Computes a row of a map's results, or a row of a reduction's epilogue.
    ///
    /// # Safety
    /// The point and the `n - 1` points after it are in the output space; the reductions' results are computed.
    unsafe fn results(
        &self,
        frame: &mut RowFrame<'_>,
        reduced: &[*mut u8],
        point: &[usize],
        n: usize,
        filled: &mut [ExpandedRow],
    ) {
        let axis = self.rows.axis;
        walk(&mut frame.inputs[self.before..], &self.inputs[self.before..], point, axis);
        walk(frame.dests, self.dests, point, axis);
        let beyond = frame.beyond;
        // SAFETY: the points are in the space, and `beyond` has room for the copied rows.
        unsafe { self.expand_inputs(frame.inputs, point, n, beyond, filled) };
        self.compute_aside(frame.dests, beyond);
        frame.moved(reduced);
        // SAFETY: the points are in the space, and `n` is at most a tile.
        unsafe {
            frame.run(&self.plan.steps, n);
            self.scatter(point, n, beyond);
        }
    }

    /// Bytes of all scratch rows for crossing accesses, expanded inputs and scattered destinations.
    fn copied_bytes(&self) -> usize {
        let crossing = self.crossing.map_or(0, |crossing| crossing.bytes(self.rows.tile));
        crossing + (self.expanded.len() + self.scattered.len()) * self.expanded_bytes()
    }

    /// The scratch row of a scattered destination, after those of the expanded inputs.
    fn scattered_row(&self, k: usize, rows: *mut u8) -> *mut u8 {
        rows.wrapping_add((self.expanded.len() + k) * self.expanded_bytes())
    }

    /// Redirects the walks of scattered destinations to their scratch rows.
    fn compute_aside(&self, dests: &mut [StridedPointer], rows: *mut u8) {
        for (k, scattered) in self.scattered.iter().enumerate() {
            let step = scattered.line.size as isize;
            dests[scattered.which] = StridedPointer { ptr: self.scattered_row(k, rows), step };
        }
    }

    /// Scatters the results of a row to their destinations.
    ///
    /// # Safety
    /// The point and the `n - 1` points after it are in the space, and the scratch rows hold their results.
    unsafe fn scatter(&self, point: &[usize], n: usize, rows: *mut u8) {
        for (k, scattered) in self.scattered.iter().enumerate() {
            // SAFETY: the points are in the space, and the scratch row holds their results.
            unsafe { scattered.scatter(self.scattered_row(k, rows), point, n) }
        }
    }

    /// Bytes of a scratch row for one input or destination.
    fn expanded_bytes(&self) -> usize {
        // Rows that are a power of two from each other would share few places of the near cache.
        self.rows.tile * DType::C128.size() + 64
    }

    /// Expands inputs into scratch rows, and redirects their walks.
    ///
    /// # Safety
    /// The point and the `n - 1` points after it are in the space; `rows` has room for the scratch rows.
    unsafe fn expand_inputs(
        &self,
        inputs: &mut [StridedPointer],
        point: &[usize],
        n: usize,
        rows: *mut u8,
        filled: &mut [ExpandedRow],
    ) {
        let apart = self.expanded_bytes();
        for ((k, expanded), filled) in self.expanded.iter().enumerate().zip(filled) {
            let row = rows.wrapping_add(k * apart);
            inputs[expanded.which] = StridedPointer { ptr: row, step: expanded.step_of_row() };
            // SAFETY: the points are in the space, and the scratch rows have room for them.
            unsafe { expanded.expand(row, point, n, filled) }
        }
    }

    /// The sizes of the scratch rows of reductions.
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

    /// The most elements of an input row that are computed at once.
    pub fn tile(&self) -> usize {
        if self.kernel.is_some() { self.plan.tile.max(T.computed_row) } else { self.plan.tile }
    }

    /// Computes the operands of the reductions on a row of the input space.
    ///
    /// # Safety
    /// The point and the `n - 1` points after it along the axis are in the input space.
    pub unsafe fn compute_operands(
        &self,
        frame: &mut RowFrame<'_>,
        (reducing, buffers): (&ReducePlan, &ReduceScratch),
        point: &[usize],
        axis: usize,
        n: usize,
    ) {
        walk(&mut frame.inputs[..self.before], &self.inputs[..self.before], point, axis);
        if let Some(kernel) = self.kernel {
            let row = RowArguments {
                n,
                accesses: frame.inputs.as_ptr(),
                dests: buffers.stored.walks.as_ptr(),
                params: self.params.as_ptr(),
                tables: self.tables.as_ptr(),
            };
            // SAFETY: the points are in the input space, and scratch rows hold a tile.
            return unsafe { kernel.run(&row) };
        }
        frame.moved(&buffers.results);
        // SAFETY: the points are in the input space, and `n` is at most a tile.
        unsafe { frame.run(&reducing.steps, n) }
    }

    /// The row of a reduction's operand, after the steps that compute it.
    pub fn value(
        &self,
        frame: &RowFrame<'_>,
        (reducing, buffers): (&ReducePlan, &ReduceScratch),
        which: usize,
    ) -> *const u8 {
        let RowReduction { input, value, .. } = reducing.all[which];
        match (input, self.kernel.and_then(|_| buffers.stored.row(which))) {
            (Some(input), _) => frame.inputs[input].ptr,
            (None, Some(row)) => row,
            (None, None) => frame.slot(value),
        }
    }

    /// Row reduction: reduces along the last axis into the rows of results.
    ///
    /// # Safety
    /// The point and the `n - 1` points after it are in the output space.
    unsafe fn row_reduce(
        &self,
        frame: &mut RowFrame<'_>,
        (reducing, buffers): (&ReducePlan, &ReduceScratch),
        point: &Point,
        n: usize,
    ) {
        let last = self.shape.len() - 1;
        let extent = self.shape[last];
        let mut input_point = point.clone();
        if let Some(search) = reducing.search.as_ref().filter(|search| self.is_sound(search)) {
            // SAFETY: the points are in the output space, and the results' row has room for them.
            return unsafe { self.search(search, buffers.results[0].cast(), point, n) };
        }
        if self.rows.axis == last && self.beside.is_none() {
            let start = point[last] * REDUCE_CHUNK;
            let (mut from, until) = (start, extent.min(start + n * REDUCE_CHUNK));
            if let Some(kernel) = self.lanes {
                let chunks = (until - from) / REDUCE_CHUNK;
                input_point[last] = from;
                // SAFETY: the chunks are in the input space, and the results' rows have room for one of each.
                unsafe { self.add_up(frame, (reducing, buffers), kernel, &input_point, chunks) };
                from += chunks * REDUCE_CHUNK;
            }
            for piece in (from..until).step_by(self.tile()) {
                let m = self.tile().min(until - piece);
                input_point[last] = piece;
                let done = (piece - start) / REDUCE_CHUNK;
                // SAFETY: the pieces of rows are in the input space, and the results' rows have room for one of
                // each chunk.
                unsafe {
                    self.compute_operands(frame, (reducing, buffers), &input_point, last, m);
                    for (which, reduction) in reducing.all.iter().enumerate() {
                        let row = self.value(frame, (reducing, buffers), which);
                        let out = buffers.results[which].add(done * reduction.size);
                        (reduction.lanes)(out, [row; 3], m);
                    }
                }
            }
            return;
        }
        // Every row is a few chunks, or one. Rows that are contiguous for every input are treated as one long row.
        let chunks = extent.div_ceil(REDUCE_CHUNK);
        let (axis, start) = match self.beside {
            Some(axis) => (axis, point[last] / chunks),
            None => (self.rows.axis, point[self.rows.axis]),
        };
        let n = n / chunks;
        let tile = self.tile();
        let together = if self.follow(axis, extent) { (tile / extent).max(1) } else { 1 };
        for first in (0..n).step_by(together) {
            let m = together.min(n - first);
            input_point[axis] = start + first;
            for from in (0..m * extent).step_by(tile) {
                let len = tile.min(m * extent - from);
                input_point[last] = from;
                // SAFETY: rows are in the input space, and the results' rows have room for one of each chunk.
                unsafe {
                    self.compute_operands(frame, (reducing, buffers), &input_point, last, len);
                    for (which, reduction) in reducing.all.iter().enumerate() {
                        let row = self.value(frame, (reducing, buffers), which);
                        let done = first * chunks + from / REDUCE_CHUNK;
                        let out = buffers.results[which].add(done * reduction.size);
                        // A row that is longer than a tile is alone.
                        reduce_rows(reduction, (out, row), m, len / m);
                    }
                }
            }
        }
    }

    /// Whether rows are contiguous for all inputs of the input space.
    fn follow(&self, axis: usize, extent: usize) -> bool {
        follow(self.inputs[..self.before].iter(), axis, self.shape.len() - 1, extent)
    }
}

/// The estimated picoseconds for a point of a plan: machine code computes faster, memory traffic stays.
pub fn cost(plan: &RowPlan, compiled: bool) -> u64 {
    T.byte_cost * plan.bytes + if compiled { plan.cost / 3 } else { plan.cost }
}

/// Reduces `m` contiguous rows of `extent` elements to one result for each chunk.
///
/// # Safety
/// The rows exist, and `out` has room for the results.
unsafe fn reduce_rows(
    reduction: &RowReduction,
    (out, row): (*mut u8, *const u8),
    m: usize,
    extent: usize,
) {
    let size = reduction.size;
    // Rows of several vectors of lanes, all of them whole, are as fast by themselves.
    let is_whole = extent > REDUCE_LANES && extent.is_multiple_of(REDUCE_LANES);
    // SAFETY: the rows exist, and `out` has room for `m` results.
    unsafe {
        let is_chunk = (REDUCE_LANES / 2 + 1..=REDUCE_CHUNK).contains(&extent);
        if let Some(vector_rows) = reduction.vector_rows.filter(|_| is_chunk) {
            return vector_rows(out, row, m, extent);
        }
        if extent <= rows::SHORT && !is_whole && m >= T.tile_rows.max(extent / 2) {
            return reduction.short_rows.run(out, row, m, extent);
        }
        for k in 0..m {
            let out = out.add(k * extent.div_ceil(REDUCE_CHUNK) * size);
            (reduction.lanes)(out, [row.add(k * extent * size); 3], extent);
        }
    }
}

/// The number of lanes that the tree has along the last axis of a shape.
fn lanes_of(shape: &[usize]) -> usize {
    REDUCE_LANES.min(shape[shape.len() - 1])
}
