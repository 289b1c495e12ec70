//! Products of many small matrices, side by side.
//!
//! Owns [`ShortProducts`]. Element `(i, j)` of many matrices is a row of floats, so that vectors run across matrices,
//! and matrices of every shape cost alike. Products and sums are rounded separately, one term after another, so every
//! processor gives the same bits.
//!
//! Not here: how matrices come to lie so (`library_ops/short_product.rs`), larger matrices (`gemv.rs`, the crate
//! `gemm`).

use super::super::simd::{Real, Vector};

/// The matrices of a vector. With half as many, float64 took longer: too few sums are independent.
pub const MATRICES: usize = 16;

/// Columns whose sums are in registers at once.
const COLUMNS: usize = 4;

/// Products of some matrices, whose elements are rows of as many floats.
pub struct ShortProducts<T> {
    /// Rows, columns and terms of each.
    pub extents: [usize; 3],
    /// How many they are: a multiple of [`MATRICES`].
    pub count: usize,
    /// By row, then by term.
    pub a: *const T,
    /// By term, then by column.
    pub b: *const T,
    /// By row, then by column.
    pub c: *mut T,
}

impl<T: Real> ShortProducts<T> {
    /// Computes the products.
    ///
    /// # Safety
    /// All elements exist, and nothing else reads or writes the results meanwhile. There is at least a term.
    pub unsafe fn run(&self) {
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx512f")]
            unsafe fn with_avx512<T: Real>(products: &ShortProducts<T>) {
                // SAFETY: the elements exist, and the processor has these instructions.
                unsafe { products.by::<T::Avx512>() }
            }
            #[target_feature(enable = "avx2")]
            unsafe fn with_avx2<T: Real>(products: &ShortProducts<T>) {
                // SAFETY: the elements exist, and the processor has these instructions.
                unsafe { products.by::<T::Avx2>() }
            }
            // SAFETY: the processor has these instructions, as was checked; the elements exist.
            unsafe {
                if is_x86_feature_detected!("avx512f") {
                    return with_avx512(self);
                }
                if is_x86_feature_detected!("avx2") {
                    return with_avx2(self);
                }
            }
        }
        // SAFETY: the elements exist.
        unsafe { self.by::<[T; MATRICES]>() }
    }

    #[inline(always)]
    unsafe fn by<W: Vector<Real = T>>(&self) {
        let [rows, columns, _] = self.extents;
        let whole = columns - columns % COLUMNS;
        let lanes = (0..self.count).step_by(W::COUNT);
        for (lane, row) in lanes.flat_map(|lane| (0..rows).map(move |row| (lane, row))) {
            // SAFETY: the row and its columns are inside the results.
            unsafe {
                for column in (0..whole).step_by(COLUMNS) {
                    self.sums::<W, COLUMNS>(lane, row, column);
                }
                match columns - whole {
                    1 => self.sums::<W, 1>(lane, row, whole),
                    2 => self.sums::<W, 2>(lane, row, whole),
                    3 => self.sums::<W, 3>(lane, row, whole),
                    _ => {}
                }
            }
        }
    }

    /// Computes `N` elements of a row of the matrices from this one on.
    #[inline(always)]
    unsafe fn sums<W: Vector<Real = T>, const N: usize>(
        &self,
        lane: usize,
        row: usize,
        column: usize,
    ) {
        let ([_, columns, terms], pitch) = (self.extents, self.count);
        let a = self.a.wrapping_add(row * terms * pitch + lane);
        let b = self.b.wrapping_add(column * pitch + lane);
        let c = self.c.wrapping_add((row * columns + column) * pitch + lane);
        // SAFETY: rows, columns and terms are inside the matrices.
        unsafe {
            let mut sums = [W::all(T::default()); N];
            for term in 0..terms {
                let x = W::load(a.add(term * pitch));
                for (n, sum) in sums.iter_mut().enumerate() {
                    let y = W::load(b.add((term * columns + n) * pitch));
                    *sum = sum.and_product(x, y);
                }
            }
            for (n, sum) in sums.iter().enumerate() {
                sum.store(c.add(n * pitch));
            }
        }
    }
}
