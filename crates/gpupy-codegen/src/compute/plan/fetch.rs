//! Plans how an invocation finds the elements of an access at its points.
//!
//! Owns `ElementFetch` and `LaneLayout`. Invariant: every existing point gets the element of the access.
//!
//! Not here: the points (`point_mapping.rs`), accesses that share elements (`windows.rs`), the text
//! (`element_reader.rs`).

use crate::analysis::axis_coalescing::AffineWalk;
use crate::analysis::kernel_arguments::{AffineIndex, ArgumentWords};
use crate::compute::plan::point_mapping::Points;

/// How an invocation finds the elements of one access.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ElementFetch {
    /// One element for all points: the word of its index.
    Uniform(u16),
    /// By the invocation's number, plus the word of the first invocation's element if that is not 0. If `aligned`,
    /// both count vectors of four.
    Linear { first: Option<u16>, aligned: bool },
    /// By the coordinates of the invocation's first point.
    Sum { sum: AffineIndex, lanes: LaneLayout },
}

/// How the elements for the four points of an invocation lie in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LaneLayout {
    /// All points have the same element.
    Splat,
    /// They are an aligned vector of four, in order.
    Aligned,
    /// Strided: the word of the stride in elements, or stride one.
    Step(Option<u16>),
    /// Each point has coordinates of its own.
    Apart,
}

impl ElementFetch {
    /// True if the fetch loads aligned vectors of four.
    pub fn takes_fours(&self) -> bool {
        matches!(self, ElementFetch::Linear { aligned: true, .. })
            || matches!(self, ElementFetch::Sum { lanes: LaneLayout::Aligned, .. })
    }

    /// True if one element serves all points of an invocation.
    pub fn takes_one(&self) -> bool {
        matches!(self, ElementFetch::Uniform(_))
            || matches!(self, ElementFetch::Sum { lanes: LaneLayout::Splat, .. })
    }

    /// True if the fetch needs coordinates.
    pub fn needs_coordinates(&self) -> bool {
        matches!(self, ElementFetch::Sum { .. })
    }
}

/// Plans one access over `shape`. `flat`: the invocation's number counts the points in C order.
pub(crate) fn plan(
    words: &mut ArgumentWords,
    walk: &AffineWalk,
    shape: &[i64],
    points: Points,
    flat: bool,
) -> ElementFetch {
    if walk.is_uniform(shape) {
        return ElementFetch::Uniform(words.int(walk.offset));
    }
    let fours = points != Points::One;
    if flat && walk.is_contiguous(shape) {
        let aligned = fours && walk.offset % 4 == 0;
        let first = words.offset(if aligned { walk.offset / 4 } else { walk.offset });
        return ElementFetch::Linear { first, aligned };
    }
    let sum = AffineIndex::new(words, walk.offset, &walk.strides, shape);
    let last = walk.strides.last().unwrap_or(&0);
    let even = walk.has_even_rows(shape);
    let lanes = match (points, last) {
        (Points::One, _) => LaneLayout::Splat,
        (Points::Apart, _) => LaneLayout::Apart,
        (Points::Run, 0) => LaneLayout::Splat,
        (Points::Run, 1) if even && walk.offset % 4 == 0 => LaneLayout::Aligned,
        (Points::Run, 1) => LaneLayout::Step(None),
        (Points::Run, stride) => LaneLayout::Step(Some(words.int(*stride))),
    };
    ElementFetch::Sum { sum, lanes }
}

/// Whether the invocation's number, or four times it, counts the points in C order.
pub(crate) fn is_flat(shape: &[i64], points: Points) -> bool {
    match points {
        Points::One | Points::Apart => true,
        Points::Run => shape.len() == 1 || shape.last().is_some_and(|n| n % 4 == 0),
    }
}
