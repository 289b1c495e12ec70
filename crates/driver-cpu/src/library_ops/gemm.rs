//! Matrix products (gemm).
//!
//! Owns [`run`]. Threads share a stack of products by its matrices, and a large product by tiles of its
//! results. Floats and complex numbers are multiplied by the crate `gemm`, which packs operands of any strides,
//! except for skinny products (`skinny_product.rs`) and those of a matrix with its own transpose
//! (`symmetric_product.rs`). Integers and bool are rows that are multiplied and
//! accumulated (`rows::multiply`), with wrapping.
//!
//! Not here: the loops over integers (`rows`).

use super::library_launch::{LibraryLaunch, unravelled};
use super::product_tile::ProductTile;
use super::skinny_product;
use super::symmetric_product;
use crate::rows::{self, RowFn};
use crate::threads::executor::Executor;
use crate::thresholds::T;
use crate::traversal::iteration_space::StridedAccess;
use gemm::{Parallelism, c32, c64};
use gpupy_core::ir::PRODUCT_CHUNK;
use gpupy_core::op_eval::bfloat16::Bfloat16;
use gpupy_core::op_eval::element::{Element, Half};
use gpupy_core::{DType, Result, memory};
use std::ops::Range;

/// Columns of integers that are accumulated together: their sums stay in the nearest cache.
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
    let read =
        (rows * terms).saturating_add(columns * terms).saturating_mul(size) / T.gemm_bandwidth;
    let time = (rows * columns).saturating_mul(terms).saturating_mul(size) / (4 * T.gemm_speed);
    let time = time.max(read);
    let strides = |line: usize, one: usize, other: usize| {
        let all = &whole.reads[line].access.strides;
        [all[one] as isize, all[other] as isize]
    };
    let c = &whole.dest.access.strides;
    let product = |number: usize| {
        let point = unravelled(number, stack);
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
    let first = product(0);
    if skinny_product::suits(dtype, &first) {
        return skinny_product::run(dtype, matrices, &first, &product, executor, time as u64);
    }
    let same_stack =
        whole.reads[0].access.strides[..axes - 3] == whole.reads[1].access.strides[..axes - 3];
    if same_stack && symmetric_product::is_symmetric(&first) {
        return symmetric_product::run(dtype, matrices, &product, executor, time as u64);
    }
    // Tiles as square as the number of threads allows.
    let mut cuts = [1, 1];
    let enough = if executor.threads == 1 { 1 } else { T.gemm_tiles * executor.threads };
    while matrices * cuts[0] * cuts[1] < enough && time > 10_000 {
        let of = |axis: usize| extents[axis] / (2 * cuts[axis]);
        let axis = usize::from(of(1) > of(0));
        if of(axis) < T.gemm_least_tile {
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
                // SAFETY: the contract guarantees that accesses name elements that exist; tiles do not overlap.
                unsafe { multiply(dtype, &piece)? }
            }
        }
        Ok(())
    })
}

/// Computes a tile.
///
/// # Safety
/// The elements of the tile and its operands exist, and nothing else accesses the tile meanwhile.
pub(super) unsafe fn multiply(dtype: DType, piece: &ProductTile) -> Result<()> {
    // SAFETY: the elements of the tile and its operands exist, and have this dtype.
    unsafe {
        match dtype {
            DType::F32 => by_crate(piece, 1f32),
            DType::F64 => by_crate(piece, 1f64),
            DType::C64 => by_crate(piece, c32::new(1.0, 0.0)),
            DType::C128 => by_crate(piece, c64::new(1.0, 0.0)),
            DType::F16 => narrow_floats::<Half>(piece),
            DType::BF16 => narrow_floats::<Bfloat16>(piece),
            DType::Bool => whole_numbers::<u8>(piece, rows::multiply(dtype)),
            DType::I8 | DType::U8 => whole_numbers::<u8>(piece, rows::multiply(dtype)),
            DType::I16 | DType::U16 => whole_numbers::<u16>(piece, rows::multiply(dtype)),
            DType::I32 | DType::U32 => whole_numbers::<u32>(piece, rows::multiply(dtype)),
            DType::I64 | DType::U64 => whole_numbers::<u64>(piece, rows::multiply(dtype)),
        }
    }
}

