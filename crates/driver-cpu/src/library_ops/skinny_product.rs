//! Thin matrix products: a matrix times a few vectors, or a few rows times a matrix, of floats.
//!
//! Owns [`run`] and [`suits`]. What limits them is how fast the large matrix is read, so it is read
//! once, in the order in which it lies, by all threads: in *strips* of some rows and some terms. Where
//! terms are cut too, sums of the strips are added up afterwards. Complex numbers are two real ones:
//! a row of them times a vector is two rows of real dot products.
//! Invariant: strips depend on extents alone, so bits do not depend on threads.
//!
//! Not here: loops (`rows/gemv.rs`), other products (`matmul.rs`).

use super::product_tile::ProductTile;
use crate::rows::{Real, Strip};
use crate::threads::executor::Executor;
use gpupy_core::ir::PRODUCT_CHUNK;
use gpupy_core::{DType, Result, memory};
use std::ops::Range;

/// The most vectors of a thin product.
const THIN: usize = 4;
/// Elements of a strip of columns, roughly: some microseconds' work.
const STRIP: usize = 1 << 16;
/// Those of a strip of rows, whose sums need not be added up: less than a microsecond's.
const ROWS: usize = 1 << 14;
/// Bytes of a vector's part, or of sums, that stay in the nearest cache.
const NEAR: usize = 16 << 10;
/// The fewest terms of a strip that is cut along them, so that adding up its sums does not count.
const TERMS: usize = 128;

/// A product as a matrix times vectors.
struct SkinnyProduct {
    rows: usize,
    terms: usize,
    vectors: usize,
    matrix: *const u8,
    /// Along rows and along terms.
    matrix_strides: [isize; 2],
    vector: *const u8,
    /// From vector to vector and along terms.
    vector_strides: [isize; 2],
    results: *mut u8,
    /// Along rows and from vector to vector.
    result_strides: [isize; 2],
}

impl SkinnyProduct {
    fn of(piece: &ProductTile) -> SkinnyProduct {
        let [m, n, terms] = piece.extents;
        let (a, b) = ((piece.a, piece.a_strides), (piece.b, piece.b_strides));
        let [row, column] = piece.c_strides;
        let [(rows, matrix, along), (vectors, vector, across)] =
            if n <= m { [(m, a, row), (n, b, column)] } else { [(n, b, column), (m, a, row)] };
        SkinnyProduct {
            rows,
            terms,
            vectors,
            matrix: matrix.0,
            matrix_strides: matrix.1,
            vector: vector.0,
            vector_strides: vector.1,
            results: piece.c,
            result_strides: [along, across],
        }
    }

    /// Whether elements lie side by side along terms, or else along rows. Those of a single row are put so.
    fn along_terms(&self) -> Option<bool> {
        match (self.rows, self.matrix_strides) {
            (1, _) | (_, [_, 1]) => Some(true),
            (_, [1, _]) => Some(false),
            _ => None,
        }
    }
}

/// Whether a product is a thin one.
pub fn suits(dtype: DType, piece: &ProductTile) -> bool {
    let float = matches!(dtype, DType::F32 | DType::F64 | DType::C64 | DType::C128);
    let thin = SkinnyProduct::of(piece);
    float && thin.vectors <= THIN && thin.terms > 0 && thin.along_terms().is_some()
}

/// Evaluates thin products, which differ only in where they lie, in so many nanoseconds.
///
/// # Errors
/// - `OutOfMemory`: there is no room for the sums of strips.
pub fn run(
    dtype: DType,
    matrices: usize,
    piece: &(dyn Fn(usize) -> ProductTile + Sync),
    executor: &mut Executor<'_>,
    time: u64,
) -> Result<()> {
    match dtype {
        DType::F32 => run_on::<f32, 1>(matrices, piece, executor, time),
        DType::C64 => run_on::<f32, 2>(matrices, piece, executor, time),
        DType::C128 => run_on::<f64, 2>(matrices, piece, executor, time),
        _ => run_on::<f64, 1>(matrices, piece, executor, time),
    }
}

/// How products are cut into strips.
struct Cuts {
    along_terms: bool,
    rows: usize,
    rows_each: usize,
    terms: usize,
    terms_each: usize,
    vectors: usize,
}

impl Cuts {
    fn of(thin: &SkinnyProduct, size: usize) -> Cuts {
        let along_terms = thin.along_terms().unwrap_or_default();
        let near = NEAR / size;
        let (rows_each, terms_each) = if along_terms {
            let terms = thin.terms.min(near);
            ((ROWS / terms).next_multiple_of(4), terms)
        } else {
            let rows = thin.rows.min(near);
            (rows, (STRIP / rows).clamp(TERMS, PRODUCT_CHUNK))
        };
        let SkinnyProduct { rows, terms, vectors, .. } = *thin;
        Cuts { along_terms, rows, rows_each, terms, terms_each, vectors }
    }

