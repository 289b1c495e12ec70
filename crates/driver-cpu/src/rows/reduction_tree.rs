//! The canonical tree, over the elements of one row.
//!
//! Owns [`folded`], [`reduced`] and [`TOGETHER`]. Invariant: elements are combined in the order that the IR says
//! (`ir::Form::Reduce`), so results have its bits.
//!
//! Not here: how many rows there are (`tree_reduce.rs`, `min_max.rs`).

use super::row_loops::get;
use gpupy_core::ir::REDUCE_LANES;
use gpupy_core::op_eval::element::Stored;

/// Chunks whose lanes are combined one chunk after another, once there are those of all: beside the sums of their elements
/// the compiler makes the last steps of the tree one number at a time. A sum of float32 in a cache takes 0.04 ns an element
/// so, and 0.11 where each chunk is ended at once (AVX2 code on an Intel Xeon).
pub const TOGETHER: usize = 16;

/// The last steps of the canonical tree.
#[inline(always)]
pub fn folded<A: Stored>(f: impl Fn(A, A) -> A + Copy, mut lanes: [A; REDUCE_LANES]) -> A {
    for half in [8, 4, 2, 1] {
        for l in 0..half {
            lanes[l] = f(lanes[l], lanes[l + half]);
        }
    }
    lanes[0]
}

/// The combination of `n` elements, at least 1, by the canonical tree.
///
/// # Safety
/// The row has that many.
#[inline(always)]
pub unsafe fn reduced<A: Stored>(f: impl Fn(A, A) -> A + Copy, row: *const u8, n: usize) -> A {
    // SAFETY: no element is named that does not exist.
    unsafe {
        if n < REDUCE_LANES {
            let mut lanes = [get::<A>(row, 0); REDUCE_LANES];
            for (l, lane) in lanes.iter_mut().enumerate().take(n) {
                *lane = get(row, l);
            }
            for half in [8, 4, 2, 1] {
                for l in 0..half.min(n.saturating_sub(half)) {
                    lanes[l] = f(lanes[l], lanes[l + half]);
                }
            }
            return lanes[0];
        }
        let mut lanes = std::array::from_fn::<A, REDUCE_LANES, _>(|l| get(row, l));
        let whole = n - n % REDUCE_LANES;
        for k in (REDUCE_LANES..whole).step_by(REDUCE_LANES) {
            for (l, lane) in lanes.iter_mut().enumerate() {
                *lane = f(*lane, get(row, k + l));
            }
        }
        if whole == n {
            return folded(f, lanes);
        }
        // A copy, so that the lanes above stay in registers.
        let mut rest = lanes;
        for (l, lane) in rest.iter_mut().enumerate().take(n - whole) {
            *lane = f(*lane, get(row, whole + l));
        }
        folded(f, rest)
    }
}
