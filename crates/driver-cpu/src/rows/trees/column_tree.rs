//! Column reduction: rows are combined element by element, each row as one element of the canonical tree.
//!
//! Owns [`columns`]. A block of columns is combined whole before the next, so that its lanes stay in registers and the
//! nearest cache, and each element is read once.
//!
//! Not here: rows that are combined one after another (`reducing.rs`), the tree of one row (`reduction_tree.rs`).

use super::super::reducing::reducing;
use super::super::row_fn::RowFnMaker;
use super::super::row_loops::{RowLoop, best, put};
use gpupy_core::ir::REDUCE_LANES;
use gpupy_core::op_eval::conjured;
use gpupy_core::op_eval::element::Stored;
use gpupy_core::{DType, Op};
use std::marker::PhantomData;

/// Rows, the same number of bytes from each other.
#[derive(Clone, Copy)]
pub struct SpacedRows {
    /// The first element of the first row.
    pub first: *const u8,
    /// Bytes from a row to the next.
    pub step: isize,
    /// How many there are: at least one, and at most a chunk.
    pub count: usize,
}

/// Combines rows of `n` elements into one by the canonical tree. It may be the first of them.
///
/// # Safety
/// All rows have `n` elements; otherwise as for `RowFn`.
pub type ColumnsFn = unsafe fn(*mut u8, SpacedRows, usize);

/// The function that combines columns, for operations that reduce (`Op::reduces`).
pub fn columns(op: Op, dtype: DType) -> Option<ColumnsFn> {
    reducing(op, dtype, ByColumn)
}

/// Makes functions that combine columns.
struct ByColumn;

impl RowFnMaker for ByColumn {
    type Out = ColumnsFn;
    fn make<A: Stored, F: Fn(A, A) -> A + Copy + 'static>(self, _: F) -> ColumnsFn {
        match size_of::<A::Raw>() {
            1 => best::<Columns<A, F, 64>>(),
            2 => best::<Columns<A, F, 32>>(),
            4 => best::<Columns<A, F, 16>>(),
            _ => best::<Columns<A, F, 8>>(),
        }
    }
}

/// Combines columns in blocks of `W`: a line of the cache, two vectors.
struct Columns<A, F, const W: usize>(PhantomData<(A, F)>);

impl<A: Stored, F: Fn(A, A) -> A + Copy + 'static, const W: usize> RowLoop for Columns<A, F, W> {
    type Args = SpacedRows;

    #[inline(always)]
    unsafe fn run(dst: *mut u8, rows: SpacedRows, n: usize) {
        let whole = n - n % W;
        // SAFETY: columns below `n` exist; a value of `F` was passed to `make`, so `F` may be conjured.
        unsafe {
            let f = conjured::<F>();
            for at in (0..whole).step_by(W) {
                put_all(dst, at, lanes_by_one::<A, W>(f, (rows, at), 0));
            }
            for at in whole..n {
                put_all(dst, at, lanes_by_one::<A, 1>(f, (rows, at), 0));
            }
        }
    }
}

/// Writes results from an element on.
///
/// # Safety
/// The row has these elements.
#[inline(always)]
unsafe fn put_all<A: Stored, const W: usize>(row: *mut u8, at: usize, results: [A; W]) {
    for (column, result) in results.into_iter().enumerate() {
        // SAFETY: the row has the element.
        unsafe { put(row, at + column, result) }
    }
}

/// The rows of a lane of the tree combined, in columns from one on.
///
/// # Safety
/// The rows have these columns, and there is a first row of the lane.
#[inline(always)]
unsafe fn lane<A: Stored, const W: usize>(
    f: impl Fn(A, A) -> A + Copy,
    (rows, at): (SpacedRows, usize),
    lane: usize,
) -> [A; W] {
    // SAFETY: the caller vouches for rows below `count`, and no other one is named.
    let row = |k: usize| unsafe {
        let first = rows.first.offset(rows.step * k as isize).cast::<A::Raw>().add(at);
        first.cast::<[A::Raw; W]>().read_unaligned()
    };
    let mut part = row(lane).map(A::load);
    for k in (lane + REDUCE_LANES..rows.count).step_by(REDUCE_LANES) {
        let next = row(k);
        for column in 0..W {
            part[column] = f(part[column], A::load(next[column]));
        }
    }
    part
}

