//! Transforms of long rows: a row is a matrix, whose columns are transformed, multiplied by roots of unity, and whose
//! rows are transformed then (the four-step algorithm). So the numbers that are worked on stay in the second cache, and
//! threads share one row.
//!
//! Owns [`LongRow`], and planes that lie apart. Not here: the other rows (`fourier_rows.rs`).

use super::moving::Neighbours;
use super::plan::{FourierPlan, factors};
use super::radix_passes::{ComplexLanes, Planes};
use crate::threads::executor::Executor;
use gpupy_core::routines::root_of_unity;
use gpupy_core::{Result, memory};
use gpupy_jit::StridedPointer;
use std::ops::Range;

/// Points from which on a row is long: planes of more leave the second cache.
const LONG: usize = 1 << 14;
/// Rows beside each other, at most: neighbours share cache lines.
pub const BESIDE: usize = 16;

/// A row as a matrix.
pub struct LongRow {
    rows: usize,
    columns: usize,
    /// The plan of a column, and that of a row.
    plans: [FourierPlan; 2],
    /// `exp(−2πi·j·k / n)` for row `k` of the transformed columns, column `j`: their parts.
    twiddles: [Vec<f64>; 2],
}

/// Planes that threads write different numbers of.
#[derive(Clone, Copy)]
struct SharedPlanes {
    re: *mut f64,
    im: *mut f64,
}

// SAFETY: threads write different numbers, and read none that is written.
unsafe impl Sync for SharedPlanes {}

impl SharedPlanes {
    fn of(planes: &mut Planes<'_>) -> SharedPlanes {
        SharedPlanes { re: planes.re.as_mut_ptr(), im: planes.im.as_mut_ptr() }
    }

    /// # Safety
    /// There is room for the numbers, and nothing else reads or writes them.
    unsafe fn put_all(self, at: usize, re: &[f64], im: &[f64]) {
        // SAFETY: the condition is that of this function.
        unsafe {
            self.re.add(at).copy_from_nonoverlapping(re.as_ptr(), re.len());
            self.im.add(at).copy_from_nonoverlapping(im.as_ptr(), im.len());
        }
    }

    /// # Safety
    /// There is room for the number, and nothing else reads or writes it.
    unsafe fn put(self, at: usize, number: ComplexLanes) {
        // SAFETY: the condition is that of this function.
        unsafe { (*self.re.add(at), *self.im.add(at)) = (number.re, number.im) };
    }
}

impl LongRow {
    /// The matrix of a row of `n` points; `None` for few points, and for those with a large prime factor.
    pub fn of(n: usize) -> Option<Result<LongRow>> {
        if n < LONG || factors(n).iter().any(|factor| *factor > 7) {
            return None;
        }
        let root = (1..).take_while(|root| root * root <= n).last()?;
        let rows = (BESIDE..=root).rev().find(|rows| n.is_multiple_of(*rows))?;
        Some(LongRow::new(rows, n / rows))
    }

    /// A row of `rows · columns` points.
    ///
    /// # Errors
    /// - `OutOfMemory`: there is no room for its numbers.
    fn new(rows: usize, columns: usize) -> Result<LongRow> {
        let n = rows * columns;
        let mut twiddles = [memory::with_room(n)?, memory::with_room(n)?];
        for k in 0..rows as u64 {
            for j in 0..columns as u64 {
                let [c, s] = root_of_unity(j * k, n as u64);
                twiddles[0].push(c);
                twiddles[1].push(-s);
            }
        }
        let plans = [FourierPlan::short(rows), FourierPlan::short(columns)];
        Ok(LongRow { rows, columns, plans, twiddles })
    }

