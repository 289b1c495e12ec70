//! Windows: where a long flush is cut so that its parts are alike.
//!
//! Owns [`FlushWindows`]. A loop without looks is one long flush in which the same structure begins again and again. It
//! is cut there, at the place of its turn where the fewest bytes live, into flushes of a few turns each: what is read
//! behind a cut is asked for before it. So each window has the structure of the one before, is compiled once, and takes
//! the memory of few turns. Invariants: values have the bits that they have without windows; the cuts follow from the
//! graph alone; a window holds no value of a later one, so that it does not change the counts of handles.
//!
//! Not here: what a window does (`compiled/`), by which key it is known again (`compiled/flush_key.rs`).

use super::demand::Demand;
use super::pending_graph::{InputSource, PendingGraph};
use crate::graph::library_op::LibraryOp;
use crate::graph::value::{Input, Node, NodeOp, Value, ValueKind};
use crate::thresholds::T;
use rustc_hash::{FxHashMap, FxHasher};
use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Weak};

/// The windows of a flush that are left, without the last one, which ends with the flush.
#[derive(Default)]
pub(crate) struct FlushWindows {
    /// What each is asked for.
    ends: VecDeque<Vec<Weak<Node>>>,
    /// What the present one is still asked for, the next value first.
    present: Vec<Value>,
}

impl FlushWindows {
    /// The windows of what is asked for, if that is long and repeats itself.
    pub fn of(demand: &Demand<'_>) -> FlushWindows {
        let is_whole = demand.range == (0..demand.value.len());
        // The weight is at least the number of values, where none is shared.
        let most = demand.wanted().map(|value| value.0.weight as usize).sum::<usize>();
        if !is_whole || most < T.windowed_nodes {
            return FlushWindows::default();
        }
        let below = PendingGraph::of(demand);
        if below.values.len() < T.windowed_nodes {
            return FlushWindows::default();
        }
        let ends = Turns::of(&below).map(|turns| turns.windows(demand, &below));
        FlushWindows { ends: ends.unwrap_or_default(), present: Vec::new() }
    }

    /// What the present window is still asked for; nothing where only the last one is left.
    pub fn present(&mut self) -> Option<&[Value]> {
        while self.present.is_empty() {
            let living = self.ends.pop_front()?.into_iter().filter_map(|value| value.upgrade());
            self.present = living.map(Value).filter(|value| !value.is_computed()).collect();
        }
        Some(&self.present)
    }

    /// The first value of the present window is computed.
    pub fn computed(&mut self) {
        self.present.retain(|value| !value.is_computed());
    }
}

/// The turns of a loop in a graph.
struct Turns {
    /// The values of a turn.
    period: usize,
    /// Whether each value is like the one a turn before.
    is_alike: Vec<bool>,
}

impl Turns {
    /// The turns of a graph that consists of them for the most part.
    fn of(below: &PendingGraph) -> Option<Turns> {
        let likeness: Vec<u64> = likeness(below)?;
        let mut last: FxHashMap<u64, usize> = FxHashMap::default();
        let mut votes: FxHashMap<usize, usize> = FxHashMap::default();
        for (number, like) in likeness.iter().enumerate() {
            if let Some(before) = last.insert(*like, number) {
                *votes.entry(number - before).or_default() += 1;
            }
        }
        let (period, votes) =
            votes.into_iter().max_by_key(|(period, votes)| (*votes, std::cmp::Reverse(*period)))?;
        let is_loop = period <= T.most_of_turn && votes * 4 >= likeness.len() * 3;
        is_loop.then(|| {
            let before = |number: usize| number.checked_sub(period).map(|before| likeness[before]);
            let is_alike = (0..likeness.len()).map(|n| before(n) == Some(likeness[n])).collect();
            Turns { period, is_alike }
        })
    }

    /// What each window but the last is asked for.
    fn windows(&self, demand: &Demand<'_>, below: &PendingGraph) -> VecDeque<Vec<Weak<Node>>> {
        let count = below.values.len();
        let last_reads = last_reads(below);
        let is_wanted: Vec<bool> = {
            let mut wanted = vec![false; count];
            let numbers = demand.wanted().filter_map(|value| below.number(value.id()));
            numbers.for_each(|number| wanted[number as usize] = true);
            wanted
        };
        let bytes = living_bytes(below, &last_reads);
        // The place of a turn in the middle where the fewest bytes live.
        let middle = count / 2;
        let places = middle..(middle + self.period).min(count);
        let Some(place) = places.min_by_key(|place| bytes[*place]) else { return VecDeque::new() };
        let wanted: u64 = demand.wanted().map(Value::byte_len).sum();
        if !reads_all(below, place, self.period)
            && bytes[place] > wanted.saturating_mul(T.windowed_bytes)
        {
            return VecDeque::new();
        }
        let turns = T.window_nodes.div_ceil(self.period);
        let step = turns * self.period;
        let first = place % step;
        let cuts = (first..count).step_by(step).filter(|cut| *cut > 0);
        // Where more lives than in the middle, turns are not alike.
        let is_cut = |cut: &usize| self.is_alike[*cut] && bytes[*cut] <= bytes[place];
        let mut windows = VecDeque::new();
        let mut begin = 0;
        for cut in cuts.filter(is_cut) {
            let lives = |number: &usize| last_reads[*number] >= cut || is_wanted[*number];
            let values = (begin..cut).filter(lives).map(|number| &below.values[number]);
            // Newer ones first, as their operands are older.
            windows.push_back(values.rev().map(|value| Arc::downgrade(&value.0)).collect());
            begin = cut;
        }
        windows
    }
}