/// Multiplies by the crate `gemm`, in chunks of terms whose products are accumulated: the crate adds up terms
/// one by one for products with a vector.
///
/// # Safety
/// As for [`multiply`], for elements of this type.
unsafe fn by_crate<T: Copy + 'static>(piece: &ProductTile, one: T) -> Result<()> {
    let [m, n, k] = piece.extents;
    let ([a_rs, a_cs], [b_cs, b_rs], [c_rs, c_cs]) =
        (piece.a_strides, piece.b_strides, piece.c_strides);
    for first in (0..k).step_by(PRODUCT_CHUNK) {
        let at =
            |from: *const u8, step: isize| from.cast::<T>().wrapping_offset(first as isize * step);
        let (a, b, c) = (at(piece.a, a_cs), at(piece.b, b_rs), piece.c.cast::<T>());
        // SAFETY: the elements exist, as `multiply` requires; old results are read only after the first chunk
        // has written them.
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
/// The elements exist for as long as the iterator.
unsafe fn packed<T: Copy>(
    from: *const u8,
    (rows, columns): (usize, usize),
    [row, column]: [isize; 2],
) -> impl Iterator<Item = T> {
    let from = from.cast::<T>();
    (0..rows).flat_map(move |r| {
        let start = from.wrapping_offset(r as isize * row);
        // SAFETY: `r` and `c` are below the extents, and the elements exist.
        (0..columns)
            .map(move |c| unsafe { start.wrapping_offset(c as isize * column).read_unaligned() })
    })
}

/// Floats of two bytes, accumulated in float32.
///
/// # Safety
/// As for [`multiply`].
unsafe fn narrow_floats<T: Element + From<f32>>(piece: &ProductTile) -> Result<()>
where
    f32: From<T>,
{
    let [m, n, k] = piece.extents;
    // SAFETY: the elements of the tile's operands exist, here and below.
    let (a, b) = unsafe {
        (
            packed::<u16>(piece.a, (m, k), piece.a_strides),
            packed::<u16>(piece.b, (n, k), piece.b_strides),
        )
    };
    let wide = |x: u16| f32::from(T::of(x.into()));
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
    // SAFETY: `a`, `b` and `c` have the extents and strides of `inner`.
    unsafe { by_crate(&inner, 1f32)? };
    for (number, x) in c.into_iter().enumerate() {
        let [row, column] = piece.c_strides;
        let at = (number / n) as isize * row + (number % n) as isize * column;
        // SAFETY: the elements of the tile's operands exist.
        unsafe {
            piece.c.cast::<u16>().wrapping_offset(at).write_unaligned(T::from(x).bits() as u16)
        }
    }
    Ok(())
}

/// Integers and bool: rows of `b` times elements of `a`, accumulated.
///
/// # Safety
/// As for [`multiply`], for elements of this type's size.
unsafe fn whole_numbers<T: Copy + Default>(piece: &ProductTile, multiply: RowFn) -> Result<()> {
    let [m, n, k] = piece.extents;
    // Padding with zeros changes no sum.
    let padded = k.next_multiple_of(rows::TOGETHER);
    let [b_column, b_sum] = piece.b_strides;
    let mut sums = vec![T::default(); n.min(COLUMNS)];
    let mut a: Vec<T> = memory::with_room(m * padded)?;
    for row in 0..m {
        let from = piece.a.cast::<T>().wrapping_offset(row as isize * piece.a_strides[0]);
        // SAFETY: rows and columns are below the extents, and the elements exist.
        a.extend(unsafe { packed::<T>(from.cast(), (1, k), [0, piece.a_strides[1]]) });
        a.resize((row + 1) * padded, T::default());
    }
    for first in (0..n).step_by(COLUMNS) {
        let columns = COLUMNS.min(n - first);
        let from = piece.b.cast::<T>().wrapping_offset(first as isize * b_column);
        // SAFETY: rows and columns are below the extents, and the elements exist.
        let elements = unsafe { packed::<T>(from.cast(), (k, columns), [b_sum, b_column]) };
        let mut b: Vec<T> = memory::with_room(padded * columns)?;
        b.extend(elements);
        b.resize(padded * columns, T::default());
        for row in 0..m {
            sums[..columns].fill(T::default());
            for at in (0..padded).step_by(rows::TOGETHER) {
                let (x, y) = (&raw const a[row * padded + at], &raw const b[at * columns]);
                // SAFETY: `a` and `b` are padded, so that 4 elements, and 4 rows of `columns` elements, follow.
                unsafe {
                    multiply(sums.as_mut_ptr().cast(), [x.cast(), y.cast(), x.cast()], columns)
                }
            }
            let to = piece.c.cast::<T>().wrapping_offset(row as isize * piece.c_strides[0]);
            for (column, sum) in (first..).zip(&sums[..columns]) {
                // SAFETY: rows and columns are below the extents, and the elements exist.
                unsafe {
                    to.wrapping_offset(column as isize * piece.c_strides[1]).write_unaligned(*sum);
                }
            }
        }
    }
    Ok(())
}
