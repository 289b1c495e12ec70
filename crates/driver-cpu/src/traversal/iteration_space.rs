//! The iteration space of a launch as rows, and the strided accesses of inputs and destinations.
//!
//! Owns [`IterationSpace`] with its [`ItemCursor`], and [`StridedAccess`]. The points of a space are cut into *items*,
//! each a row of at most a tile along one axis. Invariant: every point is in exactly one item.
//!
//! Not here: the computation of a row (`run`), the axis of the rows (`axis_choice.rs`).

use gpupy_core::driver::Access;
use gpupy_jit::StridedPointer;
use smallvec::SmallVec;
use std::ops::Range;

/// Coordinates of a point.
pub type Point = SmallVec<[usize; 4]>;

/// The access of an input or destination over a space.
#[derive(Clone, Copy)]
pub struct StridedAccess<'a> {
    pub access: &'a Access,
    /// The start of the block; null for an index value, whose address is its number.
    pub base: *mut u8,
    /// Bytes of an element; 1 for an index value.
    pub size: usize,
}

impl StridedAccess<'_> {
    /// The walk from a point on along an axis.
    #[inline]
    pub fn walk(&self, point: &[usize], axis: usize) -> StridedPointer {
        let steps = self.access.strides.iter().zip(point);
        let at = steps.fold(self.access.offset, |at, (stride, i)| at + stride * *i as i64);
        let size = self.size as i64;
        StridedPointer {
            ptr: self.base.wrapping_offset((at * size) as isize),
            step: (self.access.strides[axis] * size) as isize,
        }
    }
}

/// Point number `number` of a shape in C order.
pub fn unravelled(mut number: usize, shape: &[usize]) -> Point {
    let mut point = Point::from_elem(0, shape.len());
    for (i, extent) in point.iter_mut().zip(shape).rev() {
        *i = number % extent;
        number /= extent;
    }
    point
}

/// Moves walks to a point.
pub fn walk(
    walks: &mut [StridedPointer],
    lines: &[StridedAccess<'_>],
    point: &[usize],
    axis: usize,
) {
    for (walk, line) in walks.iter_mut().zip(lines) {
        *walk = line.walk(point, axis);
    }
}

/// A space, cut into rows.
pub struct IterationSpace {
    shape: Point,
    /// The axis that rows go along.
    pub axis: usize,
    /// The axis along which neighbouring rows lie, if there is more than one axis.
    pub outer: Option<usize>,
    /// The most elements of a row.
    pub tile: usize,
    /// The number of rows before they are cut.
    rows: usize,
    /// The number of pieces of each row.
    pieces: usize,
    /// Whether all first pieces come before all second pieces, so that data shared by neighbouring rows is
    /// still in the cache for the next row.
    by_piece: bool,
}

impl IterationSpace {
    /// A space whose neighbouring rows lie along the last axis beside that of the rows.
    pub fn new(shape: &[usize], axis: usize, tile: usize, by_piece: bool) -> IterationSpace {
        let pieces = shape[axis].div_ceil(tile);
        let rows = shape.iter().product::<usize>() / shape[axis];
        let outer = (0..shape.len()).rev().find(|other| *other != axis);
        IterationSpace { shape: shape.into(), axis, outer, tile, rows, pieces, by_piece }
    }

    /// The same, with neighbouring rows along another axis.
    pub fn beside(self, outer: usize) -> IterationSpace {
        IterationSpace { outer: Some(outer), ..self }
    }

    /// The axes beside that of the rows, that of neighbouring rows first.
    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let (axis, outer) = (self.axis, self.outer);
        let rest = (0..self.shape.len()).rev().filter(move |k| *k != axis && Some(*k) != outer);
        outer.into_iter().chain(rest)
    }

    /// The number of items.
    pub fn items(&self) -> usize {
        self.rows * self.pieces
    }

    /// A cursor before the first of these items.
    pub fn cursor(&self, items: Range<usize>) -> ItemCursor<'_> {
        let (mut row, piece) = match self.by_piece {
            true => (items.start % self.rows, items.start / self.rows),
            false => (items.start / self.pieces, items.start % self.pieces),
        };
        let mut point = Point::from_elem(0, self.shape.len());
        for axis in self.others() {
            if row == 0 {
                break;
            }
            point[axis] = row % self.shape[axis];
            row /= self.shape[axis];
        }
        point[self.axis] = piece * self.tile;
        ItemCursor { space: self, point, left: items.len(), has_begun: false }
    }
}

