//! Loops over rows, compiled once for any processor and once for AVX2.
//!
//! Owns the loops and [`best`]. Elements are read and written unaligned, which costs nothing for aligned rows.
//! Invariant: within one pass an element is read before its place is written, so results may overwrite an
//! operand's row.
//!
//! Not here: which operation a loop is for (`mod.rs`), the steps of reductions (`trees`).

use super::row_fn::RowFn;
use gpupy_core::op_eval::conjured;
use gpupy_core::op_eval::element::Stored;
use std::marker::PhantomData;

/// A loop over rows.
pub trait RowLoop {
    /// What it reads.
    type Args;

    /// # Safety
    /// As for [`RowFn`].
    unsafe fn run(dst: *mut u8, args: Self::Args, n: usize);
}

/// The loop, compiled for this processor.
pub fn best<L: RowLoop>() -> unsafe fn(*mut u8, L::Args, usize) {
    #[cfg(target_arch = "x86_64")]
    {
        // Wider vectors gain nothing, because rows come from memory, and shorter loops end sooner.
        #[target_feature(enable = "avx,avx2,bmi1,bmi2,fma,f16c,lzcnt,popcnt")]
        unsafe fn with_avx2<L: RowLoop>(dst: *mut u8, args: L::Args, n: usize) {
            // SAFETY: `best` has checked the processor's features; rows are as `RowFn` requires.
            unsafe { L::run(dst, args, n) }
        }
        let bits = is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2");
        let counts = is_x86_feature_detected!("lzcnt") && is_x86_feature_detected!("popcnt");
        let floats = is_x86_feature_detected!("fma") && is_x86_feature_detected!("f16c");
        if is_x86_feature_detected!("avx2") && bits && counts && floats {
            return with_avx2::<L>;
        }
    }
    L::run
}

/// Element `i` of a row, or the one element of a scalar.
///
/// # Safety
/// The row has that element.
#[inline(always)]
pub unsafe fn get<A: Stored>(row: *const u8, i: usize) -> A {
    // SAFETY: the row has element `i`.
    A::load(unsafe { row.cast::<A::Raw>().add(i).read_unaligned() })
}

/// Writes element `i` of a row.
///
/// # Safety
/// The row has that element.
#[inline(always)]
pub unsafe fn put<A: Stored>(row: *mut u8, i: usize, value: A) {
    // SAFETY: the row has element `i`.
    unsafe { row.cast::<A::Raw>().add(i).write_unaligned(value.store()) }
}

/// `dst = f(a)`.
pub struct Unary<A, R, F>(PhantomData<(A, R, F)>);

impl<A: Stored, R: Stored, F: Fn(A) -> R + Copy + 'static> RowLoop for Unary<A, R, F> {
    type Args = [*const u8; 3];
    #[inline(always)]
    unsafe fn run(dst: *mut u8, [a, ..]: [*const u8; 3], n: usize) {
        // SAFETY: the rows have `n` elements; a value of `F` was passed to the maker, so `F` may be conjured.
        unsafe {
            let f = conjured::<F>();
            for i in 0..n {
                put(dst, i, f(get(a, i)));
            }
        }
    }
}

/// `dst = f(a, b)`, where `SA` and `SB` say which operands are scalars.
struct Binary<A, B, R, F, const SA: bool, const SB: bool>(PhantomData<(A, B, R, F)>);

impl<A, B, R, F, const SA: bool, const SB: bool> RowLoop for Binary<A, B, R, F, SA, SB>
where
    A: Stored,
    B: Stored,
    R: Stored,
    F: Fn(A, B) -> R + Copy + 'static,
{
    type Args = [*const u8; 3];
    #[inline(always)]
    unsafe fn run(dst: *mut u8, [a, b, _]: [*const u8; 3], n: usize) {
        // SAFETY: the rows have `n` elements, at least 1; a value of `F` was passed to `binary`.
        unsafe {
            let f = conjured::<F>();
            let (first_a, first_b) = (get(a, 0), get(b, 0));
            for i in 0..n {
                let x = if SA { first_a } else { get(a, i) };
                let y = if SB { first_b } else { get(b, i) };
                put(dst, i, f(x, y));
            }
        }
    }
}

