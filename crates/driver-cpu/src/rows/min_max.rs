//! Minimum and maximum of rows of floats, which have a loop of their own.
//!
//! Owns [`extremes`]. Without NaN, the greater of two floats is one instruction of the processor. So a chunk is
//! reduced by that instruction, and reduced again by the general loop if it contained a NaN. Invariant: results
//! are those of the canonical tree, including the sign of zeros.
//!
//! Not here: other reductions (`tree_reduce.rs`).

use super::reduction_tree::{TOGETHER, folded, reduced};
use super::row_fn::RowFn;
use super::row_loops::put;
use super::simd::{Real, Vector};
use gpupy_core::ir::{REDUCE_CHUNK, REDUCE_LANES};
use gpupy_core::op_eval::element::Stored;

/// The function that takes the maximum of each chunk, or the minimum.
pub fn extremes<A: Real + Stored + PartialOrd, const GREATEST: bool>() -> RowFn {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f")]
        unsafe fn with_avx512<A: Real + Stored + PartialOrd, const GREATEST: bool>(
            dst: *mut u8,
            args: [*const u8; 3],
            n: usize,
        ) {
            // SAFETY: the caller has checked that the processor has these instructions; rows are as `RowFn` requires.
            unsafe { chunks::<A, A::Avx512, GREATEST>(dst, args, n) }
        }
        #[target_feature(enable = "avx2")]
        unsafe fn with_avx2<A: Real + Stored + PartialOrd, const GREATEST: bool>(
            dst: *mut u8,
            args: [*const u8; 3],
            n: usize,
        ) {
            // SAFETY: the caller has checked that the processor has these instructions; rows are as `RowFn` requires.
            unsafe { chunks::<A, A::Avx2, GREATEST>(dst, args, n) }
        }
        if is_x86_feature_detected!("avx512f") {
            return with_avx512::<A, GREATEST>;
        }
        if is_x86_feature_detected!("avx2") {
            return with_avx2::<A, GREATEST>;
        }
    }
    chunks::<A, [A; REDUCE_LANES], GREATEST>
}

/// Reduces the chunks by vectors of as many floats as the tree has lanes.
///
/// # Safety
/// As for [`RowFn`], with an element of `dst` for each chunk; the processor has such vectors.
#[inline(always)]
unsafe fn chunks<A, W, const GREATEST: bool>(dst: *mut u8, [a, ..]: [*const u8; 3], n: usize)
where
    A: Real + Stored + PartialOrd,
    W: Vector<Real = A>,
{
    #[allow(clippy::eq_op)]
    let is_nan = |x: A| x != x;
    let beyond = |x: A, y: A| if GREATEST { x > y } else { x < y };
    let fast = |x: A, y: A| if beyond(x, y) { x } else { y };
    let whole = |x: A, y: A| if is_nan(x) || beyond(x, y) { x } else { y };
    let chunk = |c: usize| a.cast::<A>().wrapping_add(c * REDUCE_CHUNK);
    let together = n / (REDUCE_CHUNK * TOGETHER) * TOGETHER;
    for c in (0..together).step_by(TOGETHER) {
        let mut all = [[A::default(); REDUCE_LANES]; TOGETHER];
        let mut nans = [0; TOGETHER];
        for (k, (lanes, nans)) in all.iter_mut().zip(&mut nans).enumerate() {
            // SAFETY: the row has this whole chunk, and the processor has such vectors.
            unsafe { *nans = lanes_of::<A, W, GREATEST>(chunk(c + k), REDUCE_CHUNK, lanes) }
        }
        for (k, (lanes, nans)) in all.iter().zip(nans).enumerate() {
            // SAFETY: the row has this whole chunk, and `dst` has an element for it.
            unsafe {
                put(
                    dst,
                    c + k,
                    match nans {
                        0 => folded(fast, *lanes),
                        _ => reduced(whole, chunk(c + k).cast(), REDUCE_CHUNK),
                    },
                );
            }
        }
    }
    for c in together..n.div_ceil(REDUCE_CHUNK) {
        let n = REDUCE_CHUNK.min(n - c * REDUCE_CHUNK);
        let rest = n % REDUCE_LANES;
        // SAFETY: only the `n` elements of this chunk are read, and `dst` has an element for it.
        unsafe {
            if n < REDUCE_LANES {
                put(dst, c, reduced(whole, chunk(c).cast(), n));
                continue;
            }
            let mut all = [A::default(); REDUCE_LANES];
            let mut nans = lanes_of::<A, W, GREATEST>(chunk(c), n - rest, &mut all);
            for (l, lane) in all.iter_mut().enumerate().take(rest) {
                let x = chunk(c).add(n - rest + l).read_unaligned();
                nans |= u32::from(is_nan(x));
                *lane = fast(*lane, x);
            }
            let result = match nans {
                0 => folded(fast, all),
                _ => reduced(whole, chunk(c).cast(), n),
            };
            put(dst, c, result);
        }
    }
}

/// Combines the first `n` elements of a chunk into the lanes; `n` is a positive multiple of the number of
/// lanes. Returns 0 if none of them is NaN.
///
/// # Safety
/// The chunk has `n` elements; the processor has such vectors.
#[inline(always)]
unsafe fn lanes_of<A, W, const GREATEST: bool>(
    chunk: *const A,
    n: usize,
    all: &mut [A; REDUCE_LANES],
) -> u32
where
    A: Real,
    W: Vector<Real = A>,
{
    // SAFETY: the chunk has `n` elements, and the processor has such vectors.
    unsafe {
        let mut lanes = W::load(chunk);
        let mut nans = lanes.nans();
        for k in (REDUCE_LANES..n).step_by(REDUCE_LANES) {
            let x = W::load(chunk.add(k));
            nans |= x.nans();
            lanes = lanes.or_beyond::<GREATEST>(x);
        }
        lanes.store(all.as_mut_ptr());
        nans
    }
}
