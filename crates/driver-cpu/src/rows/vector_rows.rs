//! Reductions of rows of several vectors: sums, minima and maxima of floats.
//!
//! Owns [`VectorRows`], [`reduce_rows`] and [`reduce_floats`]. The lanes of the canonical tree are a vector, in which a
//! row is combined, its end under a mask, and which is folded in registers. So nothing waits for memory, and rows of
//! every length cost alike. Without NaN, the greater of two floats is one instruction of the processor; a row with NaN
//! is reduced again by the general loop. Invariant: results are those of the canonical tree, including the sign of
//! zeros.
//!
//! Not here: rows of few elements (`short/tile_reductions.rs`), other operations (`trees/tree_reduce.rs`).

use super::row_fn::RowFn;
use super::row_loops::put;
use super::simd::{Real, Vector};
use super::trees::reduced;
use gpupy_core::ir::{REDUCE_CHUNK, REDUCE_LANES};
use gpupy_core::op_eval::element::Stored;
use gpupy_core::{DType, Op};

/// Reduces rows, one behind the other, to one result each: the results, the first row, the number of rows, and that of
/// their elements, up to 256.
///
/// # Safety
/// The elements are valid for reads, and the results for writes.
pub type VectorRows = unsafe fn(*mut u8, *const u8, usize, usize);

/// The function that reduces rows, or `None` for another operation or dtype.
pub fn reduce_rows(op: Op, dtype: DType) -> Option<VectorRows> {
    Some(functions(op, dtype)?.0)
}

/// The function that reduces the chunks of a row, or `None` for another operation or dtype.
pub fn reduce_floats(op: Op, dtype: DType) -> Option<RowFn> {
    Some(functions(op, dtype)?.1)
}

fn functions(op: Op, dtype: DType) -> Option<(VectorRows, RowFn)> {
    fn of<A: Real + Stored + PartialOrd, C: LaneCombination>() -> (VectorRows, RowFn) {
        (best::<A, C>(), chunks::<A, C>)
    }
    Some(match (op, dtype) {
        (Op::Add, DType::F32) => of::<f32, Sum>(),
        (Op::Add, DType::F64) => of::<f64, Sum>(),
        (Op::Min, DType::F32) => of::<f32, Extreme<false>>(),
        (Op::Min, DType::F64) => of::<f64, Extreme<false>>(),
        (Op::Max, DType::F32) => of::<f32, Extreme<true>>(),
        (Op::Max, DType::F64) => of::<f64, Extreme<true>>(),
        _ => return None,
    })
}

/// Reduces the chunks of a row.
///
/// # Safety
/// As for [`RowFn`], with an element of `dst` for each chunk.
unsafe fn chunks<A: Real + Stored + PartialOrd, C: LaneCombination>(
    dst: *mut u8,
    [a, ..]: [*const u8; 3],
    n: usize,
) {
    let (rows, whole, rest) = (best::<A, C>(), n / REDUCE_CHUNK, n % REDUCE_CHUNK);
    // SAFETY: the row has these chunks, and `dst` an element for each.
    unsafe {
        rows(dst, a, whole, REDUCE_CHUNK);
        if rest > 0 {
            let a = a.cast::<A>().add(whole * REDUCE_CHUNK).cast();
            rows(dst.cast::<A>().add(whole).cast(), a, 1, rest);
        }
    }
}

/// How vectors are combined.
trait LaneCombination {
    /// What changes no float with which it is combined as the right operand.
    fn neutral<A: Real>() -> A;

    /// # Safety
    /// The processor has such vectors.
    unsafe fn combined<W: Vector>(a: W, b: W) -> W;

    /// # Safety
    /// As for `combined`.
    unsafe fn folded<W: Vector>(lanes: W) -> W::Real;

    /// The result of a row where some element is NaN and that changes the combination; otherwise `None`.
    ///
    /// # Safety
    /// The row has `n` elements.
    unsafe fn of_nan<A: Real + Stored + PartialOrd>(
        nans: u32,
        row: *const A,
        n: usize,
    ) -> Option<A>;
}

struct Sum;

impl LaneCombination for Sum {
    #[inline(always)]
    fn neutral<A: Real>() -> A {
        -A::default()
    }
    #[inline(always)]
    unsafe fn combined<W: Vector>(a: W, b: W) -> W {
        // SAFETY: the processor has such vectors.
        unsafe { a.plus(b) }
    }
    #[inline(always)]
    unsafe fn folded<W: Vector>(lanes: W) -> W::Real {
        // SAFETY: the processor has such vectors.
        unsafe { lanes.folded() }
    }
    #[inline(always)]
    unsafe fn of_nan<A: Real + Stored + PartialOrd>(_: u32, _: *const A, _: usize) -> Option<A> {
        None
    }
}

