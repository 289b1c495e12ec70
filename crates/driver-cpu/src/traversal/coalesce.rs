//! Axis coalescing for short rows: two axes become one.
//!
//! Owns [`Coalesced`], [`coalesced`] and [`ShortRowCopy`]. Rows of few elements cost more by their number than
//! by their elements, for example where a row is added to each row of a narrow matrix. So the last axis is coalesced
//! with another one, over which most operands are contiguous from row to row. Inputs that are not are first expanded
//! into scratch rows; for destinations that are not, results are computed in scratch rows and scattered.
//!
//! Not here: the axis of the rows otherwise (`axis_choice.rs`), the copies (`rows`).

use crate::rows::{self, ShortRows};
use crate::thresholds::T;
use crate::traversal::axis_choice::RowSteps;
use crate::traversal::iteration_space::{Point, StridedAccess};
use gpupy_core::driver::Access;

/// A launch with two axes coalesced.
pub struct Coalesced {
    pub shape: Point,
    /// The accesses of all inputs, then of all destinations, over that shape.
    pub accesses: Vec<Access>,
    pub rows: ShortExtents,
    /// The inputs that must be expanded: the number of each, and its access before coalescing, whose last axes are that
    /// of blocks (of stride 0, where there is one), the coalesced one and the last one.
    pub expanded: Vec<(usize, Access)>,
    /// The same of destinations that must be scattered.
    pub scattered: Vec<(usize, Access)>,
}

