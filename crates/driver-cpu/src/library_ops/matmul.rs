//! Matrix products.
//!
//! Owns [`run`]. A stack of products is shared by its matrices, and a large product by boxes of its
//! results. Floats and complex numbers are the crate `gemm`'s, which packs operands of any strides,
//! but for thin products (`skinny_product.rs`); integers and bool are rows added up (`rows::multiply`), which wrap as they should.
//!
//! Not here: the loops over whole numbers (`rows`).

use super::library_launch::{LibraryLaunch, unravelled};
use super::product_tile::ProductTile;
use super::skinny_product;
use crate::rows::{self, RowFn};
use crate::threads::executor::Executor;
use crate::traversal::iteration_space::StridedAccess;
use gemm::{Parallelism, c32, c64};
use gpupy_core::ir::PRODUCT_CHUNK;
use gpupy_core::op_eval::element::Half;
use gpupy_core::{DType, Result, memory};
use std::ops::Range;

/// Multiplications in a nanosecond, roughly, where an element has 4 bytes.
const SPEED: usize = 32;
/// Bytes that come from memory in a nanosecond, roughly.
const BANDWIDTH: usize = 32;
/// Boxes for each thread: with more than one, threads end together though one began late.
const EACH: usize = 4;
/// The least extent of a box of results that is worth a thread's own packing of its operands.
const LEAST: usize = 64;
/// Columns of whole numbers that are added up together: their sums stay in the nearest cache.
const COLUMNS: usize = 512;

/// Evaluates a launch of the matrix product.
///
/// # Errors
/// - `OutOfMemory`: there is no room for packed operands.
pub fn run(whole: &LibraryLaunch<'_>, executor: &mut Executor<'_>) -> Result<()> {
    let axes = whole.shape.len();
    let (stack, [m, n, k]) = (&whole.shape[..axes - 3], [axes - 3, axes - 2, axes - 1]);
    let extents = [m, n, k].map(|axis| whole.shape[axis]);
    let matrices: usize = stack.iter().product();
    if matrices == 0 || extents.contains(&0) {
        return Ok(());
    }
    let (dtype, size) = (whole.dtype, whole.dtype.size());
    let [rows, columns, terms] = extents;
    let read = (rows * terms).saturating_add(columns * terms).saturating_mul(size) / BANDWIDTH;
    let time = (rows * columns).saturating_mul(terms).saturating_mul(size) / (4 * SPEED);
    let time = time.max(read);
    let strides = |line: usize, one: usize, other: usize| {
        let all = &whole.reads[line].access.strides;
        [all[one] as isize, all[other] as isize]
    };
    let c = &whole.dest.access.strides;
    let product = |number: usize| {
        let point = unravelled(number, stack, 3);
        let at = |line: &StridedAccess<'_>| line.walk(&point, k).ptr;
        ProductTile {
            extents,
            a: at(&whole.reads[0]),
            a_strides: strides(0, m, k),
            b: at(&whole.reads[1]),
            b_strides: strides(1, n, k),
            c: at(&whole.dest),
            c_strides: [c[m] as isize, c[n] as isize],
        }
    };
    if skinny_product::suits(dtype, &product(0)) {
        return skinny_product::run(dtype, matrices, &product, executor, time as u64);
    }
    // Boxes as square as the threads allow.
    let mut cuts = [1, 1];
    let enough = if executor.threads == 1 { 1 } else { EACH * executor.threads };
    while matrices * cuts[0] * cuts[1] < enough && time > 10_000 {
        let of = |axis: usize| extents[axis] / (2 * cuts[axis]);
        let axis = usize::from(of(1) > of(0));
        if of(axis) < LEAST {
            break;
        }
        cuts[axis] *= 2;
    }
    let boxes = cuts[0] * cuts[1];
    let part = |axis: usize, number: usize| -> Range<usize> {
        let each = extents[axis].div_ceil(cuts[axis]);
        (number * each).min(extents[axis])..((number + 1) * each).min(extents[axis])
    };
    executor.share(matrices * boxes, (time as u64).saturating_mul(matrices as u64), &|items| {
        for number in items {
            let (rows, columns) = (part(0, number / cuts[1] % cuts[0]), part(1, number % cuts[1]));
            if !rows.is_empty() && !columns.is_empty() {
                let piece = product(number / boxes).part(size, rows, columns);
                // SAFETY: the core promises that accesses name elements that exist.
                unsafe { multiply(dtype, &piece)? }
            }
        }
        Ok(())
    })
}

/// Computes a piece.
///
/// # Safety
/// Its elements exist, and nobody writes them but this.
unsafe fn multiply(dtype: DType, piece: &ProductTile) -> Result<()> {
    // SAFETY: the caller's.
    unsafe {
        match dtype {
            DType::F32 => by_crate(piece, 1f32),
            DType::F64 => by_crate(piece, 1f64),
            DType::C64 => by_crate(piece, c32::new(1.0, 0.0)),
            DType::C128 => by_crate(piece, c64::new(1.0, 0.0)),
            DType::F16 => halves(piece),
            DType::Bool => whole_numbers::<u8>(piece, rows::multiply(dtype)),
            DType::I8 | DType::U8 => whole_numbers::<u8>(piece, rows::multiply(dtype)),
            DType::I16 | DType::U16 => whole_numbers::<u16>(piece, rows::multiply(dtype)),
            DType::I32 | DType::U32 => whole_numbers::<u32>(piece, rows::multiply(dtype)),
            DType::I64 | DType::U64 => whole_numbers::<u64>(piece, rows::multiply(dtype)),
        }
    }
}

