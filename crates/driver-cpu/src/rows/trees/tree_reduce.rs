//! Tree reduction: each 256 elements of a row become one, by the canonical tree.
//!
//! Owns [`reduce_chunks`]. Where the order of combination does not change bits (integers and bools), it is the
//! fastest one.
//!
//! Not here: combining rows element by element (`row_loops.rs`), sums and extremes of floats (`vector_rows.rs`), the
//! tree of one row (`reduction_tree.rs`), many short rows (`short/tile_reductions.rs`).

use super::super::reducing::reducing;
use super::super::row_fn::{RowFn, RowFnMaker};
use super::super::row_loops::{RowLoop, best, get, put};
use super::super::vector_rows::reduce_floats;
use super::reduction_tree::{TOGETHER, folded, reduced};
use gpupy_core::ir::{REDUCE_CHUNK, REDUCE_LANES};
use gpupy_core::op_eval::conjured;
use gpupy_core::op_eval::element::Stored;
use gpupy_core::{DType, Op};
use std::marker::PhantomData;

/// One level of a reduction by the canonical tree (`ir::Form::Reduce`): each 256 elements of the operand become
/// one result; the last chunk may be shorter.
pub fn reduce_chunks(op: Op, dtype: DType) -> Option<RowFn> {
    if !op.reduces(dtype) {
        return None;
    }
    Some(match (op, dtype) {
        // The maximum of bools is "any", the minimum is "all".
        (Op::Max | Op::Or, DType::Bool) => best::<Truths<true>>(),
        (Op::Min | Op::And, DType::Bool) => best::<Truths<false>>(),
        _ if dtype.is_int() => return reducing(op, dtype, InAnyOrder),
        _ => return reduce_floats(op, dtype).or_else(|| reducing(op, dtype, ByLanes)),
    })
}

/// Fills a row with -0.0, the neutral element of float addition: adding to it changes no bit.
///
/// # Safety
/// `to` has room for `n` elements of a float dtype, and is aligned for them.
pub unsafe fn nothing_added(to: *mut u8, dtype: DType, n: usize) {
    // SAFETY: `to` has room for `n` elements and is aligned for them.
    unsafe {
        match dtype {
            DType::F32 => std::slice::from_raw_parts_mut(to.cast(), n).fill(-0.0_f32),
            _ => std::slice::from_raw_parts_mut(to.cast(), n).fill(-0.0_f64),
        }
    }
}

/// Makes functions that follow the canonical tree.
struct ByLanes;

impl RowFnMaker for ByLanes {
    type Out = RowFn;
    fn make<A: Stored, F: Fn(A, A) -> A + Copy + 'static>(self, _: F) -> RowFn {
        best::<TreeReduce<A, F>>()
    }
}

/// Makes functions that may combine in any order.
struct InAnyOrder;

impl RowFnMaker for InAnyOrder {
    type Out = RowFn;
    fn make<A: Stored, F: Fn(A, A) -> A + Copy + 'static>(self, _: F) -> RowFn {
        best::<AnyOrder<A, F>>()
    }
}

/// Calls `f` with the first element and the length of each chunk, and stores its result.
///
/// # Safety
/// As for [`RowFn`], with an element of `dst` for each chunk.
#[inline(always)]
unsafe fn by_chunk<A: Stored>(
    dst: *mut u8,
    a: *const u8,
    n: usize,
    f: impl Fn(*const u8, usize) -> A,
) {
    for (c, first) in (0..n).step_by(REDUCE_CHUNK).enumerate() {
        let chunk = a.wrapping_add(first * size_of::<A::Raw>());
        // SAFETY: the row has this chunk, and `dst` has an element for it.
        unsafe { put(dst, c, f(chunk, REDUCE_CHUNK.min(n - first))) }
    }
}

/// Combines in any order.
struct AnyOrder<A, F>(PhantomData<(A, F)>);