/// The launch with coalesced axes, if that costs less than `cost` nanoseconds for these steps.
pub fn coalesced(
    shape: &[usize],
    inputs: &[StridedAccess<'_>],
    dests: &[StridedAccess<'_>],
    (cost, steps): (f64, RowSteps),
) -> Option<Coalesced> {
    let [.., extent] = *shape else { return None };
    let points: usize = shape.iter().product();
    if !(2..=T.coalesced_row).contains(&extent) || points < T.coalesced_points {
        return None;
    }
    let last = shape.len() - 1;
    let mut best: Option<(usize, f64)> = None;
    for axis in (0..last).rev().filter(|axis| shape[*axis] > 1) {
        let at = ShortAxes { shape, axis };
        let copied = inputs.iter().map(|line| at.copying(line, true));
        // Every point has a result of its own, so destinations never repeat.
        let copied = copied.chain(dests.iter().map(|line| at.copying(line, false)));
        let copies: f64 = copied.sum();
        let row = shape[axis] * extent;
        let rows = points / row * row.div_ceil(T.typical_row);
        let rows = rows as f64 * steps.cost(row.min(T.typical_row), inputs.len() + dests.len());
        let price = copies + rows;
        if price < best.map_or(cost, |(_, least)| least) {
            best = Some((axis, price));
        }
    }
    Some(ShortAxes { shape, axis: best?.0 }.coalesced(inputs, dests))
}

/// The last axis of a space, which is short, and the axis with which it is coalesced.
struct ShortAxes<'a> {
    shape: &'a [usize],
    axis: usize,
}

impl<'a> ShortAxes<'a> {
    fn last(&self) -> usize {
        self.shape.len() - 1
    }

    /// The other axes.
    fn others(&self) -> impl Iterator<Item = usize> {
        let axis = self.axis;
        (0..self.last()).filter(move |k| *k != axis)
    }

    /// Whether the elements of a line are contiguous from row to row, or one for all.
    fn follows(&self, line: &StridedAccess<'_>) -> bool {
        let (strides, last) = (&line.access.strides, self.last());
        strides[self.axis] == strides[last] * self.shape[last] as i64
            && (line.base.is_null() || (0..=1).contains(&strides[last]))
    }

    /// Nanoseconds to copy a line's short rows.
    fn copying(&self, line: &StridedAccess<'_>, is_input: bool) -> f64 {
        let extent = self.shape[self.last()] as f64;
        let [apart, step] = [self.axis, self.last()].map(|axis| line.access.strides[axis]);
        let of_element = match step {
            0 | 1 => T.piece_element_cost,
            // Index values are written.
            _ if line.base.is_null() => T.piece_element_cost,
            -1 if is_input => T.piece_element_cost,
            _ if apart.abs() == 1 => T.near_cost,
            _ => T.apart_cost,
        };
        self.pieces(line, is_input) as f64 * (T.piece_cost + of_element * extent)
    }

    /// The number of pieces that are copied for a line.
    fn pieces(&self, line: &StridedAccess<'_>, may_repeat: bool) -> usize {
        if self.follows(line) {
            return 0;
        }
        let strides = &line.access.strides;
        let far: usize = self.others().map(|k| self.shape[k]).product();
        let (outer, extent) = (self.shape[self.axis], self.shape[self.last()]);
        let is_same = self.others().all(|k| strides[k] == 0 || self.shape[k] == 1);
        match (strides[self.axis] == 0 && may_repeat, is_same) {
            // A scratch row that is the same everywhere is expanded once.
            (true, true) => 0,
            // One that repeats along the coalesced axis is expanded once for each row of it.
            (true, false) => far * outer.min(T.typical_row.div_ceil(extent)),
            _ => far * outer,
        }
    }

    /// An axis along which blocks of short rows follow each other for all lines that are not copied, where a block has
    /// few elements.
    fn blocks(&self, lines: impl Iterator<Item = StridedAccess<'a>> + Clone) -> Option<usize> {
        let block = self.shape[self.axis] * self.shape[self.last()];
        let follows = |line: &StridedAccess<'_>, far: usize| {
            let strides = &line.access.strides;
            !self.follows(line) || strides[far] == strides[self.last()] * block as i64
        };
        let far = self.others().filter(|far| block < T.typical_row && self.shape[*far] > 1).last();
        far.filter(|far| lines.clone().all(|line| follows(&line, *far)))
    }

    fn coalesced(&self, inputs: &[StridedAccess<'a>], dests: &[StridedAccess<'a>]) -> Coalesced {
        let (axis, last) = (self.axis, self.last());
        let far = self.blocks(inputs.iter().chain(dests).copied());
        let rest = || self.others().filter(|k| Some(*k) != far);
        let reordered = |line: &StridedAccess<'_>, end: &[i64]| Access {
            offset: line.access.offset,
            strides: rest().map(|k| line.access.strides[k]).chain(end.iter().copied()).collect(),
        };
        let whole = |line: &StridedAccess<'_>| {
            let strides = &line.access.strides;
            reordered(line, &[far.map_or(0, |far| strides[far]), strides[axis], strides[last]])
        };
        let copied = |lines: &[StridedAccess<'_>]| -> Vec<(usize, Access)> {
            let all = lines.iter().enumerate().filter(|(_, line)| !self.follows(line));
            all.map(|(number, line)| (number, whole(line))).collect()
        };
        // Scratch rows are contiguous.
        let merged = |line: &StridedAccess<'_>| match self.follows(line) {
            true => reordered(line, &[line.access.strides[last]]),
            false => reordered(line, &[1]),
        };
        let rows = ShortExtents { rows: self.shape[axis], extent: self.shape[last] };
        let row = far.map_or(1, |far| self.shape[far]) * rows.rows * rows.extent;
        Coalesced {
            shape: rest().map(|k| self.shape[k]).chain([row]).collect(),
            accesses: inputs.iter().chain(dests).map(merged).collect(),
            rows,
            expanded: copied(inputs),
            scattered: copied(dests),
        }
    }
}

/// The extents of short rows and of their blocks.
#[derive(Clone, Copy)]
pub struct ShortExtents {
    /// Short rows of a block: the extent of the axis with which the last one is coalesced.
    pub rows: usize,
    /// The extent of the last axis before coalescing.
    pub extent: usize,
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
    pub rows: ShortExtents,
}

