//! How the invocations of a dispatch find their points.
//!
//! Owns `InvocationMapping`, `Points` and `AxisCoordinate`. Invariant: the invocations with numbers below `count` together
//! have every point of the space once; where a four is short, it repeats its last point.
//!
//! Not here: what is read and written at the points (`fetch.rs`).

use crate::analysis::kernel_arguments::{ArgumentWords, Divisor};
use crate::compute::kernel_features::KernelFeatures;
use crate::dialect::Width;

/// The points of one invocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Points {
    /// One.
    One,
    /// Four along the last axis, fewer at its end.
    Run,
    /// Four in C order, fewer at the end of the space.
    Apart,
}

impl Points {
    /// Fours go along the last axis where that leaves few of them short; elsewhere each point is
    /// found by itself.
    pub fn of(shape: &[i64], width: Width) -> Points {
        const LONG: i64 = 16;
        let last = shape.last().copied().unwrap_or(1);
        match width {
            Width::One => Points::One,
            Width::Four if shape.len() == 1 || last % 4 == 0 || last >= LONG => Points::Run,
            Width::Four => Points::Apart,
        }
    }
}

/// The coordinate of one axis, from what is left of the invocation's number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct AxisCoordinate {
    pub axis: u8,
    pub take: Take,
}

/// What a coordinate takes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Take {
    /// Nothing: it is 0.
    Nothing,
    /// A quotient.
    Quotient(Divisor),
    /// A quotient by a number that is written into the kernel.
    Known(u32),
    /// All that is left.
    Rest,
}

/// How invocations and points belong together.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct InvocationMapping {
    pub points: Points,
    /// The word of how many invocations have points.
    pub count: u16,
    /// True where all have.
    pub full: bool,
    /// The word of how many groups a row of the grid has, where it has several rows.
    pub columns: Option<u16>,
    /// The axes, where something asks for coordinates; those of one point have no step.
    pub steps: Vec<AxisCoordinate>,
    /// The word of the number of the last point (along the last axis, or of all) where a four may be
    /// short and something must know.
    pub tail: Option<u16>,
}

impl InvocationMapping {
    /// The frame of a kernel whose groups find their points themselves.
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

/// What a frame is planned for.
pub(crate) struct MappingNeeds {
    pub coordinates: bool,
    pub tail: bool,
    /// Whether neighbouring invocations differ in the last axis last of all.
    pub last_is_slowest: bool,
    /// How many invocations share the points of one.
    pub invocations: u32,
    /// True to make literals of what coordinates are divided by.
    pub specialise: bool,
}

/// Plans the points of `shape`, and how many groups it takes along each dimension.
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
        // Where points follow each other along the last axis, it is asked for whatever its length.
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

/// How many groups there are along each dimension, and the word of how many make a row where there
/// are several.
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
