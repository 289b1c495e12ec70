//! Products of many small matrices of floats.
//!
//! Owns [`run`] and [`suits`]. Some matrices at a time are transposed, so that their elements lie side by side
//! (`rows/short/products.rs`). Invariant: bits depend neither on threads nor on the number of matrices.
//!
//! Not here: few or large products (`gemm.rs`).

use super::library_launch::LibraryLaunch;
use crate::rows::{MATRICES, Real, ShortProducts, ShortRows, ShortTile};
use crate::threads::executor::Executor;
use crate::thresholds::T;
use crate::traversal::iteration_space::StridedAccess;
use gpupy_core::{DType, Result, memory};
use std::ops::Range;

/// The axes of a product: rows, columns, terms.
const AXES: usize = 3;

/// Whether a launch has many small matrices that can be multiplied here.
pub fn suits(whole: &LibraryLaunch<'_>) -> bool {
    let (stack, inner) = whole.shape.split_at(whole.shape.len() - AXES);
    let [m, n, k] = *inner else { return false };
    let count: usize = stack.iter().product();
    let is_small = [m * k, n * k, m * n].iter().all(|elements| *elements <= T.small_matrix);
    matches!(whole.dtype, DType::F32 | DType::F64) && count >= MATRICES && is_small
}

/// Evaluates products that [`suits`] names, which take `time` nanoseconds each.
///
/// # Errors
/// - `OutOfMemory`: there is no memory for transposed matrices.
pub fn run(whole: &LibraryLaunch<'_>, executor: &mut Executor<'_>, time: u64) -> Result<()> {
    match whole.dtype {
        DType::F32 => of::<f32>(whole, executor, time),
        _ => of::<f64>(whole, executor, time),
    }
}

fn of<T: Real + bytemuck::Zeroable>(
    whole: &LibraryLaunch<'_>,
    executor: &mut Executor<'_>,
    time: u64,
) -> Result<()> {
    let (stack, inner) = whole.shape.split_at(whole.shape.len() - AXES);
    let [m, n, k] = [inner[0], inner[1], inner[2]];
    let [row, column, term] = [0, 1, 2].map(|axis| stack.len() + axis);
    let count: usize = stack.iter().product();
    let time = time.saturating_mul(count as u64);
    let lanes = ShortTile::lanes(size_of::<T>(), m * k + k * n + m * n);
    let together = lanes.min(count.next_multiple_of(MATRICES));
    executor.share(count.div_ceil(together), time, &|tiles| {
        let elements = [m * k, k * n, m * n].map(|elements| elements * together);
        let mut memory = memory::zeroed::<T>(elements.iter().sum())?;
        let (a, rest) = memory.split_at_mut(elements[0]);
        let (b, c) = rest.split_at_mut(elements[1]);
        let (a, b, c) = (a.as_mut_ptr(), b.as_mut_ptr(), c.as_mut_ptr());
        let tile = |first: *mut T| ShortTile::in_memory(first.cast(), size_of::<T>(), together);
        for number in tiles {
            let numbers = number * together..count.min((number + 1) * together);
            let place = |line, axes| Place { whole, line, axes, numbers: numbers.clone() };
            // SAFETY: the contract guarantees that accesses name elements that exist; the tiles have room for them.
            // Lanes without a matrix hold other numbers, whose products nobody reads.
            unsafe {
                place(&whole.reads[0], [row, term]).each(|rows, lane, count, at, extent| {
                    tile(a).part(at).load(lane, rows, count, extent);
                });
                place(&whole.reads[1], [term, column]).each(|rows, lane, count, at, extent| {
                    tile(b).part(at).load(lane, rows, count, extent);
                });
                ShortProducts { extents: [m, n, k], count: together, a, b, c }.run();
                place(&whole.dest, [row, column]).each(|rows, lane, count, at, extent| {
                    tile(c).part(at).store(lane, rows, count, extent);
                });
            }
        }
        Ok(())
    })
}

/// Some matrices of an operand or of the destination, with the axes of its rows and of its columns.
struct Place<'a, 'b> {
    whole: &'a LibraryLaunch<'b>,
    line: &'a StridedAccess<'b>,
    axes: [usize; 2],
    numbers: Range<usize>,
}

impl Place<'_, '_> {
    /// Calls `copy` for short rows whose elements lie side by side where they can: with the rows, the number of
    /// matrices before them and how many they are, and the place and the number of their elements in a matrix.
    fn each(&self, mut copy: impl FnMut(ShortRows, usize, usize, (usize, usize), usize)) {
        let extents = self.axes.map(|axis| self.whole.shape[axis]);
        let [rows, columns] = extents;
        let [row, column] = self.axes.map(|axis| self.line.access.strides[axis] as isize);
        let size = self.line.size as isize;
        self.whole.each_run(AXES, self.line, self.numbers.clone(), |lane, first, count| {
            let at = |bytes: isize| first.first.wrapping_offset(bytes);
            if (column == 1 || columns == 1) && (row == columns as isize || rows == 1) {
                let step = if columns == 1 { row } else { column } * size;
                return copy(ShortRows { step, ..first }, lane, count, (0, 1), rows * columns);
            }
            if row == 1 {
                for j in 0..columns {
                    let first =
                        ShortRows { first: at(j as isize * column * size), step: size, ..first };
                    copy(first, lane, count, (j, columns), rows);
                }
                return;
            }
            for i in 0..rows {
                let step = column * size;
                let first = ShortRows { first: at(i as isize * row * size), step, ..first };
                copy(first, lane, count, (i * columns, 1), columns);
            }
        });
    }
}
