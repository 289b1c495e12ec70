//! Sums of products of whole numbers and bools, which wrap, so that their order does not matter.
//!
//! Owns [`WholeProducts`] and [`Terms`]. Not here: which elements are multiplied (`library_ops/multiply.rs`).

use super::super::row_loops::{RowLoop, best};
use gpupy_core::DType;
use std::marker::PhantomData;

/// The terms of sums: a row of factors, and what each of them is multiplied by.
#[derive(Clone, Copy)]
pub struct Terms {
    /// The first factor. The others follow one after another.
    pub x: *const u8,
    /// The first element by which the first factor is multiplied.
    pub y: *const u8,
    /// Bytes between the elements of `y` of a factor and those of the next, or between those of a sum and the next.
    pub step: isize,
    /// How many factors there are.
    pub count: usize,
}

/// Computes a row of sums.
///
/// # Safety
/// The terms of all sums exist; otherwise as of `RowFn`.
pub type TermsFn = unsafe fn(*mut u8, Terms, usize);

/// The functions for the elements of a dtype.
pub struct WholeProducts {
    /// Of `y`, the elements of a factor lie one after another.
    pub across: TermsFn,
    /// Of `y`, the elements of a sum do.
    pub along: TermsFn,
}

impl WholeProducts {
    /// Those of a dtype of whole numbers, or of bool.
    pub fn of(dtype: DType) -> WholeProducts {
        fn of<T: Ring>() -> WholeProducts {
            WholeProducts { across: best::<SumsAcross<T>>(), along: best::<SumsAlong<T>>() }
        }
        match dtype {
            DType::Bool => of::<Logical>(),
            DType::I8 | DType::U8 => of::<u8>(),
            DType::I16 | DType::U16 => of::<u16>(),
            DType::I32 | DType::U32 => of::<u32>(),
            _ => of::<u64>(),
        }
    }
}

/// Numbers whose sums of products do not depend on the order.
trait Ring: Copy {
    const ZERO: Self;
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
}

macro_rules! rings {
    ($($t:ident)*) => { $(
        impl Ring for $t {
            const ZERO: $t = 0;
            #[inline(always)]
            fn plus(self, other: $t) -> $t {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn times(self, other: $t) -> $t {
                self.wrapping_mul(other)
            }
        }
    )* };
}
rings!(u8 u16 u32 u64);

/// A bool.
#[derive(Clone, Copy)]
struct Logical(u8);

impl Ring for Logical {
    const ZERO: Logical = Logical(0);
    #[inline(always)]
    fn plus(self, other: Logical) -> Logical {
        Logical(self.0 | other.0)
    }
    #[inline(always)]
    fn times(self, other: Logical) -> Logical {
        Logical(self.0 & other.0)
    }
}

/// Factors that are multiplied at a time, so that sums are read and written less often.
const TOGETHER: usize = 4;

/// Sums side by side.
struct SumsAcross<T>(PhantomData<T>);

impl<T: Ring> RowLoop for SumsAcross<T> {
    type Args = Terms;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, terms: Terms, n: usize) {
        let (dst, x) = (dst.cast::<T>(), terms.x.cast::<T>());
        // SAFETY: there are `count` factors, as many rows of `n` elements, and room for `n` sums.
        unsafe {
            (0..n).for_each(|i| dst.add(i).write_unaligned(T::ZERO));
            let row = |k: usize| terms.y.offset(k as isize * terms.step).cast::<T>();
            let whole = terms.count - terms.count % TOGETHER;
            for k in (0..whole).step_by(TOGETHER) {
                let factors: [T; TOGETHER] = std::array::from_fn(|r| x.add(k + r).read_unaligned());
                let rows: [*const T; TOGETHER] = std::array::from_fn(|r| row(k + r));
                for i in 0..n {
                    let term = |r: usize| factors[r].times(rows[r].add(i).read_unaligned());
                    let four = term(0).plus(term(1)).plus(term(2).plus(term(3)));
                    dst.add(i).write_unaligned(dst.add(i).read_unaligned().plus(four));
                }
            }
            for k in whole..terms.count {
                let (factor, row) = (x.add(k).read_unaligned(), row(k));
                for i in 0..n {
                    let term = factor.times(row.add(i).read_unaligned());
                    dst.add(i).write_unaligned(dst.add(i).read_unaligned().plus(term));
                }
            }
        }
    }
}

/// One sum after another.
struct SumsAlong<T>(PhantomData<T>);

impl<T: Ring> RowLoop for SumsAlong<T> {
    type Args = Terms;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, terms: Terms, n: usize) {
        let (dst, x) = (dst.cast::<T>(), terms.x.cast::<T>());
        for i in 0..n {
            // SAFETY: there are `count` factors, as many elements for each of `n` sums, and room for these.
            unsafe {
                let y = terms.y.offset(i as isize * terms.step).cast::<T>();
                let term = |k: usize| x.add(k).read_unaligned().times(y.add(k).read_unaligned());
                let sum = (0..terms.count).fold(T::ZERO, |sum, k| sum.plus(term(k)));
                dst.add(i).write_unaligned(sum);
            }
        }
    }
}
