//! Axis coalescing for short rows: two axes become one.
//!
//! Owns [`Coalesced`], [`coalesced`] and [`ShortRowCopy`]. Rows of few elements cost more by their number than
//! by their elements, for example where a row is added to each row of a narrow matrix. If at least the
//! destinations are contiguous from row to row, the last two axes are coalesced, and the few inputs that are
//! not contiguous are first expanded into scratch rows. If the inputs are contiguous along some axis instead,
//! as where an image is cut into blocks, results are computed in scratch rows and scattered to their
//! destinations.
//!
//! Not here: the axis of the rows otherwise (`axis_choice.rs`).

use crate::rows;
use crate::thresholds::T;
use crate::traversal::iteration_space::{Point, StridedAccess};
use gpupy_core::driver::Access;
use gpupy_jit::{PackedRows, StridedPointer};
use smallvec::SmallVec;

/// A launch with two axes coalesced.
pub struct Coalesced {
    pub shape: Point,
    /// The accesses of all inputs, then of all destinations, over that shape.
    pub accesses: Vec<Access>,
    /// The extent of the last axis before coalescing.
    pub extent: usize,
    /// The inputs that must be expanded.
    pub expanded: SmallVec<[usize; 4]>,
    /// For destinations that must be scattered: their accesses before coalescing, with the coalesced axis
    /// second to last.
    pub scattered: Vec<Access>,
}

/// The launch with coalesced axes, if that costs less than `cost` nanoseconds.
pub fn coalesced(
    shape: &[usize],
    inputs: &[StridedAccess<'_>],
    dests: &[StridedAccess<'_>],
    cost: f64,
) -> Option<Coalesced> {
    let [.., outer, extent] = *shape else { return None };
    let points: usize = shape.iter().product();
    if !(2..=T.coalesced_row).contains(&extent) || outer < 2 || points < T.coalesced_points {
        return None;
    }
    let parts = points / extent * dests.len();
    let part_cost = parts as f64 * T.piece_cost;
    let scattered = if part_cost < cost { scattered(shape, inputs, dests) } else { None };
    let limit = if scattered.is_some() { part_cost } else { cost };
    let (axis, last) = (shape.len() - 2, shape.len() - 1);
    let follows = |line: &StridedAccess<'_>| {
        let strides = &line.access.strides;
        strides[axis] == strides[last] * extent as i64
    };
    let beside = |line: &StridedAccess<'_>| follows(line) && line.access.strides[last] == 1;
    let all = inputs.iter().enumerate();
    let expanded: SmallVec<[usize; 4]> =
        all.filter(|(_, line)| !follows(line)).map(|(input, _)| input).collect();
    // Index values are computed, not copied.
    let possible = dests.iter().all(beside)
        && expanded.iter().all(|input| !inputs[*input].base.is_null())
        && inputs
            .iter()
            .all(|line| beside(line) || !follows(line) || line.access.strides[last] == 0);
    let pieces: usize = expanded.iter().map(|input| pieces(shape, &inputs[*input])).sum();
    if !possible || pieces as f64 * T.piece_cost >= limit {
        return scattered;
    }
    let merged = |line: &StridedAccess<'_>| Access {
        offset: line.access.offset,
        strides: line
            .access
            .strides
            .iter()
            .copied()
            .enumerate()
            .filter(|(k, _)| *k != axis)
            .map(|(_, stride)| stride)
            .collect(),
    };
    let mut accesses: Vec<Access> = inputs.iter().chain(dests).map(merged).collect();
    for input in &expanded {
        // Its stride along the scratch row.
        if let Some(stride) = accesses[*input].strides.last_mut() {
            *stride = 1;
        }
    }
    let mut coalesced = Point::from(shape);
    coalesced.truncate(axis);
    coalesced.push(outer * extent);
    Some(Coalesced { shape: coalesced, accesses, extent, expanded, scattered: Vec::new() })
}

/// The number of pieces that are copied to expand an input.
fn pieces(shape: &[usize], input: &StridedAccess<'_>) -> usize {
    let [far @ .., outer, extent] = shape else { return 0 };
    let (of_far, strides) = input.access.strides.split_at(far.len());
    let far: usize = far.iter().product();
    match (strides[0], of_far.iter().all(|step| *step == 0)) {
        // A scratch row that is the same everywhere is expanded once.
        (0, true) => 0,
        // One that repeats along the coalesced axis is expanded once for each row of it.
        (0, false) => far * (*outer).min(T.typical_row.div_ceil(*extent)),
        _ => far * outer,
    }
}

/// The launch coalesced along an axis over which all inputs are contiguous from row to row; its destinations
/// are scattered.
fn scattered(
    shape: &[usize],
    inputs: &[StridedAccess<'_>],
    dests: &[StridedAccess<'_>],
) -> Option<Coalesced> {
    let last = shape.len() - 1;
    let extent = shape[last];
    let goes_on = |line: &StridedAccess<'_>, axis: usize| {
        let strides = &line.access.strides;
        (0..=1).contains(&strides[last]) && strides[axis] == strides[last] * extent as i64
    };
    let axis = (0..last)
        .find(|axis| shape[*axis] > 1 && inputs.iter().all(|line| goes_on(line, *axis)))?;
    let others = || (0..last).filter(|k| *k != axis);
    let reordered = |line: &StridedAccess<'_>, end: &[i64]| Access {
        offset: line.access.offset,
        strides: others().map(|k| line.access.strides[k]).chain(end.iter().copied()).collect(),
    };
    let in_row = |line: &StridedAccess<'_>| reordered(line, &[line.access.strides[last]]);
    // Their stride along the scratch rows.
    let computed = dests.iter().map(|line| reordered(line, &[1]));
    let whole = |line: &StridedAccess<'_>| {
        reordered(line, &[line.access.strides[axis], line.access.strides[last]])
    };
    Some(Coalesced {
        shape: others().map(|k| shape[k]).chain([shape[axis] * extent]).collect(),
        accesses: inputs.iter().map(in_row).chain(computed).collect(),
        extent,
        expanded: SmallVec::new(),
        scattered: dests.iter().map(whole).collect(),
    })
}

