//! Prefix scans.
//!
//! Owns [`run`]. Chunks are independent, because each has its start value: several are scanned interleaved, and
//! threads share them. Many short rows are scanned as tiles, all at once.
//!
//! Not here: the loops (`rows`).

use super::library_launch::LibraryLaunch;
use crate::errors::invalid;
use crate::rows::{self, ShortTile, TileMemory};
use crate::threads::executor::Executor;
use crate::thresholds::T;
use gpupy_core::ir::REDUCE_CHUNK;
use gpupy_core::{Op, Result};
use gpupy_jit::StridedPointer;
use smallvec::SmallVec;

/// Evaluates a launch of a scan.
pub fn run(whole: &LibraryLaunch<'_>, op: Op, executor: &mut Executor<'_>) -> Result<()> {
    let scan =
        rows::scan(op, whole.dtype).ok_or_else(|| invalid("a scan that `check_ir` refuses"))?;
    let (last, rows) = (whole.shape.len() - 1, whole.rows());
    let n = whole.shape[last];
    if n <= rows::SHORT && rows >= T.scanned_rows {
        return short(whole, op, executor);
    }
    let chunks = n.div_ceil(REDUCE_CHUNK);
    let length = |chunk: usize| REDUCE_CHUNK.min(n - chunk * REDUCE_CHUNK);
    // Neighbouring items are contiguous in memory: along the rows, or across them.
    let along = whole.reads[0].access.strides[last].abs() <= 1;
    let place = |number: usize| match along {
        true => (number / chunks, number % chunks),
        false => (number % rows, number / rows),
    };
    let walks = |number: usize| {
        let (row, chunk) = place(number);
        let mut point = whole.row(row);
        point[last] = chunk;
        let start = whole.reads[1].walk(&point, last).ptr.cast_const();
        point[last] = chunk * REDUCE_CHUNK;
        (whole.dest.walk(&point, last), whole.reads[0].walk(&point, last), start)
    };
    let count = rows * chunks;
    let time = (rows as u64 * n as u64).saturating_mul(T.scan_cost) / 1000;
    executor.share(count.div_ceil(rows::SIDE), time, &|items| {
        let mut group: SmallVec<[(StridedPointer, StridedPointer, *const u8); rows::SIDE]> =
            SmallVec::new();
        let until = (items.end * rows::SIDE).min(count);
        let mut at = items.start * rows::SIDE;
        while at < until {
            // Only chunks of equal length are interleaved.
            let len = length(place(at).1);
            group.clear();
            while at < until && group.len() < rows::SIDE && length(place(at).1) == len {
                group.push(walks(at));
                at += 1;
            }
            // SAFETY: the contract guarantees that accesses name elements that exist; `len` is the length of every
            // chunk in the group.
            unsafe { scan(&group, len) }
        }
        Ok(())
    })
}

/// Evaluates a scan of many short rows, each of one chunk.
fn short(whole: &LibraryLaunch<'_>, op: Op, executor: &mut Executor<'_>) -> Result<()> {
    let (dtype, size, count) = (whole.dtype, whole.dtype.size(), whole.rows());
    let add = rows::operation(op, dtype, dtype, [false; 3])
        .ok_or_else(|| invalid("a scan that `check_ir` refuses"))?;
    let n = whole.shape[whole.shape.len() - 1];
    // Before the elements stand the starts.
    let lanes = ShortTile::new(&mut TileMemory::default(), size, n + 1).lanes;
    let time = (count as u64 * n as u64).saturating_mul(T.scan_cost) / 1000;
    executor.share(count.div_ceil(lanes), time, &|tiles| {
        for number in tiles {
            let numbers = number * lanes..count.min((number + 1) * lanes);
            let mut memory = TileMemory::default();
            let starts = ShortTile::new(&mut memory, size, n + 1);
            let elements = starts.from_row(1);
            // SAFETY: the tile has room for the rows and their starts, and for `numbers.len()` in each of its rows; the
            // contract guarantees that accesses name elements that exist.
            unsafe {
                whole.load(&whole.reads[1], starts, numbers.clone(), 1);
                whole.load(&whole.reads[0], elements, numbers.clone(), n);
                for k in 1..=n {
                    let (before, here) = (starts.row(k - 1).cast_const(), starts.row(k));
                    add(here, [before, here.cast_const(), before], numbers.len());
                }
                whole.store(elements, numbers, n);
            }
        }
        Ok(())
    })
}
