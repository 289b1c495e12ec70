//! Prefix scans of rows, and rows that are multiplied and accumulated.
//!
//! Owns [`scan`] and [`multiply`]. Invariant: a scan has exactly the bits that `op_eval` gives from left to
//! right.
//!
//! Not here: the addresses of the rows (`library_ops`).

use super::reducing::reducing;
use super::row_fn::{RowFn, RowFnMaker};
use super::row_loops::{RowLoop, best};
use gpupy_core::op_eval::conjured;
use gpupy_core::op_eval::element::Stored;
use gpupy_core::{DType, Op};
use gpupy_jit::StridedPointer;
use std::marker::PhantomData;

/// Rows that are scanned interleaved: each element waits for the one before it, so one row alone is slow.
pub const SIDE: usize = 8;

/// Prefix scans of rows of `n` elements. Each row has the walk of its results, the walk of its elements, and
/// its start value.
///
/// # Safety
/// The rows have `n` elements.
pub type ScanFn = unsafe fn(&[(StridedPointer, StridedPointer, *const u8)], usize);

/// The scan by an operation, or `None` where it does not scan the dtype.
pub fn scan(op: Op, dtype: DType) -> Option<ScanFn> {
    reducing(op, dtype, Scanning)
}

/// Makes functions that scan.
struct Scanning;

impl RowFnMaker for Scanning {
    type Out = ScanFn;
    fn make<A: Stored, F: Fn(A, A) -> A + Copy + 'static>(self, _: F) -> ScanFn {
        scanned::<A, F>
    }
}

/// # Safety
/// As for [`ScanFn`]; a value of `F` exists.
unsafe fn scanned<A: Stored, F: Fn(A, A) -> A + Copy + 'static>(
    rows: &[(StridedPointer, StridedPointer, *const u8)],
    n: usize,
) {
    // SAFETY: the rows have `n` elements, as `ScanFn` requires.
    unsafe {
        let f = conjured::<F>();
        if let Ok(rows) = <&[(StridedPointer, StridedPointer, *const u8); SIDE]>::try_from(rows) {
            return side_by_side(f, rows, n);
        }
        for row in rows {
            side_by_side(f, &[*row], n);
        }
    }
}

/// # Safety
/// As of [`ScanFn`].
#[inline(always)]
unsafe fn side_by_side<A: Stored, const N: usize>(
    f: impl Fn(A, A) -> A,
    rows: &[(StridedPointer, StridedPointer, *const u8); N],
    n: usize,
) {
    // SAFETY: the rows have `n` elements, as `ScanFn` requires.
    unsafe {
        let mut now = rows.map(|(_, _, start)| A::load(start.cast::<A::Raw>().read_unaligned()));
        let mut to = rows.map(|(to, ..)| to.ptr);
        let mut from = rows.map(|(_, from, _)| from.ptr);
        for _ in 0..n {
            for (row, now) in now.iter_mut().enumerate() {
                let x = A::load(from[row].cast::<A::Raw>().read_unaligned());
                *now = f(*now, x);
                to[row].cast::<A::Raw>().write_unaligned(now.store());
                from[row] = from[row].wrapping_offset(rows[row].1.step);
                to[row] = to[row].wrapping_offset(rows[row].0.step);
            }
        }
    }
}

/// The rows that [`multiply`] takes at a time.
pub const TOGETHER: usize = 4;

/// Accumulates into the results: each of the 4 elements of the first operand times a row of the second, whose 4
/// rows are contiguous.
pub fn multiply(dtype: DType) -> RowFn {
    match dtype {
        DType::Bool => best::<Multiply<Logical>>(),
        DType::I8 | DType::U8 => best::<Multiply<u8>>(),
        DType::I16 | DType::U16 => best::<Multiply<u16>>(),
        DType::I32 | DType::U32 => best::<Multiply<u32>>(),
        _ => best::<Multiply<u64>>(),
    }
}

/// Numbers whose sums of products do not depend on the order.
trait Ring: Copy {
    fn add_product(self, x: Self, y: Self) -> Self;
}

macro_rules! rings {
    ($($t:ident)*) => { $(
        impl Ring for $t {
            #[inline(always)]
            fn add_product(self, x: $t, y: $t) -> $t {
                self.wrapping_add(x.wrapping_mul(y))
            }
        }
    )* };
}
rings!(u8 u16 u32 u64);

/// A bool.
#[derive(Clone, Copy)]
struct Logical(u8);

impl Ring for Logical {
    #[inline(always)]
    fn add_product(self, x: Logical, y: Logical) -> Logical {
        Logical(self.0 | x.0 & y.0)
    }
}

struct Multiply<T>(PhantomData<T>);

impl<T: Ring> RowLoop for Multiply<T> {
    #[inline(always)]
    unsafe fn run(dst: *mut u8, [x, y, _]: [*const u8; 3], n: usize) {
        let (dst, x, y) = (dst.cast::<T>(), x.cast::<T>(), y.cast::<T>());
        // SAFETY: there are 4 elements, 4 rows of `n` elements, and results for `n`.
        unsafe {
            let x: [T; TOGETHER] = std::array::from_fn(|r| x.add(r).read_unaligned());
            for i in 0..n {
                let mut sum = dst.add(i).read_unaligned();
                for (r, x) in x.iter().enumerate() {
                    sum = sum.add_product(*x, y.add(r * n + i).read_unaligned());
                }
                dst.add(i).write_unaligned(sum);
            }
        }
    }
}
