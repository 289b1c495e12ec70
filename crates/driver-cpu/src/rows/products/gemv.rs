//! Matrix times vector (gemv): the dot products of skinny matrix products, rows of a matrix times a few
//! vectors.
//!
//! Owns [`Strip`] and its loops: [`Strip::dots`] for row-major matrices, [`Strip::columns`] for column-major ones,
//! [`Strip::short_columns`] for those of few rows. Products and sums are rounded separately, in an order that depends
//! on extents alone, so that every processor gives the same bits.
//!
//! Not here: how a product is cut into strips (`library_ops/skinny_product.rs`).

use super::super::simd::{Real, Vector};
use crate::thresholds::T;
use std::array::from_fn;

/// Some rows and terms of a matrix, and as many terms of `count` vectors.
///
/// The matrix is contiguous along terms for [`Strip::dots`] and along rows for the others; vectors are always
/// contiguous. Nothing need be aligned.
pub struct Strip<T> {
    /// How many rows.
    pub rows: usize,
    /// How many terms a sum has: at least one.
    pub terms: usize,
    /// The first element of the matrix.
    pub matrix: *const T,
    /// Elements from a row to the next, or from a column to the next.
    pub stride: isize,
    /// The first element of the first vector.
    pub vectors: *const T,
    /// Elements from a vector to the next.
    pub pitch: isize,
    /// How many vectors.
    pub count: usize,
    /// The sums: `rows` of them for each vector. They are written, whatever was there.
    pub sums: *mut T,
}

/// The most rows of [`Strip::short_columns`].
pub const SHORT_COLUMN: usize = 8;

/// Columns that are added at once, so that sums are read and written less often.
const COLUMNS: usize = 16;

/// A method of strips, compiled for the processor at hand.
macro_rules! on_this_processor {
    ($(#[$doc:meta])* $name:ident, $inner:ident) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// All elements exist, and nothing else reads or writes the sums meanwhile.
        pub unsafe fn $name(&self) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f")]
                unsafe fn with_avx512<T: Real>(strip: &Strip<T>) {
                    // SAFETY: the strip's elements exist, and the processor has these instructions.
                    unsafe { strip.$inner::<T::Avx512>() }
                }
                #[target_feature(enable = "avx2")]
                unsafe fn with_avx2<T: Real>(strip: &Strip<T>) {
                    // SAFETY: the strip's elements exist, and the processor has these instructions.
                    unsafe { strip.$inner::<T::Avx2>() }
                }
                // SAFETY: the processor has these instructions, as was checked; the strip's elements exist.
                unsafe {
                    if is_x86_feature_detected!("avx512f") {
                        return with_avx512(self);
                    }
                    if is_x86_feature_detected!("avx2") {
                        return with_avx2(self);
                    }
                }
            }
            // SAFETY: rows and vectors are in the strip, whose elements exist.
            unsafe { self.$inner::<[T; 16]>() }
        }
    };
}

impl<T: Real> Strip<T> {
    on_this_processor! {
        /// Computes the sums row by row: elements of a row lie side by side.
        dots, dots_here
    }
    on_this_processor! {
        /// Computes the sums column by column: elements of a column lie side by side.
        columns, columns_here
    }
    on_this_processor! {
        /// Like `columns` for 2 to [`SHORT_COLUMN`] rows, whose sums stay in registers, in another order.
        short_columns, short_columns_here
    }

    /// By vectors of 16 numbers.
    #[inline(always)]
    unsafe fn dots_here<W: Vector<Real = T>>(&self) {
        let mut vector = 0;
        // SAFETY: groups of vectors and rows stay inside the strip, whose elements exist.
        unsafe {
            while vector < self.count {
                vector += match self.count - vector {
                    1 => self.dots_of::<W, 4, 1>(vector),
                    _ => self.dots_of::<W, 4, 2>(vector),
                };
            }
        }
    }

    /// All rows times `V` vectors, `R` rows at a time; returns `V`.
    #[inline(always)]
    unsafe fn dots_of<W: Vector<Real = T>, const R: usize, const V: usize>(
        &self,
        vector: usize,
    ) -> usize {
        // SAFETY: rows and vectors are in the strip, whose elements exist.
        unsafe {
            // A row shorter than the accumulators would be all remainder.
            match self.terms {
                0..4 => self.dots_in::<T, T, R, V>(vector),
                4..64 => self.dots_in::<[T; 4], [T; 4], R, V>(vector),
                _ => self.dots_in::<W, [W; 2], R, V>(vector),
            }
        }
        V
    }