/// Levels of the tree over the lanes, each of which combines a part with the one that is half as far as its own parts
/// were. Each part is there before the next is begun, so that few are held at once.
macro_rules! levels {
    ($($level:ident $parts:ident $half:literal;)*) => { $(
        /// # Safety
        /// As of `lane`.
        #[inline(always)]
        unsafe fn $level<A: Stored, const W: usize>(
            f: impl Fn(A, A) -> A + Copy,
            rows: (SpacedRows, usize),
            lane: usize,
        ) -> [A; W] {
            // SAFETY: the caller vouches for the first lane, and the other one is below the count of rows.
            unsafe {
                let mut part = $parts::<A, W>(f, rows, lane);
                if lane + $half < rows.0.count {
                    let other = $parts::<A, W>(f, rows, lane + $half);
                    for column in 0..W {
                        part[column] = f(part[column], other[column]);
                    }
                }
                part
            }
        }
    )* };
}
levels! {
    lanes_by_eight lane 8;
    lanes_by_four lanes_by_eight 4;
    lanes_by_two lanes_by_four 2;
    lanes_by_one lanes_by_two 1;
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpupy_core::op_eval::whole;

    /// Elements of any dtype: small numbers, some of them NaN where those exist.
    fn element(dtype: DType, k: usize) -> Vec<u8> {
        let number = (k * 7919 % 23) as f64 - 9.0;
        let number = if k % 97 == 13 { f64::NAN } else { number };
        match dtype {
            DType::F32 => (number as f32 * 1.1).to_ne_bytes().into(),
            DType::F64 => (number * 1.1).to_ne_bytes().into(),
            DType::Bool => vec![(k * 31).is_multiple_of(3).into()],
            dtype => (k as u64 * 2_654_435_761).to_ne_bytes()[..dtype.size()].into(),
        }
    }

    #[test]
    fn each_column_is_what_the_canonical_tree_gives() {
        let dtypes = [DType::Bool, DType::I8, DType::U16, DType::I32, DType::F32, DType::F64];
        for (op, dtype) in [Op::Add, Op::Mul, Op::Max, Op::Min].into_iter().flat_map(|op| {
            dtypes
                .into_iter()
                .map(move |dtype| (op, dtype))
                .filter(|(op, dtype)| op.reduces(*dtype))
        }) {
            let combine = columns(op, dtype).unwrap();
            let size = dtype.size();
            for count in (1..40).chain([100, 255, 256]) {
                for n in [1, 7, 15, 16, 17, 33, 130] {
                    // Rows with room between them.
                    let step = (n + 3) * size;
                    let memory: Vec<u8> =
                        (0..count * (n + 3)).flat_map(|k| element(dtype, k)).collect();
                    let rows = SpacedRows { first: memory.as_ptr(), step: step as isize, count };
                    let mut found = vec![0; n * size];
                    // SAFETY: there are `count` rows of more than `n` elements, and room for `n` results.
                    unsafe { combine(found.as_mut_ptr(), rows, n) };
                    for column in 0..n {
                        let of_row = |row: usize| &memory[row * step + column * size..][..size];
                        let chunk: Vec<u8> = (0..count).flat_map(of_row).copied().collect();
                        let wanted = whole::reduced(op, dtype, &chunk).unwrap();
                        assert_eq!(
                            found[column * size..][..size],
                            wanted[..size],
                            "{op:?} of {dtype:?}, column {column} of {count} rows of {n}"
                        );
                    }
                }
            }
        }
    }
}
