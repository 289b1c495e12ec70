//! Products of a matrix with its own transpose (syrk): covariances, Gram matrices, normal equations.
//!
//! Owns [`run`] and [`is_symmetric`]. Factors commute, and the sums of both halves have the same terms in the same
//! order, so only the tiles on and below the diagonal are computed, and those below are copied to their mirror
//! images: about half of the work of any other product.
//!
//! Not here: how a tile is computed (`multiply.rs`), other products (`gemm.rs`).

use super::multiply::multiply;
use super::product_tile::ProductTile;
use crate::threads::executor::Executor;
use crate::thresholds::T;
use gpupy_core::{DType, Result};
use std::ops::Range;

/// Whether both operands are the same elements, so that results on both sides of the diagonal are equal.
pub fn is_symmetric(piece: &ProductTile) -> bool {
    let [rows, columns, _] = piece.extents;
    rows == columns && piece.a == piece.b && piece.a_strides == piece.b_strides
}

/// The extent of tiles of symmetric results of this extent.
fn tile_of(extent: usize) -> usize {
    extent.div_ceil(T.mirrored_bands).next_multiple_of(T.mirrored_tile)
}

/// Evaluates symmetric products, each of which would take `time` nanoseconds if all its tiles were computed.
///
/// # Errors
/// - `OutOfMemory`: there is no room for packed operands.
pub fn run(
    dtype: DType,
    matrices: usize,
    product: &(dyn Fn(usize) -> ProductTile + Sync),
    executor: &mut Executor<'_>,
    time: u64,
) -> Result<()> {
    let [extent, ..] = product(0).extents;
    let each = tile_of(extent);
    let bands = extent.div_ceil(each);
    let tiles = bands * (bands + 1) / 2;
    let of = |band: usize| band * each..extent.min((band + 1) * each);
    let time = (time / 2).saturating_mul(matrices as u64);
    executor.share(matrices * tiles, time, &|items| {
        for number in items {
            let (whole, (row, column)) = (product(number / tiles), below_diagonal(number % tiles));
            let tile = whole.part(dtype.size(), of(row), of(column));
            // SAFETY: the contract guarantees that accesses name elements that exist; neither tiles nor their
            // mirror images overlap.
            unsafe {
                multiply(dtype, &tile)?;
                if row != column {
                    mirror(dtype, &whole, of(row), of(column));
                }
            }
        }
        Ok(())
    })
}

/// The row and column of a tile, of those on and below the diagonal.
fn below_diagonal(number: usize) -> (usize, usize) {
    let (mut row, mut column) = (0, number);
    while column > row {
        row += 1;
        column -= row;
    }
    (row, column)
}

/// Copies a tile's results to the other side of the diagonal.
///
/// # Safety
/// The results exist, the tile's are computed, and nothing else accesses the others meanwhile.
unsafe fn mirror(dtype: DType, whole: &ProductTile, rows: Range<usize>, columns: Range<usize>) {
    // SAFETY: as the caller guarantees; elements of one size are copied alike.
    unsafe {
        match dtype.size() {
            1 => mirror_sized::<1>(whole, rows, columns),
            2 => mirror_sized::<2>(whole, rows, columns),
            4 => mirror_sized::<4>(whole, rows, columns),
            8 => mirror_sized::<8>(whole, rows, columns),
            _ => mirror_sized::<16>(whole, rows, columns),
        }
    }
}

/// Copies elements of `N` bytes.
///
/// # Safety
/// As for [`mirror`].
unsafe fn mirror_sized<const N: usize>(
    whole: &ProductTile,
    rows: Range<usize>,
    columns: Range<usize>,
) {
    let results = whole.c.cast::<[u8; N]>();
    let at = |row: usize, column: usize| {
        let [along, across] = whole.c_strides;
        results.wrapping_offset(row as isize * along + column as isize * across)
    };
    for row in rows {
        for column in columns.clone() {
            // SAFETY: rows and columns are among the results, which exist; an array of bytes needs no alignment.
            unsafe { *at(column, row) = *at(row, column) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tile_on_and_below_the_diagonal_is_computed_once() {
        let found: Vec<_> = (0..10).map(below_diagonal).collect();
        let wanted: Vec<_> = (0..4).flat_map(|row| (0..=row).map(move |at| (row, at))).collect();
        assert_eq!(found, wanted);
    }
}