    /// All rows times `V` vectors, with one vector `W` of accumulators for each row, and `Alone` for rows left
    /// over.
    #[inline(always)]
    unsafe fn dots_in<W, Alone, const R: usize, const V: usize>(&self, vector: usize)
    where
        W: Vector<Real = T>,
        Alone: Vector<Real = T>,
    {
        let together = self.rows - self.rows % R;
        // SAFETY: rows and vectors are in the strip, whose elements exist.
        unsafe {
            for row in (0..together).step_by(R) {
                self.put(row, vector, self.dot::<W, R, V>(row, vector));
            }
            for row in together..self.rows {
                self.put(row, vector, self.dot::<Alone, 1, V>(row, vector));
            }
        }
    }

    /// `R` rows times `V` vectors, with one vector of accumulators for each pair.
    #[inline(always)]
    unsafe fn dot<W: Vector<Real = T>, const R: usize, const V: usize>(
        &self,
        row: usize,
        vector: usize,
    ) -> [[T; V]; R] {
        let row = |r: usize| self.matrix.wrapping_offset((row + r) as isize * self.stride);
        let of = |v: usize| self.vectors.wrapping_offset((vector + v) as isize * self.pitch);
        let (rows, vectors): ([_; R], [_; V]) = (from_fn(row), from_fn(of));
        let whole = self.terms - self.terms % W::COUNT;
        // Prefetches the same place of the next rows, unless rows are so long that it would be evicted before
        // its use.
        let next = (R as isize * self.stride).unsigned_abs() * size_of::<T>();
        let ahead = if next <= T.gemv_part {
            R as isize * self.stride
        } else {
            T.gemv_prefetch / size_of::<T>() as isize
        };
        // SAFETY: rows and vectors have `terms` terms, and the last ones are loaded partly.
        unsafe {
            let mut sums = [[W::all(T::default()); V]; R];
            for k in (0..whole).step_by(W::COUNT) {
                let mut x = [W::load(vectors[0].add(k)); V];
                for v in 1..V {
                    x[v] = W::load(vectors[v].add(k));
                }
                for r in 0..R {
                    soon::<W>(rows[r].wrapping_offset(ahead + k as isize));
                    let y = W::load(rows[r].add(k));
                    for v in 0..V {
                        sums[r][v] = sums[r][v].and_product(y, x[v]);
                    }
                }
            }
            let rest = self.terms - whole;
            if rest > 0 {
                let mut x = [W::load_first(vectors[0].add(whole), rest); V];
                for v in 1..V {
                    x[v] = W::load_first(vectors[v].add(whole), rest);
                }
                for r in 0..R {
                    let y = W::load_first(rows[r].add(whole), rest);
                    for v in 0..V {
                        sums[r][v] = sums[r][v].and_product(y, x[v]);
                    }
                }
            }
            let mut folded = [[T::default(); V]; R];
            for r in 0..R {
                for v in 0..V {
                    folded[r][v] = sums[r][v].folded();
                }
            }
            folded
        }
    }

    #[inline(always)]
    unsafe fn put<const R: usize, const V: usize>(
        &self,
        row: usize,
        vector: usize,
        sums: [[T; V]; R],
    ) {
        for (r, sums) in sums.into_iter().enumerate() {
            for (v, sum) in sums.into_iter().enumerate() {
                // SAFETY: rows and vectors are in the strip, whose elements exist.
                unsafe { self.sums.add((vector + v) * self.rows + row + r).write(sum) }
            }
        }
    }

    /// By vectors of 16 numbers.
    #[inline(always)]
    unsafe fn columns_here<W: Vector<Real = T>>(&self) {
        // SAFETY: groups of columns stay inside the strip, whose elements exist.
        unsafe {
            let together = self.terms - self.terms % COLUMNS;
            for column in (0..together).step_by(COLUMNS) {
                match column {
                    0 => self.add_columns::<W, COLUMNS, true>(column),
                    _ => self.add_columns::<W, COLUMNS, false>(column),
                }
            }
            for column in together..self.terms {
                match column {
                    0 => self.add_columns::<W, 1, true>(column),
                    _ => self.add_columns::<W, 1, false>(column),
                }
            }
        }
    }

    /// By the number of rows.
    #[inline(always)]
    unsafe fn short_columns_here<W: Vector<Real = T>>(&self) {
        // SAFETY: the columns have as many elements, which exist, and so do the sums.
        unsafe {
            match (self.rows, self.terms) {
                (2, ..8) => self.columns_of::<2, 1>(),
                (2, _) => self.columns_of::<2, 8>(),
                (3, ..8) => self.columns_of::<3, 1>(),
                (3, _) => self.columns_of::<3, 8>(),
                (4, ..8) => self.columns_of::<4, 1>(),
                (4, _) => self.columns_of::<4, 8>(),
                (5, ..4) => self.columns_of::<5, 1>(),
                (5, _) => self.columns_of::<5, 4>(),
                (6, ..4) => self.columns_of::<6, 1>(),
                (6, _) => self.columns_of::<6, 4>(),
                (7, ..4) => self.columns_of::<7, 1>(),
                (7, _) => self.columns_of::<7, 4>(),
                (8, ..4) => self.columns_of::<8, 1>(),
                (8, _) => self.columns_of::<8, 4>(),
                _ => self.columns_here::<W>(),
            }
        }
    }

