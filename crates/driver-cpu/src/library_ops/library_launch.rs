//! A launch of a library operation.
//!
//! Owns [`LibraryLaunch`]: its space and the accesses of its operands and its destination. Not here: the
//! operations (`mod.rs`).

use crate::rows::{ShortRows, ShortTile};
use crate::traversal::iteration_space::{Point, StridedAccess, unravelled};
use gpupy_core::DType;
use smallvec::SmallVec;
use std::ops::Range;

/// A launch of a library operation.
pub struct LibraryLaunch<'a> {
    /// The input space.
    pub shape: &'a [usize],
    pub dtype: DType,
    /// The operands, in their order.
    pub reads: SmallVec<[StridedAccess<'a>; 2]>,
    pub dest: StridedAccess<'a>,
}

/// Neighbouring rows or matrices, one step of an axis from each other.
pub struct Run {
    /// The first of them.
    pub point: Point,
    pub axis: usize,
    pub count: usize,
}

// SAFETY: threads write different elements and read none that is written; the core does not touch any
// of them until the evaluation returns.
unsafe impl Sync for LibraryLaunch<'_> {}

impl LibraryLaunch<'_> {
    /// The number of rows along the last axis.
    pub fn rows(&self) -> usize {
        self.shape.iter().rev().skip(1).product()
    }

    /// The first point of a row.
    pub fn row(&self, number: usize) -> Point {
        let mut point = unravelled(number, &self.shape[..self.shape.len() - 1]);
        point.push(0);
        point
    }

    /// The axis among the first `last` ones along which neighbours lie, and how many of them are one step of it from
    /// the one before, for all operands and the destination.
    fn beside(&self, last: usize) -> (usize, usize) {
        let Some(axis) = (0..last).rev().find(|axis| self.shape[*axis] > 1) else { return (0, 1) };
        let lines = || self.reads.iter().chain([&self.dest]).map(|line| &line.access.strides);
        let mut together = self.shape[axis];
        for outer in (0..axis).rev().filter(|outer| self.shape[*outer] > 1) {
            if lines().any(|strides| strides[outer] != strides[axis] * together as i64) {
                break;
            }
            together *= self.shape[outer];
        }
        (axis, together)
    }

    /// The first point of row number `number`, or with more than one inner axis of a matrix, and those from there on
    /// that are one step from each other.
    pub fn run_at(&self, inner: usize, number: usize) -> Run {
        let last = self.shape.len() - inner;
        let (axis, together) = self.beside(last);
        let mut point = unravelled(number, &self.shape[..last]);
        point.resize(self.shape.len(), 0);
        Run { point, axis, count: together - number % together }
    }

    /// Calls `run` for the rows of an operand or of the destination that are one step from each other, among some rows:
    /// with the number of rows before them, the rows, and how many they are.
    fn each_run(
        &self,
        line: &StridedAccess<'_>,
        numbers: Range<usize>,
        mut run: impl FnMut(usize, ShortRows, usize),
    ) {
        let mut done = 0;
        while done < numbers.len() {
            let found = self.run_at(1, numbers.start + done);
            let count = found.count.min(numbers.len() - done);
            let walk = line.walk(&found.point, self.shape.len() - 1);
            let apart = line.access.strides[found.axis] as isize * line.size as isize;
            run(done, ShortRows { first: walk.ptr, step: walk.step, apart }, count);
            done += count;
        }
    }

    /// Copies the first `extent` elements of some rows of an operand into a tile.
    ///
    /// # Safety
    /// The tile has room for them.
    pub unsafe fn load(
        &self,
        line: &StridedAccess<'_>,
        tile: ShortTile,
        numbers: Range<usize>,
        extent: usize,
    ) {
        self.each_run(line, numbers, |lane, rows, count| {
            // SAFETY: the contract guarantees that accesses name elements that exist; the tile has room for them.
            unsafe { tile.load(lane, rows, count, extent) }
        });
    }

    /// Copies a tile to the first `extent` elements of some rows of the destination.
    ///
    /// # Safety
    /// The tile holds them.
    pub unsafe fn store(&self, tile: ShortTile, numbers: Range<usize>, extent: usize) {
        self.each_run(&self.dest, numbers, |lane, rows, count| {
            // SAFETY: the contract guarantees that accesses name elements that exist; the tile holds them.
            unsafe { tile.store(lane, rows, count, extent) }
        });
    }
}