    /// Transforms a row from `data` into it; `room` is of the same length.
    ///
    /// # Errors
    /// - `OutOfMemory`: there is no room for the numbers of some columns.
    pub fn run(
        &self,
        data: &mut Planes<'_>,
        room: &mut Planes<'_>,
        executor: &mut Executor<'_>,
    ) -> Result<()> {
        let (rows, columns) = (self.rows, self.columns);
        let n = rows * columns;
        assert!(data.re.len() >= n && data.im.len() >= n, "the numbers are there");
        assert!(room.re.len() >= n && room.im.len() >= n, "there is room");
        let (data, room) = (SharedPlanes::of(data), SharedPlanes::of(room));
        // Two operations a nanosecond, roughly: much of it is moving.
        let time = (n as f64 * (n as f64).log2()) as u64;
        executor.share(columns.div_ceil(BESIDE), time, &|blocks| {
            MatrixStrip::new(rows)?.each(blocks, columns, |strip, first, count| {
                let [by_re, by_im] = &self.twiddles;
                // SAFETY: the planes have these numbers; no other block has these columns.
                unsafe {
                    strip.load(data, [first, columns, 1], [rows, count]);
                    let (re, im) = strip.transformed(&self.plans[0], count);
                    for k in 0..rows {
                        let (at, own) = (k * columns + first, k * count..(k + 1) * count);
                        let by = by_re[at..at + count].iter().zip(&by_im[at..at + count]);
                        let numbers = re[own.clone()].iter().zip(&im[own]);
                        for (q, ((re, im), (by_re, by_im))) in numbers.zip(by).enumerate() {
                            let by = ComplexLanes { re: *by_re, im: *by_im };
                            room.put(at + q, ComplexLanes { re: *re, im: *im } * by);
                        }
                    }
                }
            })
        })?;
        executor.share(rows.div_ceil(BESIDE), time, &|blocks| {
            MatrixStrip::new(columns)?.each(blocks, rows, |strip, first, count| {
                // SAFETY: the planes have these numbers; no other block has these rows.
                unsafe {
                    strip.load(room, [first * columns, 1, columns], [columns, count]);
                    let (re, im) = strip.transformed(&self.plans[1], count);
                    for k in 0..columns {
                        let (at, own) = (k * rows + first, k * count);
                        data.put_all(at, &re[own..own + count], &im[own..own + count]);
                    }
                }
            })
        })
    }
}

/// Some columns or rows of the matrix beside each other.
struct MatrixStrip([Vec<f64>; 4]);

impl MatrixStrip {
    fn new(points: usize) -> Result<MatrixStrip> {
        let mut planes: [Vec<f64>; 4] = Default::default();
        for plane in &mut planes {
            *plane = plane_of(points * BESIDE)?;
        }
        Ok(MatrixStrip(planes))
    }

    /// Calls `work` for each block of at most `BESIDE` of `all`.
    fn each(
        mut self,
        blocks: Range<usize>,
        all: usize,
        work: impl Fn(&mut MatrixStrip, usize, usize),
    ) -> Result<()> {
        for block in blocks {
            let first = block * BESIDE;
            work(&mut self, first, BESIDE.min(all - first));
        }
        Ok(())
    }

    /// Loads lines from a number on, whose numbers lie `step` apart, and which lie `apart` from each other.
    ///
    /// # Safety
    /// The planes have these numbers, and nothing writes them.
    unsafe fn load(
        &mut self,
        from: SharedPlanes,
        [first, step, apart]: [usize; 3],
        [points, count]: [usize; 2],
    ) {
        let [to, _] = planes_of(&mut self.0);
        let bytes = |numbers: usize| (numbers * size_of::<f64>()) as isize;
        for (from, to) in [(from.re, to.re), (from.im, to.im)] {
            // SAFETY: the condition is that of this function.
            let ptr = unsafe { from.add(first) }.cast();
            let first = StridedPointer { ptr, step: bytes(step) };
            let lines = Neighbours { first, apart: bytes(apart) };
            // SAFETY: the condition is that of this function.
            unsafe { lines.load_real::<f64>(to, [points, points], count) };
        }
    }

    fn transformed(&mut self, plan: &FourierPlan, count: usize) -> (&[f64], &[f64]) {
        let [mut data, mut room] = planes_of(&mut self.0);
        plan.run(&mut data, &mut room, count);
        (data.re, data.im)
    }
}

/// Room for a plane of numbers, and what planes begin after.
///
/// # Errors
/// - `OutOfMemory`: there is none.
pub fn plane_of(len: usize) -> Result<Vec<f64>> {
    // Zeros of the system's own take no time, but there is no way to ask for them that may fail.
    drop(memory::with_room::<f64>(plane_len(len))?);
    Ok(vec![0.0; plane_len(len)])
}

/// The numbers of a plane, with those that planes begin after.
pub fn plane_len(len: usize) -> usize {
    len + 4 * APART
}

/// Numbers by which planes begin later than the one before: stores do not lie where loads wait for them.
const APART: usize = 72;

pub fn planes_of(planes: &mut [Vec<f64>; 4]) -> [Planes<'_>; 2] {
    let [re, im, other_re, other_im] = planes;
    [
        Planes { re, im: &mut im[APART..] },
        Planes { re: &mut other_re[2 * APART..], im: &mut other_im[3 * APART..] },
    ]
}