    /// Columns of `R` elements. Each of `C` columns one after another has sums of its own, which are added at the end.
    #[inline(always)]
    unsafe fn columns_of<const R: usize, const C: usize>(&self) {
        for vector in 0..self.count {
            let of = self.vectors.wrapping_offset(vector as isize * self.pitch);
            // SAFETY: the columns are in the strip, whose elements exist, and so are the sums.
            unsafe {
                // A stride that the compiler knows, where columns lie one behind the other.
                let sums = match self.stride == R as isize {
                    true => self.short_sums::<R, C>(of, R as isize),
                    false => self.short_sums::<R, C>(of, self.stride),
                };
                self.sums.add(vector * R).cast::<[T; R]>().write_unaligned(sums);
            }
        }
    }

    /// The sums of all columns of `R` elements, each times its element of one vector.
    #[inline(always)]
    unsafe fn short_sums<const R: usize, const C: usize>(
        &self,
        vector: *const T,
        stride: isize,
    ) -> [T; R] {
        let mut sums = [[T::default(); R]; C];
        let whole = self.terms - self.terms % C;
        let add = |sums: &mut [T; R], column: usize| {
            // SAFETY: the column is in the strip, whose elements exist.
            let (elements, x) = unsafe {
                let at = self.matrix.wrapping_offset(column as isize * stride);
                (at.cast::<[T; R]>().read_unaligned(), vector.add(column).read_unaligned())
            };
            for (sum, element) in sums.iter_mut().zip(elements) {
                *sum = *sum + element * x;
            }
        };
        for first in (0..whole).step_by(C) {
            for (c, sums) in sums.iter_mut().enumerate() {
                add(sums, first + c);
            }
        }
        for column in whole..self.terms {
            add(&mut sums[column - whole], column);
        }
        let mut left = C;
        while left > 1 {
            left /= 2;
            let (first, second) = sums.split_at_mut(left);
            for (sums, others) in first.iter_mut().zip(second) {
                for (sum, other) in sums.iter_mut().zip(others) {
                    *sum = *sum + *other;
                }
            }
        }
        sums[0]
    }

    /// Adds `C` columns to the sums, each times its element of the vector; `FIRST` columns to zeros, as no sum has
    /// been written yet.
    #[inline(always)]
    unsafe fn add_columns<W: Vector<Real = T>, const C: usize, const FIRST: bool>(
        &self,
        column: usize,
    ) {
        let at = |c: usize| self.matrix.wrapping_offset((column + c) as isize * self.stride);
        let columns: [_; C] = from_fn(at);
        let whole = self.rows - self.rows % W::COUNT;
        for vector in 0..self.count {
            let of = self.vectors.wrapping_offset(vector as isize * self.pitch);
            let sums = self.sums.wrapping_add(vector * self.rows);
            // SAFETY: rows and columns are in the strip, and the last rows are loaded partly.
            unsafe {
                let x: [T; C] = from_fn(|c| of.add(column + c).read_unaligned());
                for row in (0..whole).step_by(W::COUNT) {
                    let mut sum = if FIRST { W::all(T::default()) } else { W::load(sums.add(row)) };
                    for c in 0..C {
                        sum = sum.and_product(W::load(columns[c].add(row)), W::all(x[c]));
                    }
                    sum.store(sums.add(row));
                }
                let rest = self.rows - whole;
                if rest > 0 {
                    let mut sum = match FIRST {
                        true => W::all(T::default()),
                        false => W::load_first(sums.add(whole), rest),
                    };
                    for c in 0..C {
                        let y = W::load_first(columns[c].add(whole), rest);
                        sum = sum.and_product(y, W::all(x[c]));
                    }
                    sum.store_first(sums.add(whole), rest);
                }
            }
        }
    }
}

/// Prefetches the cache lines of a vector, which need not exist. Processors predict the accesses along a row,
/// and start anew with each row.
#[inline(always)]
fn soon<W: Vector>(elements: *const W::Real) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..W::COUNT * size_of::<W::Real>()).step_by(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch of any address has no effect but on caches.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(elements.cast::<i8>().wrapping_add(line)) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = elements;
}