/// The loop of a binary operation with these scalar operands.
pub fn binary<A, B, R, F>(_: F, scalars: [bool; 3]) -> RowFn
where
    A: Stored,
    B: Stored,
    R: Stored,
    F: Fn(A, B) -> R + Copy + 'static,
{
    match scalars {
        [true, false, _] => best::<Binary<A, B, R, F, true, false>>(),
        [false, true, _] => best::<Binary<A, B, R, F, false, true>>(),
        _ => best::<Binary<A, B, R, F, false, false>>(),
    }
}

/// A word of bits.
pub trait Word: Copy + 'static {
    /// `a` where the condition holds, otherwise `b`. It selects bits, because compilers turn a choice between
    /// elements into one between addresses, which is not vectorised.
    fn choose(condition: bool, a: Self, b: Self) -> Self;
}

macro_rules! words {
    ($($t:ident)*) => { $(
        impl Word for $t {
            #[inline(always)]
            fn choose(condition: bool, a: $t, b: $t) -> $t {
                let mask = $t::from(condition).wrapping_neg();
                (a & mask) | (b & !mask)
            }
        }
    )* };
}
words!(u8 u16 u32 u64 u128);

/// `dst = if c { a } else { b }`, on words of a size.
struct Select<W, const SC: bool, const SA: bool, const SB: bool>(PhantomData<W>);

impl<W: Word, const SC: bool, const SA: bool, const SB: bool> RowLoop for Select<W, SC, SA, SB> {
    type Args = [*const u8; 3];
    #[inline(always)]
    unsafe fn run(dst: *mut u8, [c, a, b]: [*const u8; 3], n: usize) {
        let (a, b, dst) = (a.cast::<W>(), b.cast::<W>(), dst.cast::<W>());
        // SAFETY: the rows have `n` elements, at least 1.
        unsafe {
            let first_c = c.read() != 0;
            let (first_a, first_b) = (a.read_unaligned(), b.read_unaligned());
            for i in 0..n {
                let chosen = if SC { first_c } else { c.add(i).read() != 0 };
                let x = if SA { first_a } else { a.add(i).read_unaligned() };
                let y = if SB { first_b } else { b.add(i).read_unaligned() };
                dst.add(i).write_unaligned(W::choose(chosen, x, y));
            }
        }
    }
}

/// The loop of a select on words of a size, with these scalar operands.
pub fn select<W: Word>(scalars: [bool; 3]) -> RowFn {
    match scalars {
        [false, false, false] => best::<Select<W, false, false, false>>(),
        [false, false, true] => best::<Select<W, false, false, true>>(),
        [false, true, false] => best::<Select<W, false, true, false>>(),
        [false, true, true] => best::<Select<W, false, true, true>>(),
        [true, false, false] => best::<Select<W, true, false, false>>(),
        [true, false, true] => best::<Select<W, true, false, true>>(),
        [true, true, false] => best::<Select<W, true, true, false>>(),
        [true, true, true] => best::<Select<W, true, true, true>>(),
    }
}

/// `dst = f(dst, a)`.
pub struct Accumulate<A, F>(PhantomData<(A, F)>);

impl<A: Stored, F: Fn(A, A) -> A + Copy + 'static> RowLoop for Accumulate<A, F> {
    type Args = [*const u8; 3];
    #[inline(always)]
    unsafe fn run(dst: *mut u8, [a, ..]: [*const u8; 3], n: usize) {
        // SAFETY: the rows have `n` elements; a value of `F` was passed to the maker, so `F` may be conjured.
        unsafe {
            let f = conjured::<F>();
            for i in 0..n {
                put(dst, i, f(get(dst, i), get(a, i)));
            }
        }
    }
}

/// `dst = f(f(f(dst, a), b), c)`.
pub struct AccumulateThree<A, F>(PhantomData<(A, F)>);

impl<A: Stored, F: Fn(A, A) -> A + Copy + 'static> RowLoop for AccumulateThree<A, F> {
    type Args = [*const u8; 3];
    #[inline(always)]
    unsafe fn run(dst: *mut u8, [a, b, c]: [*const u8; 3], n: usize) {
        // SAFETY: the rows have `n` elements; a value of `F` was passed to the maker, so `F` may be conjured.
        unsafe {
            let f = conjured::<F>();
            for i in 0..n {
                put(dst, i, f(f(f(get(dst, i), get(a, i)), get(b, i)), get(c, i)));
            }
        }
    }
}