/// Of each value the last that reads it.
fn last_reads(below: &PendingGraph) -> Vec<usize> {
    let mut last = vec![0; below.values.len()];
    for (reader, reads) in below.reads.iter().enumerate() {
        for source in reads {
            if let InputSource::Pending(number) = source {
                last[*number as usize] = reader;
            }
        }
    }
    last
}

/// The bytes of values before each place that are read behind it.
fn living_bytes(below: &PendingGraph, last_reads: &[usize]) -> Vec<u64> {
    let mut bytes = vec![0u64; below.values.len() + 1];
    let mut ends = vec![0u64; below.values.len() + 1];
    let mut living = 0u64;
    for (number, value) in below.values.iter().enumerate() {
        living -= std::mem::take(&mut ends[number]);
        bytes[number] = living;
        if last_reads[number] > number {
            living = living.saturating_add(value.byte_len());
            ends[last_reads[number] + 1] += value.byte_len();
        }
    }
    bytes
}

/// Whether a turn reads all elements of what it computes, however few are wanted in the end.
fn reads_all(below: &PendingGraph, place: usize, period: usize) -> bool {
    below.values[place.saturating_sub(period)..place].iter().any(|value| {
        let ValueKind::Expr { op, .. } = &value.0.kind else { return false };
        matches!(op, NodeOp::Reduce { .. } | NodeOp::Whole(_))
    })
}

/// A number for each value that is equal for values which do the same to what stands at the same distances before them,
/// in the same surroundings; nothing where a value is none of a loop's.
fn likeness(below: &PendingGraph) -> Option<Vec<u64>> {
    /// How many values before one are its surroundings.
    const NEAR: u32 = 8;
    let mut all = Vec::with_capacity(below.values.len());
    let mut recent = VecDeque::new();
    for (number, (value, reads)) in below.values.iter().zip(&below.reads).enumerate() {
        recent.push_back(own_likeness(number, value, reads)?);
        if recent.len() > NEAR as usize {
            recent.pop_front();
        }
        let mut hasher = FxHasher::default();
        recent.iter().for_each(|own: &u64| own.hash(&mut hasher));
        all.push(hasher.finish());
    }
    Some(all)
}

fn own_likeness(number: usize, value: &Value, reads: &[InputSource]) -> Option<u64> {
    let ValueKind::Expr { op, inputs } = &value.0.kind else { return None };
    let mut hasher = FxHasher::default();
    (value.dtype() as u64, value.shape()).hash(&mut hasher);
    match op {
        NodeOp::Apply(op) => (1, *op as u64).hash(&mut hasher),
        NodeOp::Index(axis) => (2, *axis as u64).hash(&mut hasher),
        NodeOp::Reduce { op, n } => (3, *op as u64, *n).hash(&mut hasher),
        NodeOp::Gather => 4.hash(&mut hasher),
        NodeOp::Assign(view) => {
            (5, view.offset, &view.shape[..], &view.strides[..]).hash(&mut hasher);
        }
        NodeOp::Join(join) => (6, join.axis as u64, &join.ends[..]).hash(&mut hasher),
        NodeOp::Whole(LibraryOp::Scan(op)) => (7, *op as u64).hash(&mut hasher),
        NodeOp::Whole(LibraryOp::Sort) => 8.hash(&mut hasher),
        NodeOp::Whole(LibraryOp::ArgSort) => 9.hash(&mut hasher),
        NodeOp::Whole(LibraryOp::MatMul(n)) => (10, *n).hash(&mut hasher),
        NodeOp::Call(called) => {
            (11, called.result as u64, called.function.fingerprint().0).hash(&mut hasher);
        }
        // They are done in host memory, or have no elements.
        NodeOp::Scatter(_) | NodeOp::WhereTrue | NodeOp::Argument | NodeOp::Deferred(_) => {
            return None;
        }
    }
    for (input, source) in inputs.iter().zip(reads) {
        match source {
            InputSource::Scalar => 0.hash(&mut hasher),
            // What is far is the same for all turns.
            InputSource::Pending(operand) => match number - *operand as usize {
                near if near <= T.most_of_turn => (1, near).hash(&mut hasher),
                _ => (2, *operand).hash(&mut hasher),
            },
            InputSource::Leaf(leaf) => (3, *leaf).hash(&mut hasher),
        }
        match input {
            Input::Scalar(scalar) => (4, scalar.dtype as u64).hash(&mut hasher),
            Input::Whole(_) => 5.hash(&mut hasher),
            Input::View(_, layout) => {
                (6, layout.offset, &layout.strides[..]).hash(&mut hasher);
            }
        }
    }
    Some(hasher.finish())
}
