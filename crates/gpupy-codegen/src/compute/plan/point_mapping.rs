//! Maps the invocations of a dispatch to points of the iteration space.
//!
//! Owns `InvocationMapping`, `Points` and `AxisCoordinate`. Invariant: the invocations with numbers below `count`
//! cover every point of the space once. An incomplete vector of four repeats its last point.
//!
//! Not here: elements at the points (`fetch.rs`).

use crate::analysis::kernel_arguments::{ArgumentWords, Divisor};
use crate::compute::kernel_features::KernelFeatures;
use crate::dialect::Width;
use crate::thresholds::T;

/// The points of one invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Points {
    /// One point.
    One,
    /// Four along the last axis, fewer at its end.
    Run,
    /// Four in C order, fewer at the end of the space.
    Apart,
}

impl Points {
    /// Chooses vectors of four along the last axis if few of them are incomplete. Otherwise each of the four points has
    /// coordinates of its own.
    pub fn of(shape: &[i64], width: Width) -> Points {
        let last = shape.last().copied().unwrap_or(1);
        match width {
            Width::One => Points::One,
            Width::Four if shape.len() == 1 || last % 4 == 0 || last >= T.long_axis => Points::Run,
            Width::Four => Points::Apart,
        }
    }
}

/// The coordinate of one axis, taken from the remainder of the invocation's number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AxisCoordinate {
    pub axis: u8,
    pub take: Take,
}

/// How a coordinate is computed from the remaining number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Take {
    /// The coordinate is 0.
    Nothing,
    /// A quotient by an argument word.
    Quotient(Divisor),
    /// A quotient by a literal.
    Known(u32),
    /// The whole remainder.
    Rest,
}

/// The mapping of invocations to points.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct InvocationMapping {
    pub points: Points,
    /// The word of the number of invocations that have points.
    pub count: u16,
    /// True if all invocations have points.
    pub full: bool,
    /// The word of the number of workgroups in a row of the grid, if the grid has several rows.
    pub columns: Option<u16>,
    /// The coordinates of the axes, if they are needed. Axes of length one have none.
    pub steps: Vec<AxisCoordinate>,
    /// The word of the last point's number, along the last axis or in the space, if a vector of four may be incomplete
    /// and it matters.
    pub tail: Option<u16>,
}

impl InvocationMapping {
    /// The mapping of a kernel that computes its points from the workgroup's number.
    pub fn of_groups(
        words: &mut ArgumentWords,
        groups: u64,
        device: &KernelFeatures,
    ) -> (InvocationMapping, [u32; 3]) {
        let (columns, grid) = grid(words, groups, device);
        let points = Points::One;
        let (steps, full) = (Vec::new(), false);
        (InvocationMapping { points, count: 0, full, columns, steps, tail: None }, grid)
    }
}

/// The demands on a mapping.
pub(crate) struct MappingNeeds {
    pub coordinates: bool,
    pub tail: bool,
    /// Whether the last axis varies slowest between neighbouring invocations.
    pub last_is_slowest: bool,
    /// The number of invocations that share one set of points.
    pub invocations: u32,
    /// True to make literals of the divisors of coordinates.
    pub specialise: bool,
}

/// Plans the points of `shape` and the number of workgroups along each dimension.
pub(crate) fn plan(
    words: &mut ArgumentWords,
    shape: &[i64],
    points: Points,
    asked: &MappingNeeds,
    device: &KernelFeatures,
) -> (InvocationMapping, [u32; 3]) {
    let all: i64 = shape.iter().product();
    let last = shape.last().copied().unwrap_or(1);
    let (invocations, end) = match points {
        Points::One => (all, all),
        Points::Run => (all / last * ((last + 3) / 4), last),
        Points::Apart => ((all + 3) / 4, all),
    };
    let count = words.int(invocations);
    let places = u64::from(device.group / asked.invocations);
    let groups = (invocations as u64).div_ceil(places);
    let (columns, grid) = grid(words, groups, device);
    let full = invocations as u64 == places * grid.iter().map(|n| u64::from(*n)).product::<u64>();
    let mut steps = Vec::new();
    if asked.coordinates {
        let mut stride = if points == Points::Apart { all } else { invocations };
        let mut order: Vec<usize> = (0..shape.len()).collect();
        if asked.last_is_slowest {
            order.rotate_right(1);
        }
        // The last axis has a coordinate even at length one if the points of a vector follow it.
        let asked_for =
            |axis: &usize| shape[*axis] > 1 || points == Points::Run && axis + 1 == shape.len();
        for axis in order.into_iter().filter(asked_for) {
            let (is_last, before) = (axis + 1 == shape.len(), stride);
            stride = match points {
                Points::Run if is_last => 1,
                _ => stride / shape[axis],
            };
            let take = match stride {
                _ if stride == before => Take::Nothing,
                1 => Take::Rest,
                _ if asked.specialise => Take::Known(stride as u32),
                _ => Take::Quotient(Divisor::new(words, stride)),
            };
            steps.push(AxisCoordinate { axis: axis as u8, take });
        }
    }
    let tail = (asked.tail && points != Points::One && end % 4 != 0).then(|| words.int(end - 1));
    (InvocationMapping { points, count, full, columns, steps, tail }, grid)
}

/// The number of workgroups along each dimension, and the word of the length of a row if there are several rows.
fn grid(
    words: &mut ArgumentWords,
    groups: u64,
    device: &KernelFeatures,
) -> (Option<u16>, [u32; 3]) {
    let rows = groups.div_ceil(device.groups.into()).max(1);
    let columns = groups.div_ceil(rows);
    let word = (rows > 1).then(|| words.int(columns as i64));
    (word, [columns as u32, rows as u32, 1])
}
