//! Tiles: how a value's elements are cut into blocks.
//!
//! Owns [`Tiling`] and [`Tile`]. A tile is both a range in C order (so that it is contiguous in
//! host memory) and a box of coordinates (so that a kernel can walk over it affinely): leading axes
//! are fixed, one axis has a range, trailing axes are whole. An array no larger than the largest
//! block is one tile of its own size. Invariants: tiles follow each other without gaps; none is
//! longer than the largest block.
//!
//! Not here: what a driver holds for a tile (`cache/`).

use gpupy_core::shape::Shape;
use smallvec::SmallVec;
use std::ops::Range;

/// How a shape is cut.
#[derive(Clone, Debug)]
pub struct Tiling {
    shape: Shape,
    /// The axis that is cut; axes before it are fixed in a tile, axes after it whole.
    axis: usize,
    /// Extent of a tile along the axis; the last of a row may be shorter.
    chunk: usize,
    /// Elements behind one step of the axis.
    inner: usize,
}

/// One tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile {
    /// Its number.
    pub number: usize,
    /// Its positions in C order.
    pub range: Range<usize>,
    /// The coordinates of its first element.
    pub origin: Shape,
    /// Its extents.
    pub shape: Shape,
}

impl Tiling {
    /// Cuts `shape` into tiles of at most `max_len` (at least 1) elements.
    pub fn new(shape: &[usize], max_len: usize) -> Tiling {
        let max_len = max_len.max(1);
        let (mut axis, mut inner) = (shape.len(), 1);
        while axis > 0 {
            axis -= 1;
            // The cut is at the first axis, or at the last one that does not fit whole.
            if axis == 0 || inner * shape[axis] > max_len {
                break;
            }
            inner *= shape[axis];
        }
        let chunk =
            shape.get(axis).map_or(1, |extent| (max_len / inner.max(1)).clamp(1, (*extent).max(1)));
        Tiling { shape: shape.into(), axis, chunk, inner }
    }

    /// How many tiles there are; an empty value has none.
    #[cfg(test)]
    pub fn count(&self) -> usize {
        match self.shape.iter().product::<usize>() {
            0 => 0,
            len => self.number_at(len - 1) + 1,
        }
    }

    /// Whether it is one tile, or nothing.
    pub fn is_one(&self) -> bool {
        self.shape.get(self.axis).is_none_or(|extent| self.axis == 0 && *extent <= self.chunk)
    }

    /// The tile of a number below `count`.
    pub fn tile(&self, number: usize) -> Tile {
        let mut origin: Shape = SmallVec::from_elem(0, self.shape.len());
        let mut shape = self.shape.clone();
        let Some(extent) = self.shape.get(self.axis).copied() else {
            return Tile { number, range: 0..1, origin, shape };
        };
        let row = extent.div_ceil(self.chunk);
        let mut outer = number / row;
        let start = number % row * self.chunk;
        let first = (outer * extent + start) * self.inner;
        for axis in (0..self.axis).rev() {
            origin[axis] = outer % self.shape[axis];
            outer /= self.shape[axis];
            shape[axis] = 1;
        }
        origin[self.axis] = start;
        shape[self.axis] = self.chunk.min(extent - start);
        Tile { number, range: first..first + shape[self.axis] * self.inner, origin, shape }
    }

    /// The number of the tile that holds a position.
    pub fn number_at(&self, position: usize) -> usize {
        let Some(extent) = self.shape.get(self.axis) else {
            return 0;
        };
        let step = position / self.inner;
        step / extent * extent.div_ceil(self.chunk) + step % extent / self.chunk
    }

    /// The numbers of the tiles that meet a range of positions.
    pub fn numbers(&self, range: Range<usize>) -> Range<usize> {
        if range.is_empty() {
            return 0..0;
        }
        self.number_at(range.start)..self.number_at(range.end - 1) + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpupy_core::shape::size_of;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn tiles_follow_each_other_and_fit(
            shape in prop::collection::vec(1usize..7, 0..4), max_len in 1usize..50
        ) {
            let tiling = Tiling::new(&shape, max_len);
            let mut next = 0;
            prop_assert_eq!(tiling.is_one(), tiling.count() == 1);
            for number in 0..tiling.count() {
                let tile = tiling.tile(number);
                prop_assert_eq!(tile.range.start, next);
                prop_assert!(tile.range.len() <= max_len && !tile.range.is_empty());
                prop_assert_eq!(size_of(&tile.shape), tile.range.len());
                let first = tile.origin.iter().zip(&shape).fold(0, |p, (o, e)| p * e + o);
                prop_assert_eq!(first, tile.range.start);
                for position in tile.range.clone() {
                    prop_assert_eq!(tiling.number_at(position), number);
                }
                next = tile.range.end;
            }
            prop_assert_eq!(next, size_of(&shape));
            prop_assert!(size_of(&shape) > max_len || tiling.count() == 1);
        }
    }
}
