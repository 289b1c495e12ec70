//! Skinny matrix products (gemv): a matrix times a few vectors, or a few rows times a matrix, of floats.
//!
//! Owns [`run`] and [`suits`]. Such products are limited by the bandwidth of the large matrix. So threads read
//! it once, in the order in which it lies in memory, in *strips* of some rows and some terms. Where terms are
//! cut too, the sums of the strips are added afterwards. A complex product is two real ones: a row times a
//! vector is two rows of real dot products. Invariant: strips depend on extents alone, so bits do not depend on
//! the number of threads.
//!
//! Not here: loops (`rows/products/gemv.rs`), other products (`gemm.rs`).

use super::product_tile::ProductTile;
use crate::rows::{Real, SHORT_COLUMN, Strip};
use crate::threads::executor::Executor;
use crate::thresholds::T;
use gpupy_core::ir::PRODUCT_CHUNK;
use gpupy_core::{DType, Result, memory};
use std::ops::Range;
use std::slice;

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

    /// Whether the matrix is contiguous along terms (true) or along rows (false); `None` for neither. A single
    /// row is copied to be contiguous.
    fn along_terms(&self) -> Option<bool> {
        match (self.rows, self.matrix_strides) {
            (1, _) | (_, [_, 1]) => Some(true),
            (_, [1, _]) => Some(false),
            _ => None,
        }
    }
}

/// Whether a product is skinny, and can be computed here.
pub fn suits(dtype: DType, piece: &ProductTile) -> bool {
    let float = matches!(dtype, DType::F32 | DType::F64 | DType::C64 | DType::C128);
    let skinny = SkinnyProduct::of(piece);
    let few_vectors = skinny.vectors <= T.skinny_vectors;
    float && few_vectors && skinny.terms > 0 && skinny.along_terms().is_some()
}

/// Evaluates skinny products, which differ from the first only in their addresses, and take `time` nanoseconds each.
///
/// # Errors
/// - `OutOfMemory`: there is no memory for the sums of strips.
pub fn run(
    dtype: DType,
    matrices: usize,
    first: &ProductTile,
    piece: &(dyn Fn(usize) -> ProductTile + Sync),
    executor: &mut Executor<'_>,
    time: u64,
) -> Result<()> {
    let first = SkinnyProduct::of(first);
    match dtype {
        DType::F32 => run_on::<f32, 1>(matrices, &first, piece, executor, time),
        DType::C64 => run_on::<f32, 2>(matrices, &first, piece, executor, time),
        DType::C128 => run_on::<f64, 2>(matrices, &first, piece, executor, time),
        _ => run_on::<f64, 1>(matrices, &first, piece, executor, time),
    }
}

