//! The choice of the axis that rows go along.
//!
//! Owns [`best`] and [`ReduceOrder`]. A row costs a little by itself, and a step that is neither to the next
//! element nor nowhere costs each element; the axis with the least of both is taken.
//!
//! Not here: how rows are cut (`iteration_space.rs`).

use crate::compile::row_plan::Stride;
use crate::traversal::iteration_space::{Point, StridedAccess};
use gpupy_core::ir::REDUCE_CHUNK;

/// Nanoseconds for a row, apart from its steps.
const ROW: f64 = 20.0;
/// Nanoseconds for an operation on a row, apart from its elements.
const STEP: f64 = 4.0;
/// Nanoseconds for an element that is not beside the one before.
const APART: f64 = 0.8;
/// Elements of a typical row at most.
pub const TILE: usize = 1024;

/// How a line goes on along an axis.
pub fn stride(line: &StridedAccess<'_>, axis: usize, extent: usize) -> Stride {
    going(line.access.strides[axis], line.base, extent)
}

/// The same by the step from one element to the next; an index value has no base.
#[inline]
pub fn going(step: i64, base: *const u8, extent: usize) -> Stride {
    match step {
        // A lone element is beside itself.
        _ if extent == 1 && !base.is_null() => Stride::Unit,
        0 => Stride::Zero,
        1 => Stride::Unit,
        _ => Stride::Any,
    }
}

/// The axis along which a map's rows cost least, and the nanoseconds beyond what each axis costs.
/// `steps` is how many operations a row takes.
pub fn best<'a>(
    shape: &[usize],
    lines: impl Iterator<Item = StridedAccess<'a>> + Clone,
    steps: usize,
) -> (usize, f64) {
    let last = shape.len() - 1;
    if last == 0 {
        return (0, 0.0);
    }
    let costs = (0..=last).rev().map(|axis| (axis, along(shape, axis, lines.clone(), steps)));
    costs.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((last, 0.0))
}

/// Nanoseconds for a map along an axis, apart from what is the same along any.
fn along<'a>(
    shape: &[usize],
    axis: usize,
    lines: impl Iterator<Item = StridedAccess<'a>>,
    steps: usize,
) -> f64 {
    let points = shape.iter().map(|extent| *extent as f64).product::<f64>();
    let extent = shape[axis];
    let rows = points / extent as f64 * extent.div_ceil(TILE) as f64;
    // Numbers of index values are computed, whatever their step.
    let memory = lines.filter(|line| !line.base.is_null());
    let apart = memory.filter(|line| stride(line, axis, extent) == Stride::Any).count();
    rows * (ROW + STEP * steps as f64) + points * APART * apart as f64
}

/// Which way rows of a reduction go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReduceOrder {
    /// Along the reduced axis: each chunk of a row becomes one point.
    Rows,
    /// Across it, along this axis: rows are combined element by element.
    Columns(usize),
}

/// Nanoseconds for a row that is combined together with those that follow it.
const FOLLOWING: f64 = 2.0;

/// Whether all lines go on from the end of a row of the reduced axis, the last one, to the next row along an
/// axis: then rows are one long row.
pub fn follow<'a>(
    mut lines: impl Iterator<Item = &'a StridedAccess<'a>>,
    axis: usize,
    last: usize,
    extent: usize,
) -> bool {
    let follows = |strides: &[i64]| strides[axis] == strides[last] * extent as i64;
    extent > 1 && lines.all(|line| follows(&line.access.strides))
}

/// The way along which a reduction's rows cost least.
pub fn best_reduce_order<'a>(
    shape: &[usize],
    lines: impl Iterator<Item = &'a StridedAccess<'a>> + Clone,
    steps: usize,
) -> ReduceOrder {
    let last = shape.len() - 1;
    let points = shape.iter().map(|extent| *extent as f64).product::<f64>();
    let chunks = points / shape[last] as f64 * shape[last].div_ceil(REDUCE_CHUNK) as f64;
    // Combining a chunk is about a row's work.
    let mut least = along(shape, last, lines.clone().copied(), steps) + chunks * ROW;
    // What lies apart is better combined across.
    let alone = shape[last] <= REDUCE_CHUNK
        && lines.clone().all(|line| line.access.strides[last].abs() <= 1);
    for axis in (0..last).filter(|axis| alone && follow(lines.clone(), *axis, last, shape[last])) {
        let mut longer = Point::from(shape);
        longer[axis] = 1;
        longer[last] *= shape[axis];
        least = least.min(along(&longer, last, lines.clone().copied(), steps) + chunks * FOLLOWING);
    }
    let mut order = ReduceOrder::Rows;
    for axis in (0..last).filter(|axis| shape[*axis] > 1) {
        // Rows that are combined are read and written once more.
        let cost = along(shape, axis, lines.clone().copied(), steps + 1) + points * 0.1;
        if cost < least {
            (least, order) = (cost, ReduceOrder::Columns(axis));
        }
    }
    order
}
