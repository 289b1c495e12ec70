//! The pending graph: the pending values below the wanted ones, and what they read, each by a number.
//!
//! Owns [`PendingGraph`] and [`InputSource`]. Here the handles of a flush are counted, once. Invariants: a value comes
//! after the values that it reads; a `PendingGraph` holds all its values, so it is dropped before anything asks how
//! many handles a value has.
//!
//! Not here: the analysis of the values (`flush.rs`), the key of a flush (`compiled/flush_key.rs`).

use crate::graph::value::{TopologicalRank, Value, ValueId};
use crate::memory::ranges::Ranges;
use crate::schedule::passes::demand::Demand;
use crate::thresholds::T;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// The source of one input of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum InputSource {
    Scalar,
    /// A pending value, by its number.
    Pending(u32),
    /// A value that is computed, by its number.
    Leaf(u32),
    /// A pending value that was not asked for, by its number among those (`others.rs`).
    Other(u32),
}

/// The sources of each value, in the order of its inputs.
pub(crate) type GraphReads = Vec<SmallVec<[InputSource; 3]>>;

/// The pending values below the wanted ones.
#[derive(Default)]
pub(crate) struct PendingGraph {
    /// The values, operands before their readers.
    pub values: Vec<Value>,
    /// Their computed operands, in the order in which a traversal from the wanted values finds them.
    pub leaves: Vec<Value>,
    /// The number of each value, and of each leaf.
    pub numbers: FxHashMap<ValueId, InputSource>,
    /// Of each value; nothing of one whose operands were lost.
    pub reads: GraphReads,
    /// Of each value, whether nothing of it is computed.
    pub is_new: Vec<bool>,
    /// Whether anything but these holds a value.
    pub outlives: Vec<bool>,
    /// Whether anything but these holds a leaf.
    pub leaf_outlives: Vec<bool>,
    /// Values that the program holds, though not for longer than the flush.
    pub passing: Vec<ValueId>,
    /// The values that may be computed beside these, operands before their readers, and what they read.
    pub others: Vec<Value>,
    pub other_reads: GraphReads,
}

impl PendingGraph {
    /// The pending values below the wanted ones.
    pub fn of(demand: &Demand<'_>) -> PendingGraph {
        let mut below = PendingGraph::default();
        for value in demand.wanted().filter(|value| !value.is_computed()) {
            below.see(value);
        }
        let wanted = below.values.len();
        // The weight is at least the number of values, where none is shared.
        let likely = below.values.iter().map(|value| value.0.weight as usize).sum::<usize>();
        below.make_room(likely.min(T.likely_nodes));
        // The known handles: those in the lists here, and those of readers.
        let (mut handles, mut leaf_handles) = (Vec::new(), Vec::new());
        let mut next = 0;
        while next < below.values.len() {
            let value = below.values[next].clone();
            let state = value.state();
            below.is_new.push(state.computed == Ranges::default());
            let mut reads = SmallVec::new();
            for operand in &state.operands {
                let source =
                    operand.as_ref().map_or(InputSource::Scalar, |operand| below.see(operand));
                reads.push(source);
                let (handles, number) = match source {
                    InputSource::Pending(number) => (&mut handles, number as usize),
                    InputSource::Leaf(number) => (&mut leaf_handles, number as usize),
                    InputSource::Scalar | InputSource::Other(_) => continue,
                };
                handles.resize(handles.len().max(number + 1), 1);
                handles[number] += 1;
            }
            below.reads.push(reads);
            next += 1;
        }
        handles.resize(below.values.len(), 1);
        let outlives = |(value, handles): (&Value, usize)| Arc::strong_count(&value.0) > handles;
        below.outlives = below.values.iter().zip(handles.iter().copied()).map(outlives).collect();
        if demand.passing {
            below.let_pass(wanted, &handles);
        }
        below.leaf_outlives = below.leaves.iter().zip(leaf_handles).map(outlives).collect();
        below.sort();
        below
    }

    /// The first values below the wanted ones that the program has do not outlive them, where it has one handle.
    fn let_pass(&mut self, wanted: usize, handles: &[usize]) {
        let mut open: Vec<usize> = (0..wanted).collect();
        let mut seen = vec![false; self.values.len()];
        while let Some(number) = open.pop() {
            for source in &self.reads[number] {
                let InputSource::Pending(operand) = *source else { continue };
                let operand = operand as usize;
                if std::mem::replace(&mut seen[operand], true) {
                    continue;
                }
                if !self.outlives[operand] {
                    open.push(operand);
                } else if Arc::strong_count(&self.values[operand].0) == handles[operand] + 1 {
                    self.outlives[operand] = false;
                    self.passing.push(self.values[operand].id());
                }
            }
        }
    }

    fn make_room(&mut self, likely: usize) {
        self.numbers.reserve(likely);
        self.values.reserve(likely);
        self.reads.reserve(likely);
        self.is_new.reserve(likely);
    }

    /// The number of an operand, which is a new one at the first visit.
    fn see(&mut self, value: &Value) -> InputSource {
        let (values, leaves) = (&mut self.values, &mut self.leaves);
        *self.numbers.entry(value.id()).or_insert_with(|| {
            let (list, source): (_, fn(u32) -> InputSource) = match value.is_computed() {
                true => (leaves, InputSource::Leaf),
                false => (values, InputSource::Pending),
            };
            list.push(value.clone());
            source(list.len() as u32 - 1)
        })
    }

    /// Puts operands before their readers.
    fn sort(&mut self) {
        let count = self.values.len();
        let mut order: Vec<(TopologicalRank, u32)> =
            self.values.iter().map(Value::order).zip(0..count as u32).rev().collect();
        // Usually they are nearly in order, as newer values are visited first.
        order.sort();
        let mut places = vec![0; count];
        (0..).zip(&order).for_each(|(place, (_, number))| places[*number as usize] = place);
        let moved = |source: &mut InputSource| {
            if let InputSource::Pending(number) = source {
                *number = places[*number as usize];
            }
        };
        self.numbers.values_mut().for_each(moved);
        self.reads.iter_mut().flatten().for_each(moved);
        for place in 0..count {
            // Swaps the value here to its place, until the one that belongs here has come.
            while places[place] as usize != place {
                let to = places[place] as usize;
                self.values.swap(place, to);
                self.reads.swap(place, to);
                self.is_new.swap(place, to);
                self.outlives.swap(place, to);
                places.swap(place, to);
            }
        }
    }

    /// The number of a pending value.
    pub fn number(&self, value: ValueId) -> Option<u32> {
        match self.numbers.get(&value) {
            Some(InputSource::Pending(number)) => Some(*number),
            _ => None,
        }
    }
}
