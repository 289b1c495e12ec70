//! Trace trees: segments one after another, with a branch where the function decided.
//!
//! Owns [`TraceTree`]. Invariant: a tree never changes; a new way through the function is added by making a tree
//! that has both.
//!
//! Not here: segments (`gpupy_engine::Segment`), recording them (`array/recording/`).

use super::epilogue::Epilogue;
use crate::array::recording::RecordedRegister;
use gpupy_engine::{Segment, View};
use pyo3::gc::{PyTraverseError, PyVisit};
use std::sync::Arc;

/// A segment, and its successors.
pub struct TraceTree {
    pub segment: Arc<Segment>,
    /// The registers that it takes.
    pub takes: Vec<RecordedRegister>,
    /// The number of the first register that it gives.
    pub gives: u32,
    pub then: Terminator,
}

/// The end of a segment: the function returns, or decides.
pub enum Terminator {
    /// The function ends.
    End(Arc<Epilogue>),
    /// Branches by the truth of the segment's last output, seen by this view; `None` is a way not taken yet.
    Decide { seen: View, no: Option<Arc<TraceTree>>, yes: Option<Arc<TraceTree>> },
}

impl TraceTree {
    /// A tree with the ways of both, where both are the same up to a decision; `None` where they are not.
    pub fn with(&self, other: &TraceTree) -> Option<TraceTree> {
        let is_same =
            self.segment == other.segment && self.takes == other.takes && self.gives == other.gives;
        let (Terminator::Decide { seen, no, yes }, Terminator::Decide { seen: s, no: n, yes: y }) =
            (&self.then, &other.then)
        else {
            return None;
        };
        if !is_same || seen != s {
            return None;
        }
        let then =
            Terminator::Decide { seen: seen.clone(), no: joint(no, n)?, yes: joint(yes, y)? };
        Some(TraceTree {
            segment: self.segment.clone(),
            takes: self.takes.clone(),
            gives: self.gives,
            then,
        })
    }

    /// How many segments there are, and how many ends.
    pub fn count(&self) -> (usize, usize) {
        match &self.then {
            Terminator::End(_) => (1, 1),
            Terminator::Decide { no, yes, .. } => {
                let counts = [no, yes].into_iter().flatten().map(|path| path.count());
                counts.fold((1, 0), |(a, b), (c, d)| (a + c, b + d))
            }
        }
    }

    /// Visits the objects that the epilogues hold, for the garbage collector.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match &self.then {
            Terminator::End(ending) => ending.result.traverse(visit),
            Terminator::Decide { no, yes, .. } => {
                [no, yes].into_iter().flatten().try_for_each(|path| path.traverse(visit))
            }
        }
    }

    /// Visits all segments, each with its depth and the decision before it.
    pub fn walk(
        &self,
        depth: usize,
        way: Option<bool>,
        seen: &mut impl FnMut(&TraceTree, usize, Option<bool>),
    ) {
        seen(self, depth, way);
        if let Terminator::Decide { no, yes, .. } = &self.then {
            for (next, way) in [(yes, true), (no, false)] {
                if let Some(next) = next {
                    next.walk(depth + 1, Some(way), seen);
                }
            }
        }
    }
}

/// Both, where there are two.
#[allow(clippy::option_option)] // nothing is known, or both cannot be
fn joint(
    one: &Option<Arc<TraceTree>>,
    other: &Option<Arc<TraceTree>>,
) -> Option<Option<Arc<TraceTree>>> {
    match (one, other) {
        (Some(one), Some(other)) => one.with(other).map(Arc::new).map(Some),
        (one, other) => Some(one.as_ref().or(other.as_ref()).cloned()),
    }
}