/// Appends `count` elements of `PARTS` numbers, `step` numbers one from the next.
///
/// # Safety
/// The elements exist.
unsafe fn append<T: Real, const PARTS: usize>(
    to: &mut Vec<T>,
    from: *const T,
    step: isize,
    count: usize,
) {
    // SAFETY: the caller promises that these elements exist.
    let number = |at: isize| unsafe { from.wrapping_offset(at).read_unaligned() };
    match PARTS {
        1 => to.extend((0..count as isize).map(|k| number(k * step))),
        _ => {
            let parts = PARTS as isize;
            let numbers = count as isize * parts;
            to.extend((0..numbers).map(|k| number(k / parts * step + k % parts)));
        }
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
    fn of(skinny: &SkinnyProduct, size: usize) -> Cuts {
        let along_terms = skinny.along_terms().unwrap_or_default();
        let near = T.skinny_part / size;
        let (rows_each, terms_each) = if along_terms {
            let terms = skinny.terms.min(near);
            ((T.row_strip / terms).next_multiple_of(4), terms)
        } else {
            let rows = skinny.rows.min(near);
            (rows, (T.column_strip / rows).clamp(T.strip_terms, PRODUCT_CHUNK))
        };
        let SkinnyProduct { rows, terms, vectors, .. } = *skinny;
        Cuts { along_terms, rows, rows_each, terms, terms_each, vectors }
    }

    /// The number of strips along rows, and along terms.
    fn strips(&self) -> [usize; 2] {
        [self.rows.div_ceil(self.rows_each), self.terms.div_ceil(self.terms_each)]
    }

    /// The number of sums of `rows` rows, in real numbers.
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

/// The sums of strips. Threads write disjoint parts.
struct Sums<T>(*mut T);

// SAFETY: each strip has its own part of the sums, and each strip is computed by one thread.
unsafe impl<T> Sync for Sums<T> {}

/// Like [`run`], for elements of `PARTS` real numbers: 1, or 2 for complex numbers.
fn run_on<T: Real, const PARTS: usize>(
    matrices: usize,
    first: &SkinnyProduct,
    piece: &(dyn Fn(usize) -> ProductTile + Sync),
    executor: &mut Executor<'_>,
    time: u64,
) -> Result<()> {
    let cuts = Cuts::of(first, size_of::<T>() * PARTS);
    let [row_strips, term_strips] = cuts.strips();
    let strips = row_strips * term_strips;
    let each = cuts.sums::<PARTS>(cuts.rows_each.min(cuts.rows));
    let shared = if term_strips > 1 { matrices * strips * each } else { 0 };
    let mut all: Vec<T> = memory::with_room(shared)?;
    let to = Sums(all.as_mut_ptr());
    executor.share(matrices * strips, time.saturating_mul(matrices as u64), &|items| {
        let to = &to;
        let (mut own, mut packed) = (Vec::new(), Vec::new());
        let mut next = items.start;
        while next < items.end {
            let matrix = next / strips;
            let end = items.end.min((matrix + 1) * strips);
            let skinny = SkinnyProduct::of(&piece(matrix));
            // SAFETY: the contract guarantees that accesses name elements that exist; every strip has
            // its own sums, and its own rows of results where terms are not cut.
            unsafe {
                if term_strips == 1 {
                    // Consecutive strips are computed as one.
                    let last = cuts.rows_of((end - 1) % strips);
                    let rows = cuts.rows_of(next % strips).start..last.end;
                    skinny.whole_rows::<T, PARTS>(&cuts, rows, &mut packed, &mut own)?;
                } else {
                    for number in next..end {
                        let rows = cuts.rows_of(number % strips / term_strips);
                        let terms = cuts.terms_of(number % term_strips);
                        let sums = to.0.add(number * each);
                        skinny.strip::<T, PARTS>(&cuts, rows, terms, &mut packed, sums)?;
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
    for number in 0..matrices * row_strips {
        let rows = cuts.rows_of(number % row_strips);
        let written = cuts.sums::<PARTS>(rows.len());
        let of = |strip: usize| to.0.wrapping_add((number * term_strips + strip) * each);
        let skinny = SkinnyProduct::of(&piece(number / row_strips));
        // SAFETY: every strip has written so many sums of its own, and all threads have finished; accesses name
        // elements that exist.
        unsafe {
            let first = slice::from_raw_parts_mut(of(0), written);
            for strip in 1..term_strips {
                let other = slice::from_raw_parts(of(strip), written);
                first.iter_mut().zip(other).for_each(|(sum, more)| *sum = *sum + *more);
            }
            skinny.put::<T, PARTS>(&cuts, rows, first.as_ptr());
        }
    }
    Ok(())
}

impl SkinnyProduct {
    /// Computes the results of some rows whose terms are all in one strip.
    ///
    /// # Safety
    /// The elements exist, and nothing else accesses the results meanwhile.
    unsafe fn whole_rows<T: Real, const PARTS: usize>(
        &self,
        cuts: &Cuts,
        rows: Range<usize>,
        packed: &mut Vec<T>,
        own: &mut Vec<T>,
    ) -> Result<()> {
        let first = self.results.cast::<T>().wrapping_add(rows.start);
        let sums_are_results = PARTS == 1 && self.vectors == 1 && self.result_strides[0] == 1;
        // SAFETY: the elements exist, and `own` has room for the sums.
        unsafe {
            if PARTS == 1 && self.are_points() {
                return self.points(rows, packed);
            }
            if sums_are_results && first.is_aligned() {
                return self.strip::<T, PARTS>(cuts, rows, 0..self.terms, packed, first);
            }
            // So few that their sums stay in the nearest cache until they are stored, and whole groups of rows. Columns
            // are read once for all rows.
            let few = match cuts.along_terms {
                true => T.skinny_part / (size_of::<T>() * cuts.sums::<PARTS>(1)),
                false => rows.len(),
            };
            let few = few.max(1).next_multiple_of(4);
            memory::reserve(own, cuts.sums::<PARTS>(few.min(rows.len())))?;
            let sums = own.as_mut_ptr();
            for start in rows.clone().step_by(few) {
                let rows = start..rows.end.min(start + few);
                self.strip::<T, PARTS>(cuts, rows.clone(), 0..self.terms, packed, sums)?;
                self.put::<T, PARTS>(cuts, rows, sums);
            }
        }
        Ok(())
    }

    /// Whether rows are points in few dimensions, which get as few new coordinates, one beside the other.
    fn are_points(&self) -> bool {
        let few = 2..=SHORT_COLUMN;
        let beside =
            self.matrix_strides[1] == 1 && self.result_strides == [self.vectors as isize, 1];
        beside && few.contains(&self.terms) && few.contains(&self.vectors)
    }

    /// Computes the results of some rows that are points: each times all vectors, whose first terms come first.
    ///
    /// # Safety
    /// The elements exist, and nothing else accesses the results meanwhile.
    unsafe fn points<T: Real>(&self, rows: Range<usize>, packed: &mut Vec<T>) -> Result<()> {
        let [from, step] = self.vector_strides;
        packed.clear();
        memory::reserve(packed, self.terms * self.vectors)?;
        for term in 0..self.terms {
            let at = self.vector.cast::<T>().wrapping_offset(term as isize * step);
            // SAFETY: the vectors have this term.
            unsafe { append::<T, 1>(packed, at, from, self.vectors) };
        }
        let first = rows.start as isize * self.matrix_strides[0];
        let strip = Strip {
            rows: self.vectors,
            terms: self.terms,
            matrix: packed.as_ptr(),
            stride: self.vectors as isize,
            vectors: self.matrix.cast::<T>().wrapping_offset(first),
            pitch: self.matrix_strides[0],
            count: rows.len(),
            sums: self.results.cast::<T>().wrapping_add(rows.start * self.vectors),
        };
        // SAFETY: the rows are in the matrix, whose elements exist, and so do their results.
        unsafe { strip.short_columns() };
        Ok(())
    }

    /// Computes the sums of a strip, vector by vector.
    ///
    /// # Safety
    /// The elements exist, there is room for the sums, and nothing else accesses them meanwhile.
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
            // SAFETY: the rows and terms are in the matrix, whose elements exist.
            unsafe { append::<T, PARTS>(&mut beside_each_other, matrix, term, terms.len()) };
            matrix = beside_each_other.as_ptr();
        }
        let beside = PARTS == 1 && (self.vector_strides[1] == 1 || terms.len() == 1);
        let (vectors, pitch) = if beside {
            // A single term has no meaningful stride.
            let first = terms.start as isize * self.vector_strides[1];
            (self.vector.cast::<T>().wrapping_offset(first), self.vector_strides[0])
        } else {
            packed.clear();
            memory::reserve(packed, self.vectors * PARTS * terms.len() * PARTS)?;
            // SAFETY: the rows and terms are in the matrix, whose elements exist.
            unsafe { self.pack::<T, PARTS>(cuts.along_terms, terms.clone(), packed) };
            (packed.as_ptr(), (packed.len() / (self.vectors * PARTS)) as isize)
        };
        let count = self.vectors * PARTS;
        // SAFETY: the rows and terms are in the matrix, whose elements exist.
        unsafe {
            if cuts.along_terms {
                let (rows, terms) = (rows.len(), terms.len() * PARTS);
                Strip { rows, terms, matrix, stride: row, vectors, pitch, count, sums }.dots();
            } else {
                let (rows, terms) = (rows.len() * PARTS, terms.len());
                let strip =
                    Strip { rows, terms, matrix, stride: term, vectors, pitch, count, sums };
                // By all rows of the product: how many are in a strip depends on the number of threads.
                match self.rows * PARTS <= SHORT_COLUMN {
                    true => strip.short_columns(),
                    false => strip.columns(),
                }
            }
        }
        Ok(())
    }

    /// Packs terms of the vectors. A complex vector becomes two real ones: along terms, one that gives the real
    /// part of the product and one that gives the imaginary part; along rows, its real parts and its imaginary
    /// parts.
    ///
    /// # Safety
    /// The terms exist.
    unsafe fn pack<T: Real, const PARTS: usize>(
        &self,
        along_terms: bool,
        terms: Range<usize>,
        packed: &mut Vec<T>,
    ) {
        let [from, step] = self.vector_strides;
        for vector in 0..self.vectors {
            if PARTS == 1 {
                let at = vector as isize * from + terms.start as isize * step;
                let at = self.vector.cast::<T>().wrapping_offset(at);
                // SAFETY: the vectors have these terms.
                unsafe { append::<T, 1>(packed, at, step, terms.len()) };
                continue;
            }
            for part in 0..PARTS {
                for term in terms.clone() {
                    let at = vector as isize * from + term as isize * step;
                    let at = self.vector.cast::<T>().wrapping_offset(at * PARTS as isize);
                    // SAFETY: the vectors have these terms.
                    let of = |k: usize| unsafe { at.wrapping_add(k).read_unaligned() };
                    match (along_terms, part) {
                        (false, _) => packed.push(of(part)),
                        (true, 0) => packed.extend([of(0), -of(1)]),
                        (true, _) => packed.extend([of(1), of(0)]),
                    }
                }
            }
        }
    }

    /// Stores the results of some rows.
    ///
    /// # Safety
    /// The results and sums exist, and nothing else accesses the results meanwhile.
    unsafe fn put<T: Real, const PARTS: usize>(
        &self,
        cuts: &Cuts,
        rows: Range<usize>,
        sums: *const T,
    ) {
        let each = cuts.sums::<PARTS>(rows.len()) / (self.vectors * PARTS);
        for vector in 0..self.vectors {
            // SAFETY: the sums of these rows and the results exist.
            let sum = |part: usize, at: usize| unsafe {
                sums.add((vector * PARTS + part) * each + at).read()
            };
            let [along, across] = self.result_strides;
            if PARTS == 1 {
                let at = rows.start as isize * along + vector as isize * across;
                let first = self.results.cast::<T>().wrapping_offset(at);
                for r in 0..rows.len() {
                    // SAFETY: the sums of these rows and the results exist.
                    unsafe { first.wrapping_offset(r as isize * along).write_unaligned(sum(0, r)) }
                }
                continue;
            }
            for (r, row) in rows.clone().enumerate() {
                let at = row as isize * along + vector as isize * across;
                let to = self.results.cast::<T>().wrapping_offset(at * PARTS as isize);
                let parts = match cuts.along_terms {
                    true => [sum(0, r), sum(1, r)],
                    false => {
                        let (real, imaginary) = (2 * r, 2 * r + 1);
                        [sum(0, real) - sum(1, imaginary), sum(0, imaginary) + sum(1, real)]
                    }
                };
                for (k, part) in parts.into_iter().enumerate().take(PARTS) {
                    // SAFETY: the sums of these rows and the results exist.
                    unsafe { to.wrapping_add(k).write_unaligned(part) }
                }
            }
        }
    }
}
