//! Products of matrices whose rows are vectors: each element of the left one times a row of the right one.
//!
//! Owns [`RowProducts`]. The sums of some rows and columns are in registers, and nothing is copied first. Products are
//! fused: a product and the sum with it are rounded once. Invariant: terms are added one after another, so that bits
//! depend neither on the processor nor on how results are cut into tiles.
//!
//! Not here: how matrices come to lie so (`library_ops/short_product.rs`), products with few vectors (`gemv.rs`).

use super::super::simd::{Real, Vector};
use crate::thresholds::T;

/// Vectors of columns whose sums are in registers at once.
const VECTORS: usize = 3;

/// Some products of one shape, a fixed number of elements from each other. Columns of right operands and of results
/// lie side by side. Nothing need be aligned.
pub struct RowProducts<T> {
    /// Rows, columns and terms of each.
    pub extents: [usize; 3],
    /// How many they are.
    pub count: usize,
    /// The first element of the first left operand; `b` and `c` are those of right ones and of results.
    pub a: *const T,
    /// From a matrix to the next, along rows and along terms.
    pub a_strides: [isize; 3],
    /// As `a`.
    pub b: *const T,
    /// From a matrix to the next, and along terms.
    pub b_strides: [isize; 2],
    /// As `a`.
    pub c: *mut T,
    /// From a matrix to the next, and along rows.
    pub c_strides: [isize; 2],
}

