//! Prefix scans of rows.
//!
//! Owns [`scan`]. Invariant: a scan has exactly the bits that `op_eval` gives from left to right.
//!
//! Not here: the addresses of the rows (`library_ops`).

use super::reducing::reducing;
use super::row_fn::RowFnMaker;
use gpupy_core::op_eval::conjured;
use gpupy_core::op_eval::element::Stored;
use gpupy_core::{DType, Op};
use gpupy_jit::StridedPointer;

/// Rows that are scanned interleaved: each element waits for the one before it, so one row alone is slow. The places of
/// more rows have no registers.
pub const SIDE: usize = 4;

/// Prefix scans of rows of `n` elements. Each row has the walk of its results, the walk of its elements, and
/// its start value.
///
/// # Safety
/// The rows have `n` elements. Their steps are those of the first.
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
        let (to, from) = (rows.map(|(to, ..)| to.ptr), rows.map(|(_, from, _)| from.ptr));
        let (step_to, step_from) =
            rows.first().map_or((0, 0), |(to, from, _)| (to.step, from.step));
        let (mut at_to, mut at_from) = (0, 0);
        for _ in 0..n {
            for (row, now) in now.iter_mut().enumerate() {
                let x = from[row].wrapping_offset(at_from).cast::<A::Raw>().read_unaligned();
                *now = f(*now, A::load(x));
                let to = to[row].wrapping_offset(at_to).cast::<A::Raw>();
                to.write_unaligned(now.store());
            }
            at_to += step_to;
            at_from += step_from;
        }
    }
}
