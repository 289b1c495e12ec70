//! The parts of a join that a chain goes through.
//!
//! Owns [`JoinParts`]: the content of each part, as far as points read it, and the values that the parts are views of.
//!
//! Not here: the coordinates in those values (`chain.rs`, `graph/piecewise_number.rs`).

use crate::graph::join::Join;
use crate::graph::value::{Input, InputLayout, Value, ValueKind};
use crate::thresholds::T;
use gpupy_core::Scalar;
use smallvec::SmallVec;
use std::ops::Range;

/// Adjacent parts of a join.
pub(super) struct JoinParts {
    pub all: SmallVec<[PartOf; 4]>,
    /// The values that they are views of.
    pub sources: SmallVec<[Value; 1]>,
}

/// A part of a join.
pub(super) struct PartOf {
    /// Its coordinates along the axis.
    pub range: Range<i64>,
    pub read: PartRead,
}

/// The content of a part of a join.
pub(super) enum PartRead {
    Constant(Scalar),
    /// This one of the sources, seen so.
    View(usize, InputLayout),
}

/// The source of the elements of adjacent parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Giver {
    Constant(Scalar),
    Source(usize),
}

impl PartOf {
    pub fn extent(&self) -> usize {
        (self.range.end - self.range.start) as usize
    }

    pub fn giver(&self) -> Giver {
        match self.read {
            PartRead::Constant(scalar) => Giver::Constant(scalar),
            PartRead::View(source, _) => Giver::Source(source),
        }
    }
}

impl JoinParts {
    /// Those that have coordinates in a range; `None` where they are too many.
    pub fn of(value: &Value, join: &Join, range: Range<i64>) -> Option<JoinParts> {
        let ValueKind::Expr { inputs, .. } = &value.0.kind else { return None };
        let state = value.state();
        if state.operands.len() != inputs.len() {
            return None;
        }
        let part_of = |at: i64| join.ends.partition_point(|end| *end as i64 <= at);
        let first = part_of(range.start).min(inputs.len() - 1);
        let last = part_of(range.end - 1).min(inputs.len() - 1);
        if last - first >= T.chained_parts {
            return None;
        }
        let mut parts = JoinParts { all: SmallVec::new(), sources: SmallVec::new() };
        for part in first..=last {
            let input = &inputs[part];
            let read = match (input, &state.operands[part]) {
                (Input::Scalar(scalar), _) => PartRead::Constant(*scalar),
                (_, Some(operand)) => match operand.0.kind {
                    ValueKind::Constant(scalar) => PartRead::Constant(scalar),
                    _ => {
                        let layout = input.layout(&join.shape(part, value.shape()));
                        PartRead::View(parts.source(operand), layout)
                    }
                },
                (_, None) => return None,
            };
            let range = join.start(part) as i64..join.ends[part] as i64;
            parts.all.push(PartOf { range, read });
        }
        Some(parts)
    }

    /// The number of a source, which is a new one or known.
    fn source(&mut self, value: &Value) -> usize {
        let known = self.sources.iter().position(|source| source.id() == value.id());
        known.unwrap_or_else(|| {
            self.sources.push(value.clone());
            self.sources.len() - 1
        })
    }

    /// The coordinates that the parts have along the axis which are views of a source.
    pub fn extent_of(&self, source: usize) -> usize {
        let own = self.all.iter().filter(|part| part.giver() == Giver::Source(source));
        own.map(PartOf::extent).sum()
    }

    /// The givers of the elements, each with the coordinate before which it gives them; adjacent parts of one giver are
    /// one.
    pub fn runs(&self) -> SmallVec<[(i64, Giver); 4]> {
        let mut runs: SmallVec<[(i64, Giver); 4]> = SmallVec::new();
        for part in &self.all {
            match runs.last_mut() {
                Some((end, giver)) if *giver == part.giver() => *end = part.range.end,
                _ => runs.push((part.range.end, part.giver())),
            }
        }
        runs
    }
}
