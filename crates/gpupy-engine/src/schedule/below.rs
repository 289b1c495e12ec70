//! Below: the pending values below what is wanted, and what they read, each by a number.
//!
//! Owns [`Below`] and [`Source`]. Here the handles of a flush are counted, once. Invariants: a value comes after what it
//! reads; who holds a `Below` holds all its values, so it goes before anything asks who holds what.
//!
//! Not here: what is found out about the values (`flush.rs`), by what a flush is known again (`replay/key.rs`).

use crate::graph::value::{Value, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// What an operation reads in one of its places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    Scalar,
    /// A pending value, by its number.
    Pending(u32),
    /// A value that is computed, by its number.
    Leaf(u32),
}

/// What each value reads, in the order of its inputs.
pub(crate) type Reads = Vec<SmallVec<[Source; 3]>>;

/// The pending values below what is wanted.
#[derive(Default)]
pub(crate) struct Below {
    /// Operands before what reads them.
    pub values: Vec<Value>,
    /// The computed ones among what they read, each before the values that read only later ones.
    pub leaves: Vec<Value>,
    /// The number of each value, and of each leaf.
    pub numbers: FxHashMap<ValueId, Source>,
    /// Of each value; nothing of one whose operands were lost.
    pub reads: Reads,
    /// Whether anything but these holds a value.
    pub outlives: Vec<bool>,
    /// Whether anything but these holds a leaf.
    pub leaf_outlives: Vec<bool>,
}

impl Below {
    /// The pending values below these.
    pub fn of<'v>(wanted: impl Iterator<Item = &'v Value>) -> Below {
        let mut below = Below::default();
        let mut open: Vec<Value> = wanted.cloned().collect();
        while let Some(value) = open.pop() {
            if value.is_computed() || below.numbers.contains_key(&value.id()) {
                continue;
            }
            below.numbers.insert(value.id(), Source::Scalar);
            let state = value.state();
            let pending = state.operands.iter().flatten().filter(|operand| !operand.is_computed());
            open.extend(pending.cloned());
            drop(state);
            below.values.push(value);
        }
        below.values.sort_unstable_by_key(Value::order);
        for (number, value) in (0..).zip(&below.values) {
            below.numbers.insert(value.id(), Source::Pending(number));
        }
        below.read();
        below
    }

    /// Finds out what the values read, and who else holds them and that.
    fn read(&mut self) {
        // The handles that are known of: in the lists here, and of what reads it.
        let mut handles: Vec<usize> = vec![1; self.values.len()];
        let mut leaf_handles: Vec<usize> = Vec::new();
        self.reads.reserve_exact(self.values.len());
        for value in &self.values {
            let mut reads: SmallVec<[Source; 3]> = SmallVec::new();
            for operand in &value.state().operands {
                let Some(operand) = operand else {
                    reads.push(Source::Scalar);
                    continue;
                };
                let leaves = &mut self.leaves;
                let source = *self.numbers.entry(operand.id()).or_insert_with(|| {
                    leaves.push(operand.clone());
                    leaf_handles.push(1);
                    Source::Leaf(leaves.len() as u32 - 1)
                });
                match source {
                    Source::Pending(number) => handles[number as usize] += 1,
                    Source::Leaf(number) => leaf_handles[number as usize] += 1,
                    Source::Scalar => {}
                }
                reads.push(source);
            }
            self.reads.push(reads);
        }
        let outlives = |(value, handles): (&Value, usize)| Arc::strong_count(&value.0) > handles;
        self.outlives = self.values.iter().zip(handles).map(outlives).collect();
        self.leaf_outlives = self.leaves.iter().zip(leaf_handles).map(outlives).collect();
    }

    /// The number of a pending value.
    pub fn number(&self, value: ValueId) -> Option<u32> {
        match self.numbers.get(&value) {
            Some(Source::Pending(number)) => Some(*number),
            _ => None,
        }
    }
}