/// Terms are taken in chunks, whose sums are added: the crate adds up all of them one by one where a
/// product is a vector's.
///
/// # Safety
/// As of [`multiply`], for elements of this type.
unsafe fn by_crate<T: Copy + 'static>(piece: &ProductTile, one: T) -> Result<()> {
    let [m, n, k] = piece.extents;
    let ([a_rs, a_cs], [b_cs, b_rs], [c_rs, c_cs]) =
        (piece.a_strides, piece.b_strides, piece.c_strides);
    for first in (0..k).step_by(PRODUCT_CHUNK) {
        let at =
            |from: *const u8, step: isize| from.cast::<T>().wrapping_offset(first as isize * step);
        let (a, b, c) = (at(piece.a, a_cs), at(piece.b, b_rs), piece.c.cast::<T>());
        // SAFETY: the caller's. The old results are read where a chunk has written them.
        unsafe {
            gemm::gemm(
                m,
                n,
                PRODUCT_CHUNK.min(k - first),
                c,
                c_cs,
                c_rs,
                first > 0,
                a,
                a_cs,
                a_rs,
                b,
                b_cs,
                b_rs,
                one,
                one,
                false,
                false,
                false,
                Parallelism::None,
            );
        }
    }
    Ok(())
}

/// The elements of a matrix, row by row.
///
/// # Safety
/// They exist.
unsafe fn packed<T: Copy>(
    from: *const u8,
    (rows, columns): (usize, usize),
    [row, column]: [isize; 2],
) -> impl Iterator<Item = T> {
    let from = from.cast::<T>();
    (0..rows).flat_map(move |r| {
        let start = from.wrapping_offset(r as isize * row);
        // SAFETY: the caller's.
        (0..columns)
            .map(move |c| unsafe { start.wrapping_offset(c as isize * column).read_unaligned() })
    })
}

/// Half floats, summed in float32.
///
/// # Safety
/// As of [`multiply`].
unsafe fn halves(piece: &ProductTile) -> Result<()> {
    let [m, n, k] = piece.extents;
    // SAFETY: the caller's, here and below.
    let (a, b) = unsafe {
        (
            packed::<u16>(piece.a, (m, k), piece.a_strides),
            packed::<u16>(piece.b, (n, k), piece.b_strides),
        )
    };
    let wide = |x: u16| f32::from(Half(x));
    let a = memory::collected(m * k, a.map(wide))?;
    let b = memory::collected(n * k, b.map(wide))?;
    let mut c = memory::zeroed::<f32>(m * n)?;
    let inner = ProductTile {
        extents: piece.extents,
        a: a.as_ptr().cast(),
        a_strides: [k as isize, 1],
        b: b.as_ptr().cast(),
        b_strides: [k as isize, 1],
        c: c.as_mut_ptr().cast(),
        c_strides: [n as isize, 1],
    };
    // SAFETY: the matrices are those above.
    unsafe { by_crate(&inner, 1f32)? };
    for (number, x) in c.into_iter().enumerate() {
        let [row, column] = piece.c_strides;
        let at = (number / n) as isize * row + (number % n) as isize * column;
        // SAFETY: the caller's.
        unsafe { piece.c.cast::<u16>().wrapping_offset(at).write_unaligned(Half::from(x).0) }
    }
    Ok(())
}

/// Integers and bool: rows of `b` times elements of `a`, added up.
///
/// # Safety
/// As of [`multiply`], for elements of this type's size.
unsafe fn whole_numbers<T: Copy + Default>(piece: &ProductTile, multiply: RowFn) -> Result<()> {
    let [m, n, k] = piece.extents;
    // A product with nothing changes no sum.
    let padded = k.next_multiple_of(rows::TOGETHER);
    let [b_column, b_sum] = piece.b_strides;
    let mut sums = vec![T::default(); n.min(COLUMNS)];
    let mut a: Vec<T> = memory::with_room(m * padded)?;
    for row in 0..m {
        let from = piece.a.cast::<T>().wrapping_offset(row as isize * piece.a_strides[0]);
        // SAFETY: the caller's.
        a.extend(unsafe { packed::<T>(from.cast(), (1, k), [0, piece.a_strides[1]]) });
        a.resize((row + 1) * padded, T::default());
    }
    for first in (0..n).step_by(COLUMNS) {
        let columns = COLUMNS.min(n - first);
        let from = piece.b.cast::<T>().wrapping_offset(first as isize * b_column);
        // SAFETY: the caller's.
        let elements = unsafe { packed::<T>(from.cast(), (k, columns), [b_sum, b_column]) };
        let mut b: Vec<T> = memory::with_room(padded * columns)?;
        b.extend(elements);
        b.resize(padded * columns, T::default());
        for row in 0..m {
            sums[..columns].fill(T::default());
            for at in (0..padded).step_by(rows::TOGETHER) {
                let (x, y) = (&raw const a[row * padded + at], &raw const b[at * columns]);
                // SAFETY: there are so many elements and rows from there on.
                unsafe {
                    multiply(sums.as_mut_ptr().cast(), [x.cast(), y.cast(), x.cast()], columns)
                }
            }
            let to = piece.c.cast::<T>().wrapping_offset(row as isize * piece.c_strides[0]);
            for (column, sum) in (first..).zip(&sums[..columns]) {
                // SAFETY: the caller's.
                unsafe {
                    to.wrapping_offset(column as isize * piece.c_strides[1]).write_unaligned(*sum);
                }
            }
        }
    }
    Ok(())
}
