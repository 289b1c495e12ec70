//! Products of small matrices of floats, and of long ones with a small one.
//!
//! Owns [`run`] and [`suits`]. Rows are vectors (`rows/products/row_products.rs`), and operands are read where they
//! lie; columns of a right operand or of results that do not lie side by side are copied. Invariant: bits depend on
//! extents alone, not on threads, on strides or on the number of matrices.
//!
//! Not here: large products (`gemm.rs`), products with few vectors (`skinny_product.rs`).

use super::library_launch::LibraryLaunch;
use crate::rows::{Real, RowProducts, ShortRows, ShortTile};
use crate::threads::executor::Executor;
use crate::thresholds::T;
use gpupy_core::{DType, Result, memory};

/// The axes of a product: rows, columns, terms.
const AXES: usize = 3;

/// Whether a product of these extents is computed here: a small one, or one whose right operand stays in a near cache,
/// unless it is skinny.
pub fn suits(dtype: DType, [m, n, k]: [usize; AXES]) -> bool {
    let is_small = [m * k, n * k, m * n].iter().all(|elements| *elements <= T.small_matrix);
    let is_near = m.min(n) > T.skinny_vectors && n * k <= T.row_strip;
    matches!(dtype, DType::F32 | DType::F64) && (is_small || is_near)
}

/// Evaluates products that [`suits`] names, which take `time` nanoseconds each.
///
/// # Errors
/// - `OutOfMemory`: there is no memory for what is copied.
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
    let count: usize = stack.iter().product();
    let band_rows = T.gemm_least_tile.min((T.row_strip / inner[1]).max(1)).next_multiple_of(8);
    let bands = inner[0].div_ceil(band_rows);
    let time = time.saturating_mul(count as u64);
    executor.share(count * bands, time, &|items| {
        let mut next = items.start;
        while next < items.end {
            let (matrix, band) = (next / bands, next % bands);
            let left = items.end - next;
            let run = whole.run_at(AXES, matrix);
            // Some whole matrices, or some bands of one.
            let (matrices, taken) = match bands {
                1 => (run.count.min(left), run.count.min(left)),
                _ => (1, left.min(bands - band)),
            };
            let row = |band: usize| inner[0].min(band * band_rows);
            let lines = [&whole.reads[0], &whole.reads[1], &whole.dest].map(|line| {
                let strides = &line.access.strides;
                let along = |axis: usize| strides[stack.len() + axis] as isize;
                let apart = strides.get(run.axis).map_or(0, |stride| *stride as isize);
                (line.walk(&run.point, stack.len()).ptr.cast::<T>(), apart, [0, 1, 2].map(along))
            });
            let [(a, a_apart, [a_row, _, a_term]), (b, b_apart, [_, b_column, b_term]), c] = lines;
            let (c, c_apart, [c_row, c_column, _]) = c;
            let first = row(band) as isize;
            let some = StridedProducts {
                extents: [row(band + taken) - row(band), inner[1], inner[2]],
                a: a.wrapping_offset(first * a_row),
                a_strides: [a_apart, a_row, a_term],
                b,
                b_strides: [b_apart, b_term, b_column],
                c: c.wrapping_offset(first * c_row),
                c_strides: [c_apart, c_row, c_column],
            };
            // SAFETY: the contract guarantees that accesses name elements that exist, and bands do not overlap.
            unsafe { some.run(matrices)? };
            next += taken;
        }
        Ok(())
    })
}

/// The first of some products of one shape, in elements and by any strides: from a matrix to the next, and along its
/// two axes.
struct StridedProducts<T> {
    extents: [usize; AXES],
    a: *const T,
    /// Then along rows and terms.
    a_strides: [isize; 3],
    b: *const T,
    /// Then along terms and columns.
    b_strides: [isize; 3],
    c: *mut T,
    /// Then along rows and columns.
    c_strides: [isize; 3],
}

impl<T: Real + bytemuck::Zeroable> StridedProducts<T> {
    /// Computes so many of them.
    ///
    /// # Safety
    /// All elements exist, and nothing else reads or writes the results meanwhile.
    unsafe fn run(&self, count: usize) -> Result<()> {
        let [m, n, k] = self.extents;
        let size = size_of::<T>();
        let ([a_apart, ..], [b_apart, b_term, b_column]) = (self.a_strides, self.b_strides);
        let [c_apart, c_row, c_column] = self.c_strides;
        let [copies_b, copies_c] = [b_column, c_column].map(|column| column != 1 && n > 1);
        // As many as stay in the nearest cache. One right operand for all is copied once.
        let together = match copies_b || copies_c {
            true => (T.skinny_part / (size * n * (k + m))).clamp(1, count),
            false => count,
        };
        let copied = if b_apart == 0 { 1 } else { together };
        let room = [(copies_b, n * k * copied), (copies_c, m * n * together)];
        let [b_room, c_room] = room.map(|(copies, elements)| if copies { elements } else { 0 });
        let mut room = memory::zeroed::<T>(b_room + c_room)?;
        let (b_copy, c_copy) = room.split_at_mut(b_room);
        let tile = |first: *mut T, number: usize, rows: usize| {
            ShortTile::in_memory(first.wrapping_add(number * rows * n).cast(), size, n)
        };
        for first in (0..count).step_by(together) {
            let here = together.min(count - first);
            let at = |number: usize, apart: isize| (first + number) as isize * apart;
            let columns = |from: *mut T, [step, apart]: [isize; 2]| {
                let [step, apart] = [step, apart].map(|stride| stride * size as isize);
                ShortRows { first: from.cast(), step, apart }
            };
            let mut products = RowProducts {
                extents: self.extents,
                count: here,
                a: self.a.wrapping_offset(at(0, a_apart)),
                a_strides: self.a_strides,
                b: self.b.wrapping_offset(at(0, b_apart)),
                b_strides: [b_apart, b_term],
                c: self.c.wrapping_offset(at(0, c_apart)),
                c_strides: [c_apart, c_row],
            };
            // SAFETY: the elements exist, and there is room for the copies.
            unsafe {
                if copies_b {
                    let apart = if b_apart == 0 { 0 } else { (n * k) as isize };
                    (products.b, products.b_strides) = (b_copy.as_ptr(), [apart, n as isize]);
                    for number in 0..copied.min(here) {
                        let from = self.b.wrapping_offset(at(number, b_apart)).cast_mut();
                        let from = columns(from, [b_term, b_column]);
                        tile(b_copy.as_mut_ptr(), number, k).load(0, from, n, k);
                    }
                }
                if copies_c {
                    let strides = [m * n, n].map(|stride| stride as isize);
                    (products.c, products.c_strides) = (c_copy.as_mut_ptr(), strides);
                }
                products.run();
                for number in 0..if copies_c { here } else { 0 } {
                    let to = self.c.wrapping_offset(at(number, c_apart));
                    tile(c_copy.as_mut_ptr(), number, m).store(
                        0,
                        columns(to, [c_row, c_column]),
                        n,
                        m,
                    );
                }
            }
        }
        Ok(())
    }
}
