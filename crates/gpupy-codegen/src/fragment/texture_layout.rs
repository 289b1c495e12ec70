//! The layout of a block's elements in a texture.
//!
//! Owns [`TextureLayout`] and `RowColumn`. Element `e` is in row `e / row` of the texture, at place
//! `e / row · pitch + e % row`. Place `p` is component `p % 4` of texel `p / 4`, counted row by row.
//! Invariant: unless rows are padded, places are element numbers.
//!
//! Not here: texture formats (`driver-gl`).

use crate::analysis::axis_coalescing::AffineWalk;
use crate::dialect::held;
use gpupy_core::DType;
use gpupy_core::driver::Access;

/// The texels of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TextureLayout {
    /// Texels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Elements in a row: the row's room, or up to three fewer.
    pub row: u32,
    /// Elements; the texture may have room for more.
    pub len: usize,
}

impl TextureLayout {
    /// A nearly square texture with a power of two as width. `None` if `len` elements exceed a texture of `max_size`
    /// texels each way.
    pub fn square(len: usize, max_size: u32) -> Option<TextureLayout> {
        let texels = len.div_ceil(4).max(1) as u64;
        let mut width = 1u32;
        while u64::from(width) * u64::from(width) < texels {
            width *= 2;
        }
        let height = texels.div_ceil(u64::from(width));
        (width <= max_size && height <= u64::from(max_size)).then_some(TextureLayout {
            width,
            height: height as u32,
            row: width * 4,
            len,
        })
    }

    /// A texture with one row for each `row` elements, padded to whole texels, if possible.
    pub fn rows(len: usize, row: usize, max_size: u32) -> Option<TextureLayout> {
        let fits = row > 0 && len.is_multiple_of(row);
        let (width, height) = (row.div_ceil(4), len.checked_div(row)?);
        let small = width <= max_size as usize && height <= max_size as usize;
        (fits && small).then_some(TextureLayout {
            width: width as u32,
            height: height as u32,
            row: row as u32,
            len,
        })
    }

    /// Places in a row of texels.
    pub fn pitch(&self) -> i64 {
        i64::from(self.width) * 4
    }

    /// True if rows end with unused places.
    pub fn is_padded(&self) -> bool {
        i64::from(self.row) < self.pitch()
    }

    /// True if each axis of an access goes along rows or from row to row, so that no place needs a division.
    pub fn suits(&self, walk: &Access, shape: &[usize]) -> bool {
        let shape: Vec<i64> = shape.iter().map(|n| *n as i64).collect();
        let walk = AffineWalk::of(walk, shape.len());
        let Some(walk) = self.in_places(&walk, &shape) else { return false };
        split(walk.offset, &walk.strides, &shape, self.pitch()).is_some()
    }

    /// A walk over elements as a walk over places. `None` if that is not affine.
    pub(super) fn in_places(&self, walk: &AffineWalk, shape: &[i64]) -> Option<AffineWalk> {
        if !self.is_padded() {
            return Some(walk.clone());
        }
        let (row, pitch) = (i64::from(self.row), self.pitch());
        let parts = split(walk.offset, &walk.strides, shape, row)?;
        // The condition under which `split`, which rounds strides to the nearest row, finds the same parts again.
        let short = parts.col_strides.iter().all(|col| col.abs() * 2 < row);
        let strides = parts.row_strides.iter().zip(&parts.col_strides);
        let walk = AffineWalk {
            offset: parts.row * pitch + parts.col,
            strides: strides.map(|(row, col)| row * pitch + col).collect(),
        };
        short.then_some(walk)
    }

    /// The number of texels, including unused ones.
    pub fn texels(&self) -> usize {
        self.width as usize * self.height as usize
    }
}

/// A walk over a texture as separate walks over rows and columns (of elements).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RowColumn {
    pub row: i64,
    pub col: i64,
    pub row_strides: Vec<i64>,
    pub col_strides: Vec<i64>,
}

/// Splits an affine walk, if no step along columns crosses the end of a row.
pub(super) fn split(offset: i64, strides: &[i64], shape: &[i64], pitch: i64) -> Option<RowColumn> {
    let (row, col) = (offset.div_euclid(pitch), offset.rem_euclid(pitch));
    let (mut low, mut high) = (col, col);
    let (mut row_strides, mut col_strides) = (Vec::new(), Vec::new());
    for (stride, n) in strides.iter().zip(shape) {
        // Rounded to the nearest row, so that short backward steps stay short.
        let rows = if *n > 1 { (stride + pitch / 2).div_euclid(pitch) } else { 0 };
        let cols = if *n > 1 { stride - rows * pitch } else { 0 };
        let reach = cols * (n - 1);
        low += reach.min(0);
        high += reach.max(0);
        row_strides.push(rows);
        col_strides.push(cols);
    }
    (low >= 0 && high < pitch).then_some(RowColumn { row, col, row_strides, col_strides })
}

/// The dtype of a block's texels in shaders: integers are widened, bools are 0 or 1, float16 is its bits.
pub(super) fn raw(dtype: DType) -> DType {
    match dtype {
        DType::Bool | DType::F16 => DType::U32,
        dtype => held(dtype),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_only_walks_that_stay_in_their_rows() {
        // The interior of an array of 8 columns, transposed, with rows reversed.
        let split = |offset, strides: &[i64], shape: &[i64]| split(offset, strides, shape, 8);
        let inner =
            split(9, &[8, 1], &[3, 6]).map(|s| (s.row, s.col, s.row_strides, s.col_strides));
        assert_eq!(inner, Some((1, 1, vec![1, 0], vec![0, 1])));
        assert!(split(7, &[8, -1], &[4, 8]).is_some());
        assert!(split(0, &[1, 8], &[8, 4]).is_some());
        // A flat walk over several rows crosses their ends.
        assert!(split(0, &[1], &[9]).is_none());
        assert!(split(1, &[8, 1], &[3, 8]).is_none());
    }

    #[test]
    fn walks_over_padded_rows_are_walks_over_places() {
        let layout = TextureLayout::rows(30, 6, 16384).expect("small enough");
        assert!(layout.is_padded() && layout.width == 2);
        let places = |offset, strides: &[i64], shape: &[i64]| {
            let walk = AffineWalk { offset, strides: strides.to_vec() };
            layout.in_places(&walk, shape).map(|w| (w.offset, w.strides))
        };
        assert_eq!(places(7, &[6, 1], &[3, 4]), Some((9, vec![8, 1])));
        assert_eq!(places(29, &[-6, -1], &[5, 6]), Some((37, vec![-8, -1])));
        assert_eq!(places(0, &[1], &[30]), None);
        assert_eq!(places(4, &[1], &[3]), None);
        assert_eq!(places(4, &[1], &[2]), Some((4, vec![1])));
    }

    #[test]
    fn square_layouts_hold_their_elements() {
        for len in [1, 3, 4, 5, 17, 1000, 1 << 20] {
            let layout = TextureLayout::square(len, 16384).expect("small enough");
            assert!(layout.texels() * 4 >= len && layout.width.is_power_of_two());
        }
        assert_eq!(TextureLayout::square(1 << 20, 128), None);
    }
}
