//! What an evaluation is asked for.
//!
//! Owns [`Demand`].
//!
//! Not here: what is pending below the wanted values (`pending_graph.rs`).

use crate::graph::value::Value;
use crate::schedule::walk::Needs;
use crate::thresholds::T;
use std::ops::Range;

/// The values that an engine is asked for.
pub(crate) struct Demand<'d> {
    pub value: &'d Value,
    /// The positions of the value.
    pub range: Range<usize>,
    /// The values that are computed as well, all of each.
    pub next: &'d [Value],
    /// Whether the program drops the values from which the wanted ones are computed, before it goes on.
    pub passing: bool,
    /// Whether more is asked for later, which it reads: then nothing else is computed beside.
    pub is_window: bool,
    /// Whether what is no whole window may stay pending, where there are windows.
    pub in_windows: bool,
}

impl<'d> Demand<'d> {
    /// Positions of a value, and nothing that is known of besides.
    pub fn of(value: &'d Value, range: Range<usize>) -> Demand<'d> {
        Demand { value, range, next: &[], passing: false, is_window: false, in_windows: false }
    }

    /// Whether the values are computed.
    pub fn is_met(&self) -> bool {
        self.value.state().computed.covers(self.range.clone())
            && self.next.iter().all(Value::is_computed)
    }

    /// The positions that are computed in any case, those of the first value last: a schedule takes it first.
    pub fn roots(&self) -> Needs {
        let next = self.next.iter().rev().map(|value| (value.clone(), 0..value.len()));
        next.chain(std::iter::once((self.value.clone(), self.range.clone()))).collect()
    }

    /// The wanted values, in order.
    pub fn wanted(&self) -> impl Iterator<Item = &'d Value> {
        std::iter::once(self.value).chain(self.next)
    }

    /// All of the first of these and of those behind it, as many as one flush computes; `None` where there is none.
    pub fn first_of(values: &'d [Value]) -> Option<Demand<'d>> {
        let (value, rest) = values.split_first()?;
        Some(Demand {
            value,
            range: 0..value.len(),
            next: &rest[..rest.len().min(T.flushed_together)],
            passing: false,
            is_window: false,
            in_windows: false,
        })
    }
}
