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
use gpupy_jit::StridedPointer;

/// A launch with two axes coalesced.
pub struct Coalesced {
    pub shape: Point,
    /// The accesses of all inputs, then of all destinations, over that shape.
    pub accesses: Vec<Access>,
    /// The extent of the last axis before coalescing.
    pub extent: usize,
    /// The inputs that must be expanded: the number of each, and its access before coalescing, with the coalesced axis
    /// second to last.
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
        let Some(copies) = copied.sum::<Option<f64>>() else { continue };
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

impl ShortAxes<'_> {
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

    /// Nanoseconds to copy a line's short rows; `None` for index values, which are not copied.
    fn copying(&self, line: &StridedAccess<'_>, may_repeat: bool) -> Option<f64> {
        let extent = self.shape[self.last()] as f64;
        let of_element = match line.access.strides[self.last()] {
            0 | 1 => T.piece_element_cost,
            _ => T.apart_cost,
        };
        Some(self.pieces(line, may_repeat)? as f64 * (T.piece_cost + of_element * extent))
    }

    /// The number of pieces that are copied for a line; `None` for index values, which are not copied.
    fn pieces(&self, line: &StridedAccess<'_>, may_repeat: bool) -> Option<usize> {
        if self.follows(line) {
            return Some(0);
        }
        let strides = &line.access.strides;
        let far: usize = self.others().map(|k| self.shape[k]).product();
        let (outer, extent) = (self.shape[self.axis], self.shape[self.last()]);
        let is_same = self.others().all(|k| strides[k] == 0 || self.shape[k] == 1);
        match (strides[self.axis] == 0 && may_repeat, is_same) {
            _ if line.base.is_null() => None,
            // A scratch row that is the same everywhere is expanded once.
            (true, true) => Some(0),
            // One that repeats along the coalesced axis is expanded once for each row of it.
            (true, false) => Some(far * outer.min(T.typical_row.div_ceil(extent))),
            _ => Some(far * outer),
        }
    }

    fn coalesced(&self, inputs: &[StridedAccess<'_>], dests: &[StridedAccess<'_>]) -> Coalesced {
        let (axis, last) = (self.axis, self.last());
        let reordered = |line: &StridedAccess<'_>, end: &[i64]| Access {
            offset: line.access.offset,
            strides: self
                .others()
                .map(|k| line.access.strides[k])
                .chain(end.iter().copied())
                .collect(),
        };
        let whole = |line: &StridedAccess<'_>| {
            let strides = &line.access.strides;
            reordered(line, &[strides[axis], strides[last]])
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
        let extent = self.shape[last];
        Coalesced {
            shape: self
                .others()
                .map(|k| self.shape[k])
                .chain([self.shape[axis] * extent])
                .collect(),
            accesses: inputs.iter().chain(dests).map(merged).collect(),
            extent,
            expanded: copied(inputs),
            scattered: copied(dests),
        }
    }
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
}

impl<'a> ShortRowCopy<'a> {
    /// The copy of one of some inputs or destinations, of short rows of `extent` elements.
    pub fn new(
        lines: &[StridedAccess<'_>],
        (which, access): &'a (usize, Access),
        extent: usize,
    ) -> ShortRowCopy<'a> {
        let StridedAccess { base, size, .. } = lines[*which];
        let line = StridedAccess { access, base, size };
        ShortRowCopy { which: *which, line, extent }
    }

    /// Copies the `n` elements from a point of the coalesced shape on into a row. A row that repeats is not copied
    /// again if `before` says that it is there.
    ///
    /// # Safety
    /// The points are in the space, and the row has room for `n` elements.
    pub unsafe fn expand(&self, row: *mut u8, point: &[usize], n: usize, before: &mut ExpandedRow) {
        let rows = self.rows(point);
        // A row that repeats may be there already.
        let repeats = rows.apart == 0;
        if repeats && before.is_some_and(|(from, len)| from == rows.first && len >= n) {
            return;
        }
        // SAFETY: the elements belong to points of the space, and the row has room for them.
        unsafe { rows::expand(self.line.size, row, rows, (n / self.extent, self.extent)) }
        *before = repeats.then_some((rows.first, n));
    }

    /// Copies `n` elements of a row to the destination's elements from a point of the coalesced shape on.
    ///
    /// # Safety
    /// The points are in the space, and the row holds `n` elements.
    pub unsafe fn scatter(&self, row: *const u8, point: &[usize], n: usize) {
        let rows = self.rows(point);
        // SAFETY: the elements belong to points of the space, and the row holds them.
        unsafe { rows::scatter(self.line.size, rows, row, (n / self.extent, self.extent)) }
    }

    /// The short rows from a point of the coalesced shape on, which is the first of one.
    fn rows(&self, point: &[usize]) -> ShortRows {
        let last = point.len();
        let mut from = Point::from(point);
        from[last - 1] /= self.extent;
        from.push(0);
        let StridedPointer { ptr, step } = self.line.walk(&from, last);
        let apart = (self.line.access.strides[last - 1] * self.line.size as i64) as isize;
        ShortRows { first: ptr, step, apart }
    }
}