impl<'a> ShortRowCopy<'a> {
    /// The copy of one of some inputs or destinations.
    pub fn new(
        lines: &[StridedAccess<'_>],
        (which, access): &'a (usize, Access),
        rows: ShortExtents,
    ) -> ShortRowCopy<'a> {
        let StridedAccess { base, size, .. } = lines[*which];
        let line = StridedAccess { access, base, size };
        ShortRowCopy { which: *which, line, rows }
    }

    /// Bytes from an element to the next in a scratch row.
    pub fn step_of_row(&self) -> isize {
        if self.line.base.is_null() { size_of::<i32>() as isize } else { self.line.size as isize }
    }

    /// Copies the `n` elements from a point of the coalesced shape on into a row. A row that repeats is not copied
    /// again if `before` says that it is there.
    ///
    /// # Safety
    /// The points are in the space, and the row has room for `n` elements.
    pub unsafe fn expand(&self, row: *mut u8, point: &[usize], n: usize, before: &mut ExpandedRow) {
        let [.., far, apart, _] = self.line.access.strides[..] else { return };
        // A row that repeats may be there already.
        let first = self.first(point);
        let repeats = far == 0 && apart == 0;
        if repeats && before.is_some_and(|(from, len)| from == first && len >= n) {
            return;
        }
        let (size, extent) = (self.step_of_row() as usize, self.rows.extent);
        self.each_block(point, n, |rows, done, count| {
            let block = self.rows.rows * extent * size;
            let row = row.wrapping_add(done * extent * size);
            // SAFETY: the elements belong to points of the space, and the row has room for them; where a block is
            // before them, it has as many.
            unsafe {
                if far == 0 && done >= self.rows.rows {
                    row.copy_from_nonoverlapping(row.wrapping_sub(block), count * extent * size);
                } else if self.line.base.is_null() {
                    rows::expand_index(row, rows, (count, extent));
                } else {
                    rows::expand(size, row, rows, (count, extent));
                }
            }
        });
        *before = repeats.then_some((first, n));
    }

    /// Copies `n` elements of a row to the destination's elements from a point of the coalesced shape on.
    ///
    /// # Safety
    /// The points are in the space, and the row holds `n` elements.
    pub unsafe fn scatter(&self, row: *const u8, point: &[usize], n: usize) {
        let (size, extent) = (self.line.size, self.rows.extent);
        self.each_block(point, n, |rows, done, count| {
            let row = row.wrapping_add(done * extent * size);
            // SAFETY: the elements belong to points of the space, and the row holds them.
            unsafe { rows::scatter(size, rows, row, (count, extent)) }
        });
    }

    /// Calls `copy` for the short rows of each block among `n` elements from a point of the coalesced shape on, which
    /// is the first of one: with these, the number of short rows before them, and how many they are.
    fn each_block(&self, point: &[usize], n: usize, mut copy: impl FnMut(ShortRows, usize, usize)) {
        let [.., far, apart, step] = self.line.access.strides[..] else { return };
        let [far, apart, step] = [far, apart, step].map(|s| s as isize * self.line.size as isize);
        let (first, ShortExtents { rows, extent }) = (self.first(point), self.rows);
        let [.., at] = *point else { return };
        let (mut block, mut row) = (0, at / extent % rows);
        let (mut done, short) = (0, n / extent);
        while done < short {
            let count = (rows - row).min(short - done);
            let at = far * block + apart * (row as isize - (at / extent % rows) as isize);
            copy(ShortRows { first: first.wrapping_offset(at), step, apart }, done, count);
            (done, row, block) = (done + count, 0, block + 1);
        }
    }

    /// The first element from a point of the coalesced shape on, which is the first of a short row.
    fn first(&self, point: &[usize]) -> *mut u8 {
        let Some((at, outer)) = point.split_last() else { return self.line.base };
        let row = at / self.rows.extent;
        let mut from = Point::from(outer);
        from.extend([row / self.rows.rows, row % self.rows.rows, 0]);
        self.line.walk(&from, outer.len()).ptr
    }
}
