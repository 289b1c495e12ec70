//! Argmin and argmax of few elements in host memory.
//!
//! Owns [`place`] and [`places`]. Invariant: the first NaN wins, otherwise the first of equal extremes, as in the
//! recorded search.
//!
//! Not here: the search in many elements (`record/argmin_recording.rs`).

use crate::array::base::{Array, ArrayOrScalar};
use crate::eager::borrow::{BorrowGuard, BorrowedOperand};
use crate::graph::value::Origin;
use crate::memory::element_bytes::ElementBytes;
use gpupy_core::memory;
use gpupy_core::op::Op;
use gpupy_core::op_eval;
use gpupy_core::shape::{Shape, size_of};
use gpupy_core::{DType, Scalar, for_integer_type};
use std::array::from_fn;

/// The place in C order of the first of all elements that `op` (the minimum or maximum) gives, or of the first NaN;
/// `None` where these are not few elements in host memory.
pub(crate) fn place(op: Op, array: &Array) -> Option<usize> {
    let mut place = None;
    let found = |at| place = Some(at);
    each_place(op, array, (array.size(), 1), found).and(place)
}

/// Argmin or argmax of each row along an axis, by the rule of `place`.
pub(crate) fn places(op: Op, array: &Array, axis: usize) -> Option<Array> {
    let n = *array.shape().get(axis)?;
    let mut places: ElementBytes =
        memory::small_filled(0, array.size() / n.max(1) * DType::I32.size()).ok()?;
    places.clear();
    // A row of few elements is no longer than an int32 can say.
    let add = |at| places.extend_from_slice(&(at as i32).to_ne_bytes());
    let beside = size_of(&array.shape()[axis + 1..]);
    each_place(op, array, (n, beside), add)?;
    let mut shape = Shape::from(array.shape());
    shape[axis] = 1;
    Array::own(DType::I32, &shape, Origin::Eager, &places)
}

/// Tells the place of the extreme in each row of elements in host memory: rows of `n` elements, `beside` of which are
/// interleaved in C order. `None`, with no place told, where the elements are not there.
fn each_place(
    op: Op,
    array: &Array,
    (n, beside): (usize, usize),
    found: impl FnMut(usize),
) -> Option<()> {
    let dtype = array.dtype();
    if !op.reduces(dtype) {
        return None;
    }
    let guard = BorrowGuard::of(&[ArrayOrScalar::Array(array)])?;
    let elements = guard
        .operands
        .first()
        .filter(|borrowed| matches!(borrowed, BorrowedOperand::Memory(..)))?;
    let elements = elements.elements(dtype.size())?;
    macro_rules! rows {
        ($read:expr) => {
            match op {
                Op::Max => each_row::<_, _, true>(&elements, (n, beside), found, $read),
                _ => each_row::<_, _, false>(&elements, (n, beside), found, $read),
            }
        };
    }
    match dtype {
        DType::Bool => rows!(u8::from_ne_bytes),
        _ if dtype.is_narrow_float() => rows!(|bytes| widened(dtype, bytes)),
        DType::F32 => rows!(f32::from_ne_bytes),
        DType::F64 => rows!(f64::from_ne_bytes),
        _ => for_integer_type!(dtype, T => rows!(T::from_ne_bytes), _ => return None),
    }
    Some(())
}

/// A number of two bytes as a wider one.
pub(super) fn widened(dtype: DType, bytes: [u8; 2]) -> f32 {
    let number = Scalar::new(dtype, u16::from_ne_bytes(bytes).into());
    op_eval::eval(Op::Cast, DType::F32, &[number]).map_or(f32::NAN, |number| number.as_f32())
}

/// Tells the place of the extreme in each row of `n` elements, by code for the processor at hand.
fn each_row<T: Copy + PartialOrd, const N: usize, const GREATEST: bool>(
    elements: &[u8],
    lies: (usize, usize),
    found: impl FnMut(usize),
    read: impl Fn([u8; N]) -> T + Copy,
) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn with_avx2<T: Copy + PartialOrd, const N: usize, const GREATEST: bool>(
            elements: &[u8],
            lies: (usize, usize),
            found: impl FnMut(usize),
            read: impl Fn([u8; N]) -> T + Copy,
        ) {
            each_row_here::<T, N, GREATEST>(elements, lies, found, read);
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2, as was checked before.
            return unsafe { with_avx2::<T, N, GREATEST>(elements, lies, found, read) };
        }
    }
    each_row_here::<T, N, GREATEST>(elements, lies, found, read);
}

#[inline(always)]
fn each_row_here<T: Copy + PartialOrd, const N: usize, const GREATEST: bool>(
    elements: &[u8],
    (n, beside): (usize, usize),
    mut found: impl FnMut(usize),
    read: impl Fn([u8; N]) -> T + Copy,
) {
    let elements = elements.as_chunks::<N>().0;
    if beside == 1 && n >= 2 * LANES {
        let rows = elements.chunks_exact(n);
        return rows.for_each(|row| found(first_extreme::<T, N, GREATEST>(row, read)));
    }
    // Rows that are looked at together are a vector of AVX2.
    match N {
        8 => rows_together::<T, N, 4, GREATEST>(elements, (n, beside), &mut found, read),
        _ => rows_together::<T, N, 8, GREATEST>(elements, (n, beside), &mut found, read),
    }
}

