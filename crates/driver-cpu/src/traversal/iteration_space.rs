//! The iteration space of a launch as rows, and the strided accesses of inputs and destinations.
//!
//! Owns [`IterationSpace`] and [`StridedAccess`]. The points of a space are cut into *items*, each a row of at
//! most a tile along one axis. Invariant: every point is in exactly one item.
//!
//! Not here: the computation of a row (`run`), the axis of the rows (`axis_choice.rs`).

use gpupy_core::driver::Access;
use gpupy_jit::StridedPointer;
use smallvec::SmallVec;

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

/// A space, cut into rows.
pub struct IterationSpace {
    shape: Point,
    /// The axis that rows go along.
    pub axis: usize,
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
    pub fn new(shape: &[usize], axis: usize, tile: usize, by_piece: bool) -> IterationSpace {
        let pieces = shape[axis].div_ceil(tile);
        let rows = shape.iter().product::<usize>() / shape[axis];
        IterationSpace { shape: shape.into(), axis, tile, rows, pieces, by_piece }
    }

    /// The number of items.
    pub fn items(&self) -> usize {
        self.rows * self.pieces
    }

    /// Sets `point` to the first point of an item, and returns the number of its points.
    #[inline]
    pub fn item(&self, mut item: usize, point: &mut Point) -> usize {
        let piece;
        if self.by_piece {
            piece = item / self.rows;
            item %= self.rows;
        } else {
            piece = item % self.pieces;
            item /= self.pieces;
        }
        point.clear();
        point.resize(self.shape.len(), 0);
        for axis in (0..self.shape.len()).rev().filter(|axis| *axis != self.axis) {
            if item == 0 {
                break;
            }
            point[axis] = item % self.shape[axis];
            item /= self.shape[axis];
        }
        point[self.axis] = piece * self.tile;
        self.tile.min(self.shape[self.axis] - point[self.axis])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_is_in_one_item() {
        for shape in [&[1][..], &[7], &[3, 10], &[4, 1, 9], &[2, 3, 4, 5]] {
            for axis in 0..shape.len() {
                for (tile, by_piece) in [(1, false), (4, false), (4, true), (64, true)] {
                    let rows = IterationSpace::new(shape, axis, tile, by_piece);
                    let mut points = Vec::new();
                    let mut point = Point::new();
                    for item in 0..rows.items() {
                        let n = rows.item(item, &mut point);
                        assert!((1..=tile).contains(&n));
                        for k in 0..n {
                            let mut here = point.clone();
                            here[axis] += k;
                            assert!(here.iter().zip(shape).all(|(i, extent)| i < extent));
                            points.push(here);
                        }
                    }
                    points.sort();
                    points.dedup();
                    assert_eq!(points.len(), shape.iter().product::<usize>());
                }
            }
        }
    }
}
