//! A tile of a matrix product, computed by one thread.
//!
//! Owns [`multiply`]. Floats and complex numbers are multiplied by the crate `gemm`, which packs operands of any
//! strides. Integers and bool are rows of sums of products (`rows::WholeProducts`), with wrapping.
//!
//! Not here: how products are cut into tiles (`gemm.rs`, `symmetric_product.rs`), the loops over integers (`rows`).

use super::product_tile::ProductTile;
use crate::rows::{Terms, WholeProducts};
use gemm::{Parallelism, c32, c64};
use gpupy_core::ir::PRODUCT_CHUNK;
use gpupy_core::op_eval::bfloat16::Bfloat16;
use gpupy_core::op_eval::element::{Element, Half};
use gpupy_core::{DType, Result, memory};

/// Columns of integers that are accumulated together: their sums stay in the nearest cache.
const COLUMNS: usize = 512;

/// Computes a tile.
///
/// # Safety
/// The elements of the tile and its operands exist, and nothing else accesses the tile meanwhile.
pub unsafe fn multiply(dtype: DType, piece: &ProductTile) -> Result<()> {
    // SAFETY: the elements of the tile and its operands exist, and have this dtype.
    unsafe {
        match dtype {
            DType::F32 => by_crate(piece, 1f32),
            DType::F64 => by_crate(piece, 1f64),
            DType::C64 => by_crate(piece, c32::new(1.0, 0.0)),
            DType::C128 => by_crate(piece, c64::new(1.0, 0.0)),
            DType::F16 => narrow_floats::<Half>(piece),
            DType::BF16 => narrow_floats::<Bfloat16>(piece),
            DType::Bool => whole_numbers::<u8>(piece, &WholeProducts::of(dtype)),
            DType::I8 | DType::U8 => whole_numbers::<u8>(piece, &WholeProducts::of(dtype)),
            DType::I16 | DType::U16 => whole_numbers::<u16>(piece, &WholeProducts::of(dtype)),
            DType::I32 | DType::U32 => whole_numbers::<u32>(piece, &WholeProducts::of(dtype)),
            DType::I64 | DType::U64 => whole_numbers::<u64>(piece, &WholeProducts::of(dtype)),
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

/// Integers and bool: rows of `b` times elements of `a`, with at least as many columns as rows.
///
/// # Safety
/// As for [`multiply`], for elements of this type's size.
unsafe fn whole_numbers<T: Copy + Default>(
    piece: &ProductTile,
    products: &WholeProducts,
) -> Result<()> {
    let [m, n, _] = piece.extents;
    let piece = if m > n { piece.turned() } else { *piece };
    let ([m, n, k], [b_column, b_sum], size) = (piece.extents, piece.b_strides, size_of::<T>());
    let mut sums = vec![T::default(); n.min(COLUMNS)];
    let mut a: Vec<T> = memory::with_room(m * k)?;
    // SAFETY: rows and terms are below the extents, and the elements exist.
    a.extend(unsafe { packed::<T>(piece.a, (m, k), piece.a_strides) });
    for first in (0..n).step_by(COLUMNS) {
        let columns = COLUMNS.min(n - first);
        let from = piece.b.cast::<T>().wrapping_offset(first as isize * b_column).cast::<u8>();
        let mut packed_b: Vec<T>;
        let (sum, y, step) = match (b_column, b_sum) {
            (1, _) => (products.across, from, b_sum),
            (_, 1) if m == 1 => (products.along, from, b_column),
            _ => {
                packed_b = memory::with_room(k * columns)?;
                // SAFETY: as above, of columns.
                packed_b.extend(unsafe { packed::<T>(from, (k, columns), [b_sum, b_column]) });
                (products.across, packed_b.as_ptr().cast(), columns as isize)
            }
        };
        for row in 0..m {
            let x = a[row * k..].as_ptr().cast();
            let terms = Terms { x, y, step: step * size as isize, count: k };
            // SAFETY: `a` has a row of `k` factors, `y` as many terms for each column, and there is room for the sums.
            unsafe { sum(sums.as_mut_ptr().cast(), terms, columns) }
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
