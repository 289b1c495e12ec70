//! How the elements of an access are found at an invocation's points.
//!
//! Owns `Fetch` and `Lanes`. Invariant: every point that exists gets the element of the access.
//!
//! Not here: the points (`frame.rs`), the text (`reader.rs`).

use crate::analysis::numbers::{Sum, Words};
use crate::analysis::space::Walk;
use crate::compute::plan::frame::Points;

/// How the elements of one access are found.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Fetch {
    /// The same element for all points: the word of its number.
    Uniform(u16),
    /// By the invocation's number: the word of the first invocation's element, if that is not 0.
    /// Where fours are aligned it counts fours.
    Linear { first: Option<u16>, aligned: bool },
    /// By the coordinates of the invocation's first point.
    Sum { sum: Sum, lanes: Lanes },
}

/// How the elements of a four lie beside one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Lanes {
    /// All are the same one.
    Splat,
    /// They are a four of the block, in order.
    Aligned,
    /// So many elements from one to the next: a word, or one.
    Step(Option<u16>),
    /// Each point has coordinates of its own.
    Apart,
}

impl Fetch {
    /// True where whole fours are taken, or one element stands for all.
    pub fn takes_fours(&self) -> bool {
        matches!(self, Fetch::Linear { aligned: true, .. })
            || matches!(self, Fetch::Sum { lanes: Lanes::Aligned, .. })
    }

    /// True where one element stands for all points of an invocation.
    pub fn takes_one(&self) -> bool {
        matches!(self, Fetch::Uniform(_)) || matches!(self, Fetch::Sum { lanes: Lanes::Splat, .. })
    }

    /// True where coordinates are needed.
    pub fn needs_coordinates(&self) -> bool {
        matches!(self, Fetch::Sum { .. })
    }
}

/// Plans one access over `shape`; `flat` tells whether the invocation's number counts its points.
pub(crate) fn plan(
    words: &mut Words,
    walk: &Walk,
    shape: &[i64],
    points: Points,
    flat: bool,
) -> Fetch {
    if walk.is_uniform(shape) {
        return Fetch::Uniform(words.int(walk.offset));
    }
    let fours = points != Points::One;
    if flat && walk.is_contiguous(shape) {
        let aligned = fours && walk.offset % 4 == 0;
        let first = words.offset(if aligned { walk.offset / 4 } else { walk.offset });
        return Fetch::Linear { first, aligned };
    }
    let sum = Sum::new(words, walk.offset, &walk.strides, shape);
    let (last, others) = walk.strides.split_last().unwrap_or((&0, &[]));
    let even = others.iter().zip(shape).all(|(stride, n)| *n == 1 || stride % 4 == 0);
    let lanes = match (points, last) {
        (Points::One, _) => Lanes::Splat,
        (Points::Apart, _) => Lanes::Apart,
        (Points::Run, 0) => Lanes::Splat,
        (Points::Run, 1) if even && walk.offset % 4 == 0 => Lanes::Aligned,
        (Points::Run, 1) => Lanes::Step(None),
        (Points::Run, stride) => Lanes::Step(Some(words.int(*stride))),
    };
    Fetch::Sum { sum, lanes }
}

/// Whether the invocation's number, or four times it, counts the points in C order.
pub(crate) fn is_flat(shape: &[i64], points: Points) -> bool {
    match points {
        Points::One | Points::Apart => true,
        Points::Run => shape.len() == 1 || shape.last().is_some_and(|n| n % 4 == 0),
    }
}
