//! Matrix products (gemm).
//!
//! Owns [`run`]. Threads share a stack of products by its matrices, and a large product by tiles of its
//! results (`multiply.rs`). Small matrices (`short_product.rs`), skinny products (`skinny_product.rs`) and those
//! of a matrix with its own transpose (`symmetric_product.rs`) are cut in other ways.
//!
//! Not here: the computation of a tile.

use super::library_launch::LibraryLaunch;
use super::multiply::multiply;
use super::product_tile::ProductTile;
use super::short_product;
use super::skinny_product;
use super::symmetric_product;
use crate::threads::executor::Executor;
use crate::thresholds::T;
use crate::traversal::iteration_space::{StridedAccess, unravelled};
use gpupy_core::Result;
use std::ops::Range;

/// Evaluates a launch of the matrix product.
///
/// # Errors
/// - `OutOfMemory`: there is no room for packed operands.
pub fn run(whole: &LibraryLaunch<'_>, executor: &mut Executor<'_>) -> Result<()> {
    let axes = whole.shape.len();
    let (stack, [m, n, k]) = (&whole.shape[..axes - 3], [axes - 3, axes - 2, axes - 1]);
    let extents = [m, n, k].map(|axis| whole.shape[axis]);
    let matrices: usize = stack.iter().product();
    if matrices == 0 || extents.contains(&0) {
        return Ok(());
    }
    let (dtype, size) = (whole.dtype, whole.dtype.size());
    let [rows, columns, terms] = extents;
    let read =
        (rows * terms).saturating_add(columns * terms).saturating_mul(size) / T.gemm_bandwidth;
    let time = (rows * columns).saturating_mul(terms).saturating_mul(size) / (4 * T.gemm_speed);
    let time = time.max(read);
    if short_product::suits(whole.dtype, extents) {
        return short_product::run(whole, executor, time as u64);
    }
    let strides = |line: usize, one: usize, other: usize| {
        let all = &whole.reads[line].access.strides;
        [all[one] as isize, all[other] as isize]
    };
    let c = &whole.dest.access.strides;
    let product = |number: usize| {
        let point = unravelled(number, stack);
        let at = |line: &StridedAccess<'_>| line.walk(&point, k).ptr;
        ProductTile {
            extents,
            a: at(&whole.reads[0]),
            a_strides: strides(0, m, k),
            b: at(&whole.reads[1]),
            b_strides: strides(1, n, k),
            c: at(&whole.dest),
            c_strides: [c[m] as isize, c[n] as isize],
        }
    };
    let first = product(0);
    if skinny_product::suits(dtype, &first) {
        return skinny_product::run(dtype, matrices, &first, &product, executor, time as u64);
    }
    let same_stack =
        whole.reads[0].access.strides[..axes - 3] == whole.reads[1].access.strides[..axes - 3];
    if same_stack && symmetric_product::is_symmetric(&first) {
        return symmetric_product::run(dtype, matrices, &product, executor, time as u64);
    }
    // Tiles as square as the number of threads allows.
    let mut cuts = [1, 1];
    let enough = if executor.threads == 1 { 1 } else { T.gemm_tiles * executor.threads };
    while matrices * cuts[0] * cuts[1] < enough && time > 10_000 {
        let of = |axis: usize| extents[axis] / (2 * cuts[axis]);
        let axis = usize::from(of(1) > of(0));
        if of(axis) < T.gemm_least_tile {
            break;
        }
        cuts[axis] *= 2;
    }
    let boxes = cuts[0] * cuts[1];
    let part = |axis: usize, number: usize| -> Range<usize> {
        let each = extents[axis].div_ceil(cuts[axis]);
        (number * each).min(extents[axis])..((number + 1) * each).min(extents[axis])
    };
    executor.share(matrices * boxes, (time as u64).saturating_mul(matrices as u64), &|items| {
        for number in items {
            let (rows, columns) = (part(0, number / cuts[1] % cuts[0]), part(1, number % cuts[1]));
            if !rows.is_empty() && !columns.is_empty() {
                let piece = product(number / boxes).part(size, rows, columns);
                // SAFETY: the contract guarantees that accesses name elements that exist; tiles do not overlap.
                unsafe { multiply(dtype, &piece)? }
            }
        }
        Ok(())
    })
}