struct Extreme<const GREATEST: bool>;

impl<const GREATEST: bool> LaneCombination for Extreme<GREATEST> {
    #[inline(always)]
    fn neutral<A: Real>() -> A {
        if GREATEST { -A::INFINITY } else { A::INFINITY }
    }
    #[inline(always)]
    unsafe fn combined<W: Vector>(a: W, b: W) -> W {
        // SAFETY: the processor has such vectors.
        unsafe { a.or_beyond::<GREATEST>(b) }
    }
    #[inline(always)]
    unsafe fn folded<W: Vector>(lanes: W) -> W::Real {
        // SAFETY: the processor has such vectors.
        unsafe { lanes.most::<GREATEST>() }
    }
    #[inline(always)]
    unsafe fn of_nan<A: Real + Stored + PartialOrd>(
        nans: u32,
        row: *const A,
        n: usize,
    ) -> Option<A> {
        #[allow(clippy::eq_op)]
        let stays = |x: A, y: A| x != x || if GREATEST { x > y } else { x < y };
        let first = |x: A, y: A| if stays(x, y) { x } else { y };
        // SAFETY: the row has `n` elements.
        (nans != 0).then(|| unsafe { reduced(first, row.cast(), n) })
    }
}

/// The loop, compiled for this processor.
fn best<A: Real + Stored + PartialOrd, C: LaneCombination>() -> VectorRows {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f")]
        unsafe fn with_avx512<A: Real + Stored + PartialOrd, C: LaneCombination>(
            out: *mut u8,
            row: *const u8,
            count: usize,
            extent: usize,
        ) {
            // SAFETY: the caller has checked that the processor has these instructions; rows are as `VectorRows`
            // requires.
            unsafe { rows::<A, A::Avx512, C>(out, row, count, extent) }
        }
        #[target_feature(enable = "avx2")]
        unsafe fn with_avx2<A: Real + Stored + PartialOrd, C: LaneCombination>(
            out: *mut u8,
            row: *const u8,
            count: usize,
            extent: usize,
        ) {
            // SAFETY: the caller has checked that the processor has these instructions; rows are as `VectorRows`
            // requires.
            unsafe { rows::<A, A::Avx2, C>(out, row, count, extent) }
        }
        if is_x86_feature_detected!("avx512f") {
            return with_avx512::<A, C>;
        }
        if is_x86_feature_detected!("avx2") {
            return with_avx2::<A, C>;
        }
    }
    rows::<A, [A; REDUCE_LANES], C>
}

/// # Safety
/// As for [`VectorRows`]; the processor has such vectors.
#[inline(always)]
unsafe fn rows<A, W, C>(out: *mut u8, row: *const u8, count: usize, extent: usize)
where
    A: Real + Stored + PartialOrd,
    W: Vector<Real = A>,
    C: LaneCombination,
{
    debug_assert!((1..=REDUCE_CHUNK).contains(&extent));
    for number in 0..count {
        // SAFETY: the row exists, and there is room for its result.
        unsafe {
            let row = row.cast::<A>().add(number * extent);
            put(out, number, of_row::<A, W, C>(row, extent));
        }
    }
}

/// The combination of `n` elements, up to 256, by the canonical tree.
///
/// # Safety
/// The row has that many; the processor has such vectors.
#[inline(always)]
unsafe fn of_row<A, W, C>(row: *const A, n: usize) -> A
where
    A: Real + Stored + PartialOrd,
    W: Vector<Real = A>,
    C: LaneCombination,
{
    let rest = n % REDUCE_LANES;
    if n == 1 {
        // SAFETY: the row has an element, which is not even made a quiet NaN.
        return unsafe { row.read_unaligned() };
    }
    // SAFETY: only elements below `n` are read.
    unsafe {
        let mut lanes = match n < REDUCE_LANES {
            true => W::all(C::neutral()).with_first(W::load_first(row, n), n),
            false => W::load(row),
        };
        let mut nans = lanes.nans();
        for k in (REDUCE_LANES..n - rest).step_by(REDUCE_LANES) {
            let x = W::load(row.add(k));
            nans |= x.nans();
            lanes = C::combined(lanes, x);
        }
        if rest > 0 && n > REDUCE_LANES {
            let x = W::load_first(row.add(n - rest), rest);
            nans |= x.nans();
            lanes = lanes.with_first(C::combined(lanes, x), rest);
        }
        C::of_nan(nans, row, n).unwrap_or_else(|| C::folded(lanes))
    }
}
