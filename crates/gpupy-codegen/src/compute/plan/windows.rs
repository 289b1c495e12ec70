//! Windows: the elements that overlapping accesses to one operand have in common, so that an invocation loads each of
//! them once.
//!
//! A stencil reads a row at neighbouring offsets. The four points of an invocation have eight elements of it at five
//! offsets rather than twenty. Owns `ElementWindow` and `find`. Invariants: every access of a window gets the elements
//! of its walk; an invocation reads nothing before the first or behind the last element of its existing points, but for
//! the rest of an aligned vector.
//!
//! Not here: reductions, which have none; accesses by themselves (`fetch.rs`), the text (`element_reader.rs`).

use crate::analysis::axis_coalescing::AffineWalk;
use crate::analysis::kernel_arguments::{AffineIndex, ArgumentWords};
use crate::thresholds::T;

/// Neighbouring elements of an operand.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ElementWindow {
    pub operand: u32,
    /// The index of the first one, at an invocation's first point.
    pub first: AffineIndex,
    /// How many there are with all four points.
    pub length: u8,
    /// The first place from which on each four of them are an aligned vector, if such a vector lies in the window.
    pub aligned: Option<u8>,
    /// True if an invocation may have fewer points.
    pub short: bool,
    /// The accesses, each with the place of its element at the first point.
    pub accesses: Vec<(u32, u8)>,
}

impl ElementWindow {
    /// The place of an access to an operand, if it is in the window.
    pub fn place_of(&self, operand: u32, access: u32) -> Option<u8> {
        let found = self.accesses.iter().find(|(own, _)| *own == access)?;
        (self.operand == operand).then_some(found.1)
    }

    /// The place of the last element that the first point reads.
    pub fn span(&self) -> u8 {
        self.length - 4
    }

    /// The places of the first elements of aligned vectors that lie in the window. The first point reads part of each.
    pub fn vectors(&self) -> impl Iterator<Item = u8> + '_ {
        self.aligned.into_iter().flat_map(|first| (first..=self.span()).step_by(4))
    }
}

/// The windows of loads (operand and access) by invocations with four points along the last axis of `shape`.
pub(crate) fn find(
    words: &mut ArgumentWords,
    loads: &[(u32, u32)],
    walks: &[(u32, AffineWalk)],
    shape: &[i64],
) -> Vec<ElementWindow> {
    let walk = |access: u32| walks.iter().find(|(own, _)| *own == access).map(|(_, walk)| walk);
    let along = loads.iter().filter_map(|(operand, access)| {
        let walk = walk(*access)?;
        (walk.strides.last() == Some(&1)).then_some((*operand, *access, walk))
    });
    let mut sorted: Vec<(u32, u32, &AffineWalk)> = along.collect();
    sorted.sort_by_key(|(operand, access, walk)| (*operand, &walk.strides, walk.offset, *access));
    let mut windows = Vec::new();
    let mut rest = &sorted[..];
    while let [(operand, _, first), ..] = rest {
        let is_near = |pair: &[(u32, u32, &AffineWalk)]| {
            let [(_, _, before), (of, _, walk)] = pair else { return false };
            of == operand
                && walk.strides == first.strides
                && walk.offset - before.offset < 4
                && walk.offset - first.offset <= T.window - 4
        };
        let count = 1 + rest.windows(2).take_while(|pair| is_near(pair)).count();
        let (near, others) = rest.split_at(count);
        if count > 1 {
            let place = |walk: &AffineWalk| (walk.offset - first.offset) as u8;
            let span = near.last().map_or(0, |(.., walk)| place(walk));
            let aligned = (-first.offset).rem_euclid(4) as u8;
            let has_vectors = first.has_even_rows(shape) && aligned <= span;
            windows.push(ElementWindow {
                operand: *operand,
                first: AffineIndex::new(words, first.offset, &first.strides, shape),
                length: span + 4,
                aligned: has_vectors.then_some(aligned),
                short: shape.last().is_some_and(|points| points % 4 != 0),
                accesses: near.iter().map(|(_, access, walk)| (*access, place(walk))).collect(),
            });
        }
        rest = others;
    }
    windows
}