/// The content of a scratch row that repeats: its first element, and the number of elements at least.
pub type ExpandedRow = Option<(*mut u8, usize)>;

/// An input to be expanded into scratch rows, or a destination to be scattered from them.
#[derive(Clone, Copy)]
pub struct ShortRowCopy<'a> {
    /// The number of the input or of the destination.
    pub which: usize,
    /// Its access before coalescing.
    pub line: StridedAccess<'a>,
    /// The extent of the last axis before coalescing.
    pub extent: usize,
    /// How many are expanded with it: itself, and those behind it whose elements lie beside its own. 0 for these.
    pub together: usize,
}

/// Finds which of these inputs can be expanded together.
pub fn expand_together(copies: &mut [ShortRowCopy<'_>]) {
    let mut next = 0;
    while let [first, ..] = &copies[next..] {
        let first = first.line;
        let lines = copies[next..].iter().map(|copy| copy.line);
        let alike = lines.take_while(|line| {
            line.size == first.size && line.access.strides == first.access.strides
        });
        let element = |line: StridedAccess<'_>| {
            let bytes = line.access.offset as isize * line.size as isize;
            StridedPointer { ptr: line.base.wrapping_offset(bytes), step: 0 }
        };
        let count = gpupy_jit::beside(alike.map(element), first.size);
        copies[next..next + count].iter_mut().for_each(|copy| copy.together = 0);
        copies[next].together = count;
        next += count;
    }
}

impl ShortRowCopy<'_> {
    /// Copies the `n` elements from a point of the coalesced shape on into a row, and those of the inputs that are
    /// expanded with it into rows behind that, `apart` bytes from each other. A row that repeats is not copied again if
    /// `before` says that it is there.
    ///
    /// # Safety
    /// The points are in the space, and each row has room for `n` elements.
    pub unsafe fn expand(
        &self,
        (row, apart): (*mut u8, usize),
        point: &[usize],
        n: usize,
        before: &mut ExpandedRow,
    ) {
        if self.together == 0 {
            return;
        }
        let (last, size, extent) = (point.len(), self.line.size, self.extent);
        let (start, next_row) = self.start(point);
        // A row that repeats may be there already.
        let whole = point[last - 1].is_multiple_of(extent);
        let repeats = next_row == 0 && whole;
        if repeats && before.is_some_and(|(from, len)| from == start.ptr && len >= n) {
            return;
        }
        self.pieces(point, n, |done, m, at| {
            let first = row.wrapping_add(done * size);
            let from = StridedPointer { ptr: at, step: start.step };
            // SAFETY: the elements belong to points of the space, and the rows have room for them.
            unsafe {
                match self.together {
                    1 => rows::copy(size, (first, size as isize), (at, start.step), m),
                    count => {
                        let rows = PackedRows { first, apart, count, bytes: size };
                        gpupy_jit::take_apart(m, from, rows);
                    }
                }
            }
        });
        *before = repeats.then_some((start.ptr, n));
    }

    /// Copies `n` elements of a row to the destination's elements from a point of the coalesced shape on.
    ///
    /// # Safety
    /// The points are in the space, and the row holds `n` elements.
    pub unsafe fn scatter(&self, row: *const u8, point: &[usize], n: usize) {
        let size = self.line.size;
        let (start, _) = self.start(point);
        self.pieces(point, n, |done, m, at| {
            let from = row.wrapping_add(done * size);
            // SAFETY: the elements belong to points of the space, and the row holds them.
            unsafe { rows::copy(size, (at, start.step), (from, size as isize), m) };
        });
    }

    /// The walk from the start of the coalesced axis on, and the bytes from one row to the next.
    fn start(&self, point: &[usize]) -> (StridedPointer, isize) {
        let last = point.len();
        let mut from = Point::from(point);
        from[last - 1] = 0;
        from.push(0);
        let next_row = (self.line.access.strides[last - 1] * self.line.size as i64) as isize;
        (self.line.walk(&from, last), next_row)
    }

    /// Calls `piece` for each piece of a row among the `n` points from `point` on, with the number of points
    /// before it, its length, and its address.
    fn pieces(&self, point: &[usize], n: usize, mut piece: impl FnMut(usize, usize, *mut u8)) {
        let (start, next_row) = self.start(point);
        let number = point[point.len() - 1];
        let (mut done, mut from) = (0, number % self.extent);
        let mut row = start.ptr.wrapping_offset(next_row * (number / self.extent) as isize);
        while done < n {
            let m = (self.extent - from).min(n - done);
            piece(done, m, row.wrapping_offset(start.step * from as isize));
            row = row.wrapping_offset(next_row);
            from = 0;
            done += m;
        }
    }
}