impl<A: Stored, F: Fn(A, A) -> A + Copy + 'static> RowLoop for AnyOrder<A, F> {
    type Args = [*const u8; 3];
    #[inline(always)]
    unsafe fn run(dst: *mut u8, [a, ..]: [*const u8; 3], n: usize) {
        // SAFETY: `by_chunk` passes chunks of the row; a value of `F` was passed to `make`, so `F` may be conjured.
        unsafe {
            let f = conjured::<F>();
            by_chunk(dst, a, n, |chunk, n| {
                (1..n).fold(get::<A>(chunk, 0), |all, i| f(all, get(chunk, i)))
            });
        }
    }
}

/// Reduces bools: whether any is true, or all are.
struct Truths<const ANY: bool>;

impl<const ANY: bool> RowLoop for Truths<ANY> {
    type Args = [*const u8; 3];
    #[inline(always)]
    unsafe fn run(dst: *mut u8, [a, ..]: [*const u8; 3], n: usize) {
        // SAFETY: `by_chunk` passes chunks of the row.
        unsafe {
            by_chunk(dst, a, n, |chunk, n| {
                let bytes = std::slice::from_raw_parts(chunk, n);
                let of = |all: u8, byte: &u8| if ANY { all.max(*byte) } else { all.min(*byte) };
                bytes.iter().fold(if ANY { 0 } else { u8::MAX }, of) != 0
            });
        }
    }
}

/// Reduces by the canonical tree: `dst[c]` combines the elements of `a` from `256 c` on.
struct TreeReduce<A, F>(PhantomData<(A, F)>);

impl<A: Stored, F: Fn(A, A) -> A + Copy + 'static> RowLoop for TreeReduce<A, F> {
    type Args = [*const u8; 3];
    #[inline(always)]
    unsafe fn run(dst: *mut u8, [a, ..]: [*const u8; 3], n: usize) {
        // SAFETY: `a` has `n` elements and `dst` one for each chunk; a value of `F` was passed to `make`.
        unsafe {
            let f = conjured::<F>();
            let chunk = |c: usize| a.cast::<A::Raw>().add(c * REDUCE_CHUNK).cast::<u8>();
            let together = n / (REDUCE_CHUNK * TOGETHER) * TOGETHER;
            for c in (0..together).step_by(TOGETHER) {
                let pair = |pair: usize| lanes_of(f, [0, 1].map(|k| chunk(c + 2 * pair + k)));
                let all: [[[A; REDUCE_LANES]; 2]; TOGETHER / 2] = std::array::from_fn(pair);
                for (k, lanes) in all.as_flattened().iter().enumerate() {
                    put(dst, c + k, folded(f, *lanes));
                }
            }
            for c in together..n.div_ceil(REDUCE_CHUNK) {
                put(dst, c, reduced(f, chunk(c), REDUCE_CHUNK.min(n - c * REDUCE_CHUNK)));
            }
        }
    }
}

/// The lanes of two whole chunks, interleaved: each operation waits for the one before it in its chunk, so one
/// chunk alone is slow.
///
/// # Safety
/// Both chunks have 256 elements.
#[inline(always)]
unsafe fn lanes_of<A: Stored>(
    f: impl Fn(A, A) -> A + Copy,
    chunks: [*const u8; 2],
) -> [[A; REDUCE_LANES]; 2] {
    // SAFETY: indices are below the length of a chunk.
    unsafe {
        let mut all =
            chunks.map(|chunk| std::array::from_fn::<A, REDUCE_LANES, _>(|l| get(chunk, l)));
        for k in (REDUCE_LANES..REDUCE_CHUNK).step_by(REDUCE_LANES) {
            for (lanes, chunk) in all.iter_mut().zip(chunks) {
                for (l, lane) in lanes.iter_mut().enumerate() {
                    *lane = f(*lane, get(chunk, k + l));
                }
            }
        }
        all
    }
}
