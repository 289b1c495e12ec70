//! Sums of products for thin matrix products: rows of a matrix times a few vectors.
//!
//! Owns [`Strip`] and its two loops: [`Strip::dots`] where a row's elements lie side by side,
//! [`Strip::columns`] where a column's do. Products and sums are rounded separately, in an order that
//! depends on extents alone, so that every processor gives the same bits.
//!
//! Not here: how a product is cut into strips (`whole/thin.rs`).

use std::array::from_fn;
use std::ops::{Add, Mul, Neg, Sub};

/// A float of the processor.
pub trait Real:
    Copy
    + Default
    + Send
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + 'static
{
}
impl Real for f32 {}
impl Real for f64 {}

/// Some rows and terms of a matrix, and as many terms of `count` vectors.
///
/// Elements of the matrix lie side by side along terms for [`Strip::dots`], along rows for
/// [`Strip::columns`]; those of a vector always do. Nothing need be aligned.
pub struct Strip<T> {
    /// How many rows.
    pub rows: usize,
    /// How many terms a sum has.
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
    /// The sums: `rows` of them for each vector.
    pub sums: *mut T,
}

/// Columns that are added up at once: so often are sums not read and written.
const COLUMNS: usize = 16;

/// A method of strips, compiled for the processor at hand.
macro_rules! on_this_processor {
    ($(#[$doc:meta])* $name:ident, $inner:ident) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// All elements exist, and nobody else uses the sums.
        pub unsafe fn $name(&self) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f")]
                unsafe fn with_avx512<T: Real>(strip: &Strip<T>) {
                    // SAFETY: as for this function.
                    unsafe { strip.$inner() }
                }
                #[target_feature(enable = "avx2")]
                unsafe fn with_avx2<T: Real>(strip: &Strip<T>) {
                    // SAFETY: as for this function.
                    unsafe { strip.$inner() }
                }
                // SAFETY: the processor has what was asked for; the rest is the caller's.
                unsafe {
                    if is_x86_feature_detected!("avx512f") {
                        return with_avx512(self);
                    }
                    if is_x86_feature_detected!("avx2") {
                        return with_avx2(self);
                    }
                }
            }
            // SAFETY: the caller's.
            unsafe { self.$inner() }
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

    #[inline(always)]
    unsafe fn dots_here(&self) {
        let mut vector = 0;
        // SAFETY: the caller's; groups of vectors and rows stay inside the strip.
        unsafe {
            while vector < self.count {
                vector += match self.count - vector {
                    1 => self.dots_of::<4, 1>(vector),
                    _ => self.dots_of::<4, 2>(vector),
                };
            }
        }
    }

    /// All rows times `V` vectors, `R` rows at a time; gives `V`.
    #[inline(always)]
    unsafe fn dots_of<const R: usize, const V: usize>(&self, vector: usize) -> usize {
        // SAFETY: the caller's.
        unsafe {
            // Rows that are shorter than the running sums would be all remainder.
            match self.terms {
                0..4 => self.dots_in::<R, V, 1, 1>(vector),
                4..64 => self.dots_in::<R, V, 4, 4>(vector),
                _ => self.dots_in::<R, V, 16, 32>(vector),
            }
        }
        V
    }

    /// The same, with so many running sums a row, and so many for a row that is left over.
    #[inline(always)]
    unsafe fn dots_in<const R: usize, const V: usize, const LANES: usize, const ALONE: usize>(
        &self,
        vector: usize,
    ) {
        let together = self.rows - self.rows % R;
        // SAFETY: the caller's.
        unsafe {
            for row in (0..together).step_by(R) {
                self.put(row, vector, self.dot::<R, V, LANES>(row, vector));
            }
            for row in together..self.rows {
                self.put(row, vector, self.dot::<1, V, ALONE>(row, vector));
            }
        }
    }

    /// `R` rows times `V` vectors, with so many running sums for each.
    #[inline(always)]
    unsafe fn dot<const R: usize, const V: usize, const LANES: usize>(
        &self,
        row: usize,
        vector: usize,
    ) -> [[T; V]; R] {
        let row = |r: usize| self.matrix.wrapping_offset((row + r) as isize * self.stride);
        let of = |v: usize| self.vectors.wrapping_offset((vector + v) as isize * self.pitch);
        let (rows, vectors): ([_; R], [_; V]) = (from_fn(row), from_fn(of));
        let mut sums = [[[T::default(); LANES]; V]; R];
        let whole = self.terms - self.terms % LANES;
        let next = R as isize * self.stride;
        // SAFETY: the caller's; no term is named that does not exist.
        unsafe {
            for k in (0..whole).step_by(LANES) {
                let x: [[T; LANES]; V] = from_fn(|v| lanes(vectors[v].add(k)));
                for r in 0..R {
                    soon::<T, LANES>(rows[r].wrapping_offset(next + k as isize));
                    let y: [T; LANES] = lanes(rows[r].add(k));
                    for v in 0..V {
                        for l in 0..LANES {
                            sums[r][v][l] = sums[r][v][l] + y[l] * x[v][l];
                        }
                    }
                }
            }
            from_fn(|r| {
                from_fn(|v| {
                    let mut sum = folded(sums[r][v]);
                    for k in whole..self.terms {
                        let (x, y) = (vectors[v].add(k), rows[r].add(k));
                        sum = sum + y.read_unaligned() * x.read_unaligned();
                    }
                    sum
                })
            })
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
                // SAFETY: the caller's.
                unsafe { self.sums.add((vector + v) * self.rows + row + r).write(sum) }
            }
        }
    }

    #[inline(always)]
    unsafe fn columns_here(&self) {
        // SAFETY: the caller's; groups of columns stay inside the strip.
        unsafe {
            std::slice::from_raw_parts_mut(self.sums, self.count * self.rows).fill(T::default());
            let together = self.terms - self.terms % COLUMNS;
            for column in (0..together).step_by(COLUMNS) {
                self.add_columns::<COLUMNS>(column);
            }
            for column in together..self.terms {
                self.add_columns::<1>(column);
            }
        }
    }

    /// Adds `C` columns to the sums, each times its element of the vector.
    #[inline(always)]
    unsafe fn add_columns<const C: usize>(&self, column: usize) {
        const LANES: usize = 16;
        let at = |c: usize| self.matrix.wrapping_offset((column + c) as isize * self.stride);
        let columns: [_; C] = from_fn(at);
        let whole = self.rows - self.rows % LANES;
        for vector in 0..self.count {
            let of = self.vectors.wrapping_offset(vector as isize * self.pitch);
            let sums = self.sums.wrapping_add(vector * self.rows);
            // SAFETY: the caller's; no row or column is named that does not exist.
            unsafe {
                let x: [T; C] = from_fn(|c| of.add(column + c).read_unaligned());
                for row in (0..whole).step_by(LANES) {
                    let mut sum: [T; LANES] = lanes(sums.add(row));
                    for c in 0..C {
                        let y: [T; LANES] = lanes(columns[c].add(row));
                        for l in 0..LANES {
                            sum[l] = sum[l] + y[l] * x[c];
                        }
                    }
                    sums.add(row).cast::<[T; LANES]>().write_unaligned(sum);
                }
                for row in whole..self.rows {
                    let mut sum = sums.add(row).read();
                    for c in 0..C {
                        sum = sum + columns[c].add(row).read_unaligned() * x[c];
                    }
                    sums.add(row).write(sum);
                }
            }
        }
    }
}

/// # Safety
/// So many elements exist.
#[inline(always)]
unsafe fn lanes<T: Copy, const LANES: usize>(from: *const T) -> [T; LANES] {
    // SAFETY: the caller's.
    unsafe { from.cast::<[T; LANES]>().read_unaligned() }
}

/// Asks for the cache lines of so many elements, which need not exist. Processors find out by themselves
/// what comes next in a row, and begin anew with each row.
#[inline(always)]
fn soon<T, const LANES: usize>(elements: *const T) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..LANES * size_of::<T>()).step_by(64) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: fetching ahead reads nothing, wherever it points.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(elements.cast::<i8>().wrapping_add(line)) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = elements;
}

/// The sum of running sums: halves are added until one is left.
#[inline(always)]
fn folded<T: Real, const LANES: usize>(mut sums: [T; LANES]) -> T {
    let mut half = LANES / 2;
    while half > 0 {
        for l in 0..half {
            sums[l] = sums[l] + sums[l + half];
        }
        half /= 2;
    }
    sums[0]
}