/// Tells the places of the extremes in rows of elements, `L` rows at a time.
#[inline(always)]
fn rows_together<T: Copy + PartialOrd, const N: usize, const L: usize, const GREATEST: bool>(
    elements: &[[u8; N]],
    (n, beside): (usize, usize),
    found: &mut impl FnMut(usize),
    read: impl Fn([u8; N]) -> T + Copy,
) {
    let together = if beside == 1 { elements.len() / n } else { beside };
    for rows in elements.chunks_exact((n * together).max(1)) {
        let whole = together - together % L;
        for first in (0..whole).step_by(L) {
            let places = of_rows::<T, N, L, GREATEST>(rows, (n, beside), first, read);
            places.into_iter().for_each(&mut *found);
        }
        for row in whole..together {
            let [place] = of_rows::<T, N, 1, GREATEST>(rows, (n, beside), row, read);
            found(place);
        }
    }
}

/// The places of the extremes in `L` rows from the first one on, all rows together.
#[inline(always)]
fn of_rows<T: Copy + PartialOrd, const N: usize, const L: usize, const GREATEST: bool>(
    elements: &[[u8; N]],
    (n, beside): (usize, usize),
    first: usize,
    read: impl Fn([u8; N]) -> T + Copy,
) -> [usize; L] {
    if beside == 1 {
        let rows: [&[[u8; N]]; L] = from_fn(|lane| &elements[(first + lane) * n..][..n]);
        return first_of_each::<T, L, GREATEST>(n, |at| rows.map(|row| read(row[at])));
    }
    first_of_each::<T, L, GREATEST>(n, |at| {
        let layer = &elements[at * beside + first..][..L];
        from_fn(|lane| read(layer[lane]))
    })
}

/// The places of the extremes in `L` rows, whose elements come side by side.
#[inline(always)]
fn first_of_each<T: Copy + PartialOrd, const L: usize, const GREATEST: bool>(
    n: usize,
    elements: impl Fn(usize) -> [T; L],
) -> [usize; L] {
    let (mut best, mut places) = (elements(0), [0i32; L]);
    for at in 1..n {
        let next = elements(at);
        for lane in 0..L {
            let (x, extreme) = (next[lane], best[lane]);
            let stays = if GREATEST { extreme >= x } else { extreme <= x } | is_nan(extreme);
            best[lane] = if stays { extreme } else { x };
            places[lane] = if stays { places[lane] } else { at as i32 };
        }
    }
    places.map(|place| place as usize)
}

/// The better of two elements; of equals, and where one is NaN, the first.
#[inline(always)]
fn beyond<T: Copy + PartialOrd, const GREATEST: bool>(best: T, x: T) -> T {
    let is_better = if GREATEST { x > best } else { x < best };
    if is_better { x } else { best }
}

/// Elements of a long row that are looked at together: enough for two registers of AVX2, of float32.
const LANES: usize = 16;

/// The place of the extreme in a row of at least `LANES` elements: first its value, then its position, as both loops
/// vectorise.
#[inline(always)]
fn first_extreme<T: Copy + PartialOrd, const N: usize, const GREATEST: bool>(
    row: &[[u8; N]],
    read: impl Fn([u8; N]) -> T + Copy,
) -> usize {
    let blocks = row.as_chunks::<LANES>().0;
    // The last elements once more, some of which are in a block.
    let last = row.last_chunk::<LANES>();
    let (mut best, mut any_nan) = ([read(row[0]); LANES], false);
    for block in blocks.iter().chain(last) {
        let mut nan = false;
        // One instruction compares two elements, and tells whether one is NaN.
        for lane in 0..LANES / 2 {
            nan |= is_nan(read(block[lane])) | is_nan(read(block[lane + LANES / 2]));
        }
        any_nan |= nan;
        for (best, element) in best.iter_mut().zip(block) {
            *best = beyond::<T, GREATEST>(*best, read(*element));
        }
    }
    if any_nan {
        return row.iter().position(|element| is_nan(read(*element))).unwrap_or(0);
    }
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            best[lane] = beyond::<T, GREATEST>(best[lane], best[lane + half]);
        }
        half /= 2;
    }
    let extreme = best[0];
    // A bit for each element of a block that is the extreme.
    let bits = |block: &[[u8; N]; LANES]| {
        let is_it = |lane: usize| u32::from(read(block[lane]) == extreme) << lane;
        (0..LANES).fold(0, |bits, lane| bits | is_it(lane))
    };
    let found = blocks.iter().enumerate().find_map(|(block, elements)| {
        let bits = bits(elements);
        (bits != 0).then(|| block * LANES + bits.trailing_zeros() as usize)
    });
    let of_last = || last.map_or(0, bits).trailing_zeros() as usize;
    found.unwrap_or_else(|| row.len() - LANES + of_last())
}

/// Whether it is not even equal to itself.
#[inline(always)]
#[allow(clippy::eq_op)]
fn is_nan<T: PartialEq>(x: T) -> bool {
    x != x
}