    /// Into how many strips rows are cut, and terms.
    fn strips(&self) -> [usize; 2] {
        [self.rows.div_ceil(self.rows_each), self.terms.div_ceil(self.terms_each)]
    }

    /// How many sums so many rows have, in reals.
    fn sums<const PARTS: usize>(&self, rows: usize) -> usize {
        let rows = if self.along_terms { rows } else { rows * PARTS };
        rows * self.vectors * PARTS
    }

    fn rows_of(&self, number: usize) -> Range<usize> {
        number * self.rows_each..self.rows.min((number + 1) * self.rows_each)
    }

    fn terms_of(&self, number: usize) -> Range<usize> {
        number * self.terms_each..self.terms.min((number + 1) * self.terms_each)
    }
}

/// The sums of strips, which threads write in different places.
struct Sums<T>(*mut T);

// SAFETY: as the type says.
unsafe impl<T> Sync for Sums<T> {}

/// As [`run`], for numbers of `PARTS` reals: 1, or of complex numbers 2.
fn run_on<T: Real, const PARTS: usize>(
    matrices: usize,
    piece: &(dyn Fn(usize) -> ProductTile + Sync),
    executor: &mut Executor<'_>,
    time: u64,
) -> Result<()> {
    let cuts = Cuts::of(&SkinnyProduct::of(&piece(0)), size_of::<T>() * PARTS);
    let [row_strips, term_strips] = cuts.strips();
    let strips = row_strips * term_strips;
    let each = cuts.sums::<PARTS>(cuts.rows_each.min(cuts.rows));
    let shared = if term_strips > 1 { matrices * strips * each } else { 0 };
    let mut all = memory::filled(T::default(), shared)?;
    let to = Sums(all.as_mut_ptr());
    executor.share(matrices * strips, time.saturating_mul(matrices as u64), &|items| {
        let to = &to;
        let (mut own, mut packed) = (Vec::new(), Vec::new());
        let mut next = items.start;
        while next < items.end {
            let matrix = next / strips;
            let end = items.end.min((matrix + 1) * strips);
            let thin = SkinnyProduct::of(&piece(matrix));
            // SAFETY: the core promises that accesses name elements that exist; every strip has
            // sums of its own, and rows of results are one strip's where terms are not cut.
            unsafe {
                if term_strips == 1 {
                    // Strips that are taken together are one.
                    let last = cuts.rows_of((end - 1) % strips);
                    let rows = cuts.rows_of(next % strips).start..last.end;
                    thin.whole_rows::<T, PARTS>(&cuts, rows, &mut packed, &mut own)?;
                } else {
                    for number in next..end {
                        let rows = cuts.rows_of(number % strips / term_strips);
                        let terms = cuts.terms_of(number % term_strips);
                        let sums = to.0.add(number * each);
                        thin.strip::<T, PARTS>(&cuts, rows, terms, &mut packed, sums)?;
                    }
                }
            }
            next = end;
        }
        Ok(())
    })?;
    if term_strips == 1 {
        return Ok(());
    }
    for (number, sums) in all.chunks_exact_mut(term_strips * each).enumerate() {
        let (first, others) = sums.split_at_mut(each);
        for other in others.chunks_exact(each) {
            first.iter_mut().zip(other).for_each(|(sum, more)| *sum = *sum + *more);
        }
        let thin = SkinnyProduct::of(&piece(number / row_strips));
        // SAFETY: as above; no thread works any more.
        unsafe {
            thin.put::<T, PARTS>(&cuts, cuts.rows_of(number % row_strips), first.as_ptr());
        }
    }
    Ok(())
}

impl SkinnyProduct {
    /// Computes the results of some rows, of which all terms are in one strip.
    ///
    /// # Safety
    /// The elements exist, and nobody else uses the results.
    unsafe fn whole_rows<T: Real, const PARTS: usize>(
        &self,
        cuts: &Cuts,
        rows: Range<usize>,
        packed: &mut Vec<T>,
        own: &mut Vec<T>,
    ) -> Result<()> {
        let first = self.results.cast::<T>().wrapping_add(rows.start);
        let sums_are_results = PARTS == 1 && self.vectors == 1 && self.result_strides[0] == 1;
        // SAFETY: the caller's; there is room for the sums.
        unsafe {
            if sums_are_results && first.is_aligned() {
                return self.strip::<T, PARTS>(cuts, rows, 0..self.terms, packed, first);
            }
            let count = cuts.sums::<PARTS>(rows.len());
            memory::reserve(own, count.saturating_sub(own.len()))?;
            own.resize(count, T::default());
            let sums = own.as_mut_ptr();
            self.strip::<T, PARTS>(cuts, rows.clone(), 0..self.terms, packed, sums)?;
            self.put::<T, PARTS>(cuts, rows, sums);
        }
        Ok(())
    }

