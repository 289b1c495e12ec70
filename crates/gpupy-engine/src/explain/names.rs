//! Names of values, and the spelling of shapes, times and counts.
//!
//! Owns [`Names`]. Invariant: values are numbered in the order of their creation, so that the same program gives the
//! same text in every process.
//!
//! Not here: the words of events (`event_words.rs`), a flush as text (`flush_text.rs`).

use super::step::Subject;
use super::trace::{Event, Flush, GraphNode, Source, view_text};
use crate::graph::value::ValueId;
use rustc_hash::FxHashMap;
use std::time::Duration;

/// The numbers that a reader sees in place of ids: by creation, and then as they come.
pub(crate) struct Names {
    numbers: FxHashMap<ValueId, usize>,
    /// Whether nothing was done yet of what is told.
    pub are_planned: bool,
}

impl Names {
    pub fn of(flush: &Flush) -> Names {
        let mut names = FxHashMap::default();
        let ids = flush.graph.iter().map(|node| node.value.id);
        let later = flush.events.iter().flat_map(mentioned);
        for id in ids.chain(later) {
            let next = names.len();
            names.entry(id).or_insert(next);
        }
        Names { numbers: names, are_planned: flush.time.is_none() }
    }

    /// No numbers: values are called by their types.
    pub fn none() -> Names {
        Names { numbers: FxHashMap::default(), are_planned: false }
    }

    pub fn name(&self, id: ValueId) -> String {
        self.numbers.get(&id).map_or_else(|| "another value".into(), |n| format!("v{n}"))
    }

    /// The number of a value, or its type where it has none.
    pub fn called(&self, value: &Subject) -> String {
        if self.numbers.contains_key(&value.id) { self.name(value.id) } else { type_text(value) }
    }

    /// The operation of a node, with its sources.
    pub fn node(&self, node: &GraphNode) -> String {
        if node.leaf || node.sources.is_empty() {
            return node.what.clone();
        }
        let sources: Vec<String> = node.sources.iter().map(|s| self.source(s)).collect();
        format!("{}({})", node.what, sources.join(", "))
    }

    fn source(&self, source: &Source) -> String {
        match source {
            Source::Scalar(scalar) => scalar.to_string(),
            Source::Whole(id) => self.name(*id),
            Source::View(id, offset, strides) => {
                format!("{} {}", self.name(*id), view_text(*offset, strides))
            }
        }
    }
}

fn mentioned(event: &Event) -> Vec<ValueId> {
    match event {
        Event::Step(step) => {
            step.reads.iter().chain(&step.writes).map(|extent| extent.value.id).collect()
        }
        Event::Cut(value) | Event::Assigned(value, _) | Event::GaveUp(value, ..) => vec![value.id],
        // Its result has no name yet.
        Event::Eager(..) | Event::Later(_) => Vec::new(),
    }
}

/// A dtype with extents, as NumPy writes them.
pub(crate) fn type_text(value: &Subject) -> String {
    format!("{} {}", value.dtype, shape_text(&value.shape))
}

pub(crate) fn shape_text(shape: &[usize]) -> String {
    let all: Vec<String> = shape.iter().map(usize::to_string).collect();
    if let [one] = &all[..] { format!("({one},)") } else { format!("({})", all.join(", ")) }
}

pub(crate) fn time_text(time: Duration) -> String {
    format!("{:.3} ms", time.as_secs_f64() * 1e3)
}

/// A short form of a time, for steps.
pub(crate) fn short_time(time: Duration) -> String {
    format!("{:.1} µs", time.as_secs_f64() * 1e6)
}

/// Enough of a fingerprint to tell programs apart by eye.
pub(crate) fn short(fingerprint: u128) -> String {
    format!("{:08x}", fingerprint >> 96)
}

pub(crate) fn count(n: usize, what: &str) -> String {
    let many = if what.ends_with("ch") { format!("{what}es") } else { format!("{what}s") };
    plural(n, what, &many)
}

pub(crate) fn plural(n: usize, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {many}") }
}
