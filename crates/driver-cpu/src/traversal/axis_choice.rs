//! The cost model that chooses the axis of the rows, and row or column reduction.
//!
//! Owns [`best`] and [`ReduceOrder`]. Each row has a fixed cost, and each element with a stride other than 0
//! and 1 has a cost. The axis with the least total is taken.
//!
//! Not here: how rows are cut (`iteration_space.rs`).

use crate::compile::inputs::ProgramInputs;
use crate::compile::row_plan::Stride;
use crate::thresholds::T;
use crate::traversal::iteration_space::{Point, StridedAccess};
use gpupy_core::ir::REDUCE_CHUNK;

/// The stride class of an access along an axis.
pub fn stride(line: &StridedAccess<'_>, axis: usize, extent: usize) -> Stride {
    going(line.access.strides[axis], line.base, extent)
}

/// The stride class of a step; the base of an index value is null.
#[inline]
pub fn going(step: i64, base: *const u8, extent: usize) -> Stride {
    match step {
        // A single element counts as contiguous.
        _ if extent == 1 && !base.is_null() => Stride::Unit,
        0 => Stride::Zero,
        1 => Stride::Unit,
        _ => Stride::Any,
    }
}

/// The operations on a row, and how they are done.
#[derive(Clone, Copy)]
pub struct RowSteps {
    /// The number of operations.
    pub count: usize,
    /// Whether machine code does them, vector by vector; otherwise each is a call.
    pub compiled: bool,
}

impl RowSteps {
    /// The operations of a program over so many points.
    pub fn of(known: &ProgramInputs, points: usize) -> RowSteps {
        let compiled = known.compiles && points >= T.compiled_points;
        RowSteps { count: known.operations, compiled }
    }

    /// Nanoseconds for a row of `extent` elements, without the part that is equal for rows of all lengths.
    pub fn cost(self, extent: usize, accesses: usize) -> f64 {
        if !self.compiled {
            return T.row_cost + T.step_cost * self.count as f64;
        }
        // The last vector of a row takes as long as a whole one.
        let unused = extent.next_multiple_of(LANES) - extent;
        let lanes = T.lane_cost * (self.count * unused) as f64;
        match extent {
            ..LANES => T.row_cost + T.copied_cost * accesses as f64 + lanes,
            _ => T.compiled_row_cost + T.access_cost * accesses as f64 + lanes,
        }
    }
}

/// Lanes of a vector of 32 bits each, as in most programs.
const LANES: usize = 16;

/// The axis along which a map's rows cost least, and its cost in nanoseconds beyond the part that is equal for
/// all axes.
pub fn best<'a>(
    shape: &[usize],
    lines: impl Iterator<Item = StridedAccess<'a>> + Clone,
    steps: RowSteps,
) -> (usize, f64) {
    let last = shape.len() - 1;
    if last == 0 {
        return (0, 0.0);
    }
    let costs = (0..=last).rev().map(|axis| (axis, along(shape, axis, lines.clone(), steps)));
    costs.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((last, 0.0))
}

/// Nanoseconds for a map with rows along an axis, without the part that is equal for all axes.
fn along<'a>(
    shape: &[usize],
    axis: usize,
    lines: impl Iterator<Item = StridedAccess<'a>>,
    steps: RowSteps,
) -> f64 {
    let points = shape.iter().map(|extent| *extent as f64).product::<f64>();
    let extent = shape[axis];
    let rows = points / extent as f64 * extent.div_ceil(T.typical_row) as f64;
    let (mut accesses, mut apart) = (0, 0.0);
    for line in lines {
        accesses += 1;
        // Index values are computed, so their stride does not matter.
        if !line.base.is_null() && stride(&line, axis, extent) == Stride::Any {
            let is_near = line.access.strides[axis].unsigned_abs() <= NEAR;
            apart += if is_near { T.near_cost } else { T.apart_cost };
        }
    }
    let of_row = steps.cost(extent.min(T.typical_row), accesses);
    rows * of_row + points * apart
}

/// The most elements from one to the next that are copied by vectors.
const NEAR: u64 = 4;

/// The direction of the rows of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReduceOrder {
    /// Row reduction, along the reduced axis: each chunk of a row becomes one point.
    Rows,
    /// Column reduction: rows along this axis are combined element by element.
    Columns(usize),
}

/// Whether rows along the reduced axis, the last one, are contiguous along another axis for all accesses: then
/// they form one long row.
pub fn follow<'a>(
    mut lines: impl Iterator<Item = &'a StridedAccess<'a>>,
    axis: usize,
    last: usize,
    extent: usize,
) -> bool {
    let follows = |strides: &[i64]| strides[axis] == strides[last] * extent as i64;
    extent > 1 && lines.all(|line| follows(&line.access.strides))
}

/// The direction in which a reduction costs least.
pub fn best_reduce_order<'a>(
    shape: &[usize],
    lines: impl Iterator<Item = &'a StridedAccess<'a>> + Clone,
    steps: RowSteps,
) -> ReduceOrder {
    let last = shape.len() - 1;
    let points = shape.iter().map(|extent| *extent as f64).product::<f64>();
    let chunks = points / shape[last] as f64 * shape[last].div_ceil(REDUCE_CHUNK) as f64;
    // Combining a chunk is about a row's work.
    let mut least = along(shape, last, lines.clone().copied(), steps) + chunks * T.row_cost;
    // Columns are better for large strides.
    let alone = shape[last] <= REDUCE_CHUNK
        && lines.clone().all(|line| line.access.strides[last].abs() <= 1);
    for axis in (0..last).filter(|axis| alone && follow(lines.clone(), *axis, last, shape[last])) {
        let mut longer = Point::from(shape);
        longer[axis] = 1;
        longer[last] *= shape[axis];
        least = least
            .min(along(&longer, last, lines.clone().copied(), steps) + chunks * T.following_cost);
    }
    let mut order = ReduceOrder::Rows;
    for axis in (0..last).filter(|axis| shape[*axis] > 1) {
        // Accumulated rows are read and written once more.
        let more = RowSteps { count: steps.count + 1, ..steps };
        let cost = along(shape, axis, lines.clone().copied(), more) + points * 0.1;
        if cost < least {
            (least, order) = (cost, ReduceOrder::Columns(axis));
        }
    }
    order
}
