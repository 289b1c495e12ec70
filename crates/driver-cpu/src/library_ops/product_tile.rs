//! Tiles of the results of matrix products.
//!
//! Owns [`ProductTile`]. Not here: how a product is cut (`gemm.rs`, `skinny_product.rs`).

use std::ops::Range;

/// A tile of the results of one product. Strides count elements.
#[derive(Clone, Copy)]
pub struct ProductTile {
    /// The number of rows, of columns, and of terms of each sum.
    pub extents: [usize; 3],
    pub a: *const u8,
    /// Along rows and along the sum.
    pub a_strides: [isize; 2],
    pub b: *const u8,
    /// Along columns and along the sum.
    pub b_strides: [isize; 2],
    pub c: *mut u8,
    /// Along rows and along columns.
    pub c_strides: [isize; 2],
}

impl ProductTile {
    /// The same with rows for columns: the transpose is the product of the transposed operands in the other order.
    pub fn turned(self) -> ProductTile {
        let ([m, n, k], [row, column]) = (self.extents, self.c_strides);
        ProductTile {
            extents: [n, m, k],
            a: self.b,
            a_strides: self.b_strides,
            b: self.a,
            b_strides: self.a_strides,
            c: self.c,
            c_strides: [column, row],
        }
    }

    /// The tile of some of its rows and columns.
    pub fn part(self, size: usize, rows: Range<usize>, columns: Range<usize>) -> ProductTile {
        let bytes = |from: usize, stride: isize| from as isize * stride * size as isize;
        let ([a, _], [b, _], [row, column]) = (self.a_strides, self.b_strides, self.c_strides);
        let c = self.c.wrapping_offset(bytes(rows.start, row) + bytes(columns.start, column));
        ProductTile {
            extents: [rows.len(), columns.len(), self.extents[2]],
            a: self.a.wrapping_offset(bytes(rows.start, a)),
            b: self.b.wrapping_offset(bytes(columns.start, b)),
            c,
            ..self
        }
    }
}