    /// Computes the sums of a strip: those of each real vector stand behind those of the one before.
    ///
    /// # Safety
    /// The elements exist, there is room for the sums, and nobody else uses them.
    unsafe fn strip<T: Real, const PARTS: usize>(
        &self,
        cuts: &Cuts,
        rows: Range<usize>,
        terms: Range<usize>,
        packed: &mut Vec<T>,
        sums: *mut T,
    ) -> Result<()> {
        let [row, term] = self.matrix_strides.map(|stride| stride * PARTS as isize);
        let matrix = self.matrix.cast::<T>();
        let mut matrix =
            matrix.wrapping_offset(rows.start as isize * row + terms.start as isize * term);
        let mut beside_each_other = Vec::new();
        if cuts.along_terms && self.matrix_strides[1] != 1 {
            memory::reserve(&mut beside_each_other, terms.len() * PARTS)?;
            for at in 0..terms.len() * PARTS {
                let from =
                    matrix.wrapping_offset((at / PARTS) as isize * term + (at % PARTS) as isize);
                // SAFETY: the caller's.
                beside_each_other.push(unsafe { from.read_unaligned() });
            }
            matrix = beside_each_other.as_ptr();
        }
        let beside = PARTS == 1 && (self.vector_strides[1] == 1 || terms.len() == 1);
        let (vectors, pitch) = if beside {
            // Of a single term the stride is any.
            let first = terms.start as isize * self.vector_strides[1];
            (self.vector.cast::<T>().wrapping_offset(first), self.vector_strides[0])
        } else {
            packed.clear();
            memory::reserve(packed, self.vectors * PARTS * terms.len() * PARTS)?;
            // SAFETY: the caller's.
            unsafe { self.pack::<T, PARTS>(cuts.along_terms, terms.clone(), packed) };
            (packed.as_ptr(), (packed.len() / (self.vectors * PARTS)) as isize)
        };
        let count = self.vectors * PARTS;
        // SAFETY: the caller's.
        unsafe {
            if cuts.along_terms {
                let (rows, terms) = (rows.len(), terms.len() * PARTS);
                Strip { rows, terms, matrix, stride: row, vectors, pitch, count, sums }.dots();
            } else {
                let (rows, terms) = (rows.len() * PARTS, terms.len());
                Strip { rows, terms, matrix, stride: term, vectors, pitch, count, sums }.columns();
            }
        }
        Ok(())
    }

    /// Packs terms of the vectors, complex ones so that they are multiplied with reals: for rows, as
    /// a vector that gives the real part and one that gives the imaginary part; for columns, as their
    /// real parts and their imaginary parts.
    ///
    /// # Safety
    /// The terms exist.
    unsafe fn pack<T: Real, const PARTS: usize>(
        &self,
        along_terms: bool,
        terms: Range<usize>,
        packed: &mut Vec<T>,
    ) {
        for vector in 0..self.vectors {
            for part in 0..PARTS {
                for term in terms.clone() {
                    let [from, step] = self.vector_strides;
                    let at = vector as isize * from + term as isize * step;
                    let at = self.vector.cast::<T>().wrapping_offset(at * PARTS as isize);
                    // SAFETY: the caller's.
                    let of = |k: usize| unsafe { at.wrapping_add(k).read_unaligned() };
                    match (PARTS, along_terms, part) {
                        (1, ..) | (_, false, _) => packed.push(of(part)),
                        (_, true, 0) => packed.extend([of(0), -of(1)]),
                        (_, true, _) => packed.extend([of(1), of(0)]),
                    }
                }
            }
        }
    }

    /// Puts the results of some rows where they belong.
    ///
    /// # Safety
    /// The results and sums exist, and nobody else uses the results.
    unsafe fn put<T: Real, const PARTS: usize>(
        &self,
        cuts: &Cuts,
        rows: Range<usize>,
        sums: *const T,
    ) {
        let each = cuts.sums::<PARTS>(rows.len()) / (self.vectors * PARTS);
        for vector in 0..self.vectors {
            // SAFETY: the caller's.
            let sum = |part: usize, at: usize| unsafe {
                sums.add((vector * PARTS + part) * each + at).read()
            };
            for (r, row) in rows.clone().enumerate() {
                let [along, across] = self.result_strides;
                let at = row as isize * along + vector as isize * across;
                let to = self.results.cast::<T>().wrapping_offset(at * PARTS as isize);
                let parts = match (PARTS, cuts.along_terms) {
                    (1, _) => [sum(0, r), T::default()],
                    (_, true) => [sum(0, r), sum(1, r)],
                    (_, false) => {
                        let (real, imaginary) = (2 * r, 2 * r + 1);
                        [sum(0, real) - sum(1, imaginary), sum(0, imaginary) + sum(1, real)]
                    }
                };
                for (k, part) in parts.into_iter().enumerate().take(PARTS) {
                    // SAFETY: the caller's.
                    unsafe { to.wrapping_add(k).write_unaligned(part) }
                }
            }
        }
    }
}