impl<T: Real> RowProducts<T> {
    /// Computes the products.
    ///
    /// # Safety
    /// All elements exist, and nothing else reads or writes the results meanwhile.
    pub unsafe fn run(&self) {
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx512f")]
            unsafe fn with_avx512<T: Real>(products: &RowProducts<T>) {
                // SAFETY: the elements exist, and the processor has these instructions.
                unsafe { products.by::<T::Register512, 8>() }
            }
            #[target_feature(enable = "avx2,fma")]
            unsafe fn with_avx2<T: Real>(products: &RowProducts<T>) {
                // SAFETY: the elements exist, and the processor has these instructions.
                unsafe { products.by::<T::Register256, 4>() }
            }
            // SAFETY: the processor has these instructions, as was checked; the elements exist.
            unsafe {
                if is_x86_feature_detected!("avx512f") {
                    return with_avx512(self);
                }
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    return with_avx2(self);
                }
            }
        }
        // SAFETY: the elements exist.
        unsafe { self.by::<[T; 4], 4>() }
    }

    /// By tiles of up to `MOST` rows.
    #[inline(always)]
    unsafe fn by<W: Vector<Real = T>, const MOST: usize>(&self) {
        let [rows, columns, terms] = self.extents;
        let vectors = columns.div_ceil(W::COUNT);
        // Tiles of nearly as many rows and vectors each.
        let height = rows.div_ceil(rows.div_ceil(MOST));
        let width = W::COUNT * vectors.div_ceil(vectors.div_ceil(VECTORS));
        // A right operand in the nearest cache is read again for the next rows, so that results are written in order.
        let is_near = columns * terms * size_of::<T>() <= T.gemv_part;
        let band = if is_near && width < columns { height } else { rows };
        for (number, row) in
            (0..self.count).flat_map(|number| (0..rows).step_by(band).map(move |row| (number, row)))
        {
            for column in (0..columns).step_by(width) {
                let (rows, columns) = (band.min(rows - row), width.min(columns - column));
                let tiles = self.at([number, row, column], [rows, columns]);
                // SAFETY: the rows and columns are in the matrices.
                unsafe {
                    match columns.div_ceil(W::COUNT) {
                        1 => tiles.columns::<W, 1, MOST>(height),
                        2 => tiles.columns::<W, 2, MOST>(height),
                        _ => tiles.columns::<W, VECTORS, MOST>(height),
                    }
                }
            }
        }
    }

    /// Some rows and columns of a product, from these on.
    #[inline(always)]
    fn at(&self, [number, row, column]: [usize; 3], [rows, columns]: [usize; 2]) -> Self {
        let [number, row] = [number, row].map(|at| at as isize);
        let a = number * self.a_strides[0] + row * self.a_strides[1];
        let c = number * self.c_strides[0] + row * self.c_strides[1];
        RowProducts {
            extents: [rows, columns, self.extents[2]],
            count: 1,
            a: self.a.wrapping_offset(a),
            b: self.b.wrapping_offset(number * self.b_strides[0]).wrapping_add(column),
            c: self.c.wrapping_offset(c).wrapping_add(column),
            ..*self
        }
    }

    /// The first product, which has `V` vectors of columns, by tiles of `height` rows.
    #[inline(always)]
    unsafe fn columns<W: Vector<Real = T>, const V: usize, const MOST: usize>(
        &self,
        height: usize,
    ) {
        let [rows, columns, _] = self.extents;
        let last = columns - (V - 1) * W::COUNT;
        for row in (0..rows).step_by(height) {
            // SAFETY: the rows are in the matrices.
            unsafe {
                match height.min(rows - row) {
                    1 => self.tile::<W, 1, V>(row, last),
                    2 => self.tile::<W, 2, V>(row, last),
                    3 => self.tile::<W, 3, V>(row, last),
                    5 if MOST > 4 => self.tile::<W, 5, V>(row, last),
                    6 if MOST > 4 => self.tile::<W, 6, V>(row, last),
                    7 if MOST > 4 => self.tile::<W, 7, V>(row, last),
                    8 if MOST > 4 => self.tile::<W, 8, V>(row, last),
                    _ => self.tile::<W, 4, V>(row, last),
                }
            }
        }
    }

    /// `R` rows of `V` vectors, the last of which has `last` columns.
    #[inline(always)]
    unsafe fn tile<W: Vector<Real = T>, const R: usize, const V: usize>(
        &self,
        row: usize,
        last: usize,
    ) {
        let ([_, along, step], [_, down]) = (self.a_strides, self.b_strides);
        let a = self.a.wrapping_offset(row as isize * along);
        let c = self.c.wrapping_offset(row as isize * self.c_strides[1]);
        // SAFETY: rows, columns and terms are in the matrices.
        unsafe {
            let mut sums = [[W::all(T::default()); V]; R];
            for term in 0..self.extents[2] as isize {
                let a = a.wrapping_offset(term * step);
                let b = self.b.wrapping_offset(term * down);
                let mut y = [W::load_first(b.wrapping_add((V - 1) * W::COUNT), last); V];
                for (v, y) in y[..V - 1].iter_mut().enumerate() {
                    *y = W::load(b.add(v * W::COUNT));
                }
                for (r, sums) in sums.iter_mut().enumerate() {
                    let x = W::all(a.wrapping_offset(r as isize * along).read_unaligned());
                    for (sum, y) in sums.iter_mut().zip(y) {
                        *sum = sum.and_fused_product(x, y);
                    }
                }
            }
            for (r, sums) in sums.iter().enumerate() {
                let c = c.wrapping_offset(r as isize * self.c_strides[1]);
                for (v, sum) in sums[..V - 1].iter().enumerate() {
                    sum.store(c.add(v * W::COUNT));
                }
                sums[V - 1].store_first(c.wrapping_add((V - 1) * W::COUNT), last);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows, columns and terms around the extents of tiles and vectors.
    const EXTENTS: [usize; 12] = [1, 2, 3, 4, 5, 8, 9, 13, 16, 17, 25, 50];

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    unsafe fn by_avx2<T: Real>(products: &RowProducts<T>) {
        // SAFETY: the caller keeps the conditions.
        unsafe { products.by::<T::Register256, 4>() }
    }

    /// Three products with gaps between rows, and left operands by columns where `turned`, in each of three ways.
    fn check<T: Real + std::fmt::Debug + PartialEq>(
        [m, n, k]: [usize; 3],
        turned: bool,
        number: impl Fn(usize) -> T,
    ) {
        let numbers = |count: usize, from: usize| -> Vec<T> {
            (0..count).map(|at| number(at * 7 + from)).collect()
        };
        let (count, a, b) = (3, numbers(3 * m * k, 1), numbers(3 * k * (n + 2), 5));
        let [down, along] = if turned { [1, m] } else { [k, 1] };
        let pitch = n + 1;
        let mut want = vec![number(0); count * m * pitch];
        for (number, row) in (0..count).flat_map(|number| (0..m).map(move |row| (number, row))) {
            for column in 0..n {
                let factor = |term: usize| {
                    let a = a[number * m * k + row * down + term * along];
                    (a, b[(number * k + term) * (n + 2) + column])
                };
                // SAFETY: a float needs no instructions.
                let sum = (0..k)
                    .map(factor)
                    .fold(T::default(), |sum, (x, y)| unsafe { sum.and_fused_product(x, y) });
                want[(number * m + row) * pitch + column] = sum;
            }
        }
        let by = |run: &dyn Fn(&RowProducts<T>)| {
            let mut got = vec![number(0); count * m * pitch];
            run(&RowProducts {
                extents: [m, n, k],
                count,
                a: a.as_ptr(),
                a_strides: [m * k, down, along].map(|stride| stride as isize),
                b: b.as_ptr(),
                b_strides: [k * (n + 2), n + 2].map(|stride| stride as isize),
                c: got.as_mut_ptr(),
                c_strides: [m * pitch, pitch].map(|stride| stride as isize),
            });
            assert_eq!(got, want, "{m} by {k} times {k} by {n}, turned: {turned}");
        };
        // SAFETY: the elements exist, and the processor has the instructions.
        unsafe {
            by(&|products| products.run());
            by(&|products| products.by::<[T; 4], 4>());
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                by(&|products| by_avx2(products));
            }
        }
    }

    #[test]
    fn every_processor_adds_the_same_fused_products_and_writes_nothing_else() {
        let scaled = |at: usize| (at.wrapping_mul(0x9e37_79b9) % 65_521) as f64 / 257.0 - 100.0;
        for (m, n) in EXTENTS.into_iter().flat_map(|m| EXTENTS.map(|n| (m, n))) {
            for k in [1, 2, 7, 90] {
                check([m, n, k], m % 2 == 0, scaled);
                check([m, n, k], m % 2 == 1, |at| scaled(at) as f32);
            }
        }
    }
}