/// Items one after another, without a division for each.
pub struct ItemCursor<'a> {
    space: &'a IterationSpace,
    /// The first point of the current item.
    pub point: Point,
    /// The number of items that follow.
    left: usize,
    has_begun: bool,
}

impl ItemCursor<'_> {
    /// Moves to the next item, and returns the number of its points; `None` behind the last one.
    #[inline]
    pub fn advance(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        if std::mem::replace(&mut self.has_begun, true) {
            let _ = match self.space.by_piece {
                true => self.is_next_row() || self.is_next_piece(),
                false => self.is_next_piece() || self.is_next_row(),
            };
        }
        let IterationSpace { shape, axis, tile, .. } = self.space;
        Some((*tile).min(shape[*axis] - self.point[*axis]))
    }

    /// Moves over the items that follow the current one along the outer axis, each one point from the item before and
    /// nowhere else, at most so many; gives their number.
    pub fn pass_beside(&mut self, most: usize) -> usize {
        let Some(outer) =
            self.space.outer.filter(|_| self.space.by_piece || self.space.pieces == 1)
        else {
            return 0;
        };
        let passed = self.left.min(self.space.shape[outer] - 1 - self.point[outer]).min(most);
        self.left -= passed;
        self.point[outer] += passed;
        passed
    }

    /// Moves to the next piece of the row; false, and back at the first piece, if there is none.
    fn is_next_piece(&mut self) -> bool {
        let IterationSpace { shape, axis, tile, .. } = self.space;
        self.point[*axis] += tile;
        let is_inside = self.point[*axis] < shape[*axis];
        if !is_inside {
            self.point[*axis] = 0;
        }
        is_inside
    }

    /// Moves to the next row; false, and back at the first row, if there is none.
    fn is_next_row(&mut self) -> bool {
        for other in self.space.others() {
            self.point[other] += 1;
            if self.point[other] < self.space.shape[other] {
                return true;
            }
            self.point[other] = 0;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_in_one_item() {
        for shape in [&[1][..], &[7], &[3, 10], &[4, 1, 9], &[2, 3, 4, 5]] {
            for axis in 0..shape.len() {
                let ways = [(1, false), (4, false), (4, true), (64, true)];
                for (tile, by_piece, outer) in ways.into_iter().flat_map(|(tile, by_piece)| {
                    (0..shape.len()).map(move |outer| (tile, by_piece, outer))
                }) {
                    let mut rows = IterationSpace::new(shape, axis, tile, by_piece);
                    if outer != axis {
                        rows = rows.beside(outer);
                    }
                    let mut points = Vec::new();
                    let mut all = rows.cursor(0..rows.items());
                    for item in 0..rows.items() {
                        let n = all.advance().unwrap();
                        let point = all.point.clone();
                        let mut one = rows.cursor(item..item + 1);
                        assert_eq!((one.advance(), one.point), (Some(n), point.clone()));
                        assert!((1..=tile).contains(&n));
                        for k in 0..n {
                            let mut here = point.clone();
                            here[axis] += k;
                            assert!(here.iter().zip(shape).all(|(i, extent)| i < extent));
                            points.push(here);
                        }
                    }
                    assert_eq!(all.advance(), None);
                    let mut all = rows.cursor(0..rows.items());
                    let mut one_by_one = rows.cursor(0..rows.items());
                    while let Some(n) = all.advance() {
                        assert_eq!(one_by_one.advance(), Some(n));
                        let mut point = all.point.clone();
                        assert_eq!(one_by_one.point, point);
                        let most = if tile == 4 { 3 } else { usize::MAX };
                        for _ in 0..all.pass_beside(most) {
                            point[rows.outer.unwrap()] += 1;
                            assert_eq!(one_by_one.advance(), Some(n));
                            assert_eq!(one_by_one.point, point);
                        }
                        assert_eq!(all.point, point);
                    }
                    assert_eq!(one_by_one.advance(), None);
                    points.sort();
                    points.dedup();
                    assert_eq!(points.len(), shape.iter().product::<usize>());
                }
            }
        }
    }
}
