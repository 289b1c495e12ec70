//! How much is pending behind a value: operations, and the memory that they keep alive.
//!
//! Owns the counts of a graph's pending operations and of the bytes that its evaluation would free: computed values
//! that only the graph still holds. Recording keeps a cheap upper bound of each in each node: the values that were made
//! since the oldest one below it, and bytes that count shared values again. When a bound is large, this module
//! traverses the graph, and lowers it. Owns as well the rule when so much leads to an evaluation that the program did
//! not ask for: the device has work while the program records, and what is planned at once is bounded. Invariants: the
//! rule counts, and never asks the time, so that a program does the same in each run; counting looks at each value a
//! few times in all.
//!
//! Not here: evaluation itself (`evaluate.rs`).

use crate::array::base::Array;
use crate::array::contents::Contents;
use crate::context::Context;
use crate::graph::value::{Value, ValueId, ValueKind, computed_bytes};
use crate::schedule::passes::demand::Demand;
use gpupy_core::Result;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Bytes of the computed values below `root` that are held only by its graph. Its bound, and that of every pending
/// value below it, is lowered to its count.
pub(crate) fn held_bytes(root: &Value) -> u64 {
    let mut seen: FxHashSet<ValueId> = FxHashSet::default();
    let mut leaves: FxHashMap<ValueId, (Value, usize)> = FxHashMap::default();
    let mut pending = vec![root.clone()];
    let mut next = 0;
    while next < pending.len() {
        let operands = pending[next].state().operands.clone();
        next += 1;
        for operand in operands.into_iter().flatten() {
            if !operand.is_computed() {
                if seen.insert(operand.id()) {
                    pending.push(operand);
                }
            } else if !matches!(operand.0.kind, ValueKind::Constant(_) | ValueKind::External(_)) {
                leaves.entry(operand.id()).or_insert_with(|| (operand, 0)).1 += 1;
            }
        }
    }
    let held = leaves
        .into_values()
        // The graph's own handles, and the one that we hold here.
        .filter(|(leaf, handles)| Arc::strong_count(&leaf.0) <= handles + 1)
        .map(|(leaf, _)| leaf.byte_len())
        .sum();
    // What only a part of the graph keeps alive, only the graph does.
    for value in pending {
        value.0.held.fetch_min(held, Ordering::Relaxed);
    }
    held
}

/// The pending operations below `root`, itself among them, where they are fewer than `most`; then the bound of each of
/// them is lowered.
fn pending_operations(root: &Value, most: usize) -> Option<usize> {
    let mut seen: FxHashSet<ValueId> = FxHashSet::default();
    seen.insert(root.id());
    let mut pending = vec![root.clone()];
    let mut next = 0;
    while next < pending.len() {
        if pending.len() >= most {
            return None;
        }
        let operands = pending[next].state().operands.clone();
        next += 1;
        let new = operands.into_iter().flatten();
        pending.extend(new.filter(|value| !value.is_computed() && seen.insert(value.id())));
    }
    let since = (root.id() + 1).saturating_sub(pending.len() as ValueId);
    for value in &pending {
        value.0.oldest.fetch_max(since, Ordering::Relaxed);
    }
    Some(pending.len())
}

/// At most the pending operations below a value.
fn bound_of_operations(value: &Value) -> u64 {
    (value.id() + 1).saturating_sub(value.0.oldest.load(Ordering::Relaxed))
}

impl Context {
    /// Evaluates what was written, the value of a base and of those that it shows, where too much is pending.
    pub(crate) fn bound_written(&self, dest: &Array, recorded: Option<&Value>) -> Result<()> {
        // A loop that writes is cut where it writes: at the same place of its body each time.
        let most = self.inner.settings.flush_operations;
        recorded.map_or(Ok(()), |value| self.bound_to(value, most))?;
        let mut dtype_view = dest.dtype_view();
        while let Some(whole) = dtype_view.map(|dtype_view| dtype_view.whole()) {
            self.bound_to(&whole.value()?, most)?;
            dtype_view = whole.dtype_view();
        }
        Ok(())
    }

    pub(crate) fn bounded(&self, array: Array) -> Result<Array> {
        if self.may_be_much_behind(&array) {
            self.bound(&array.value()?)?;
        }
        Ok(array)
    }

    /// Whether so much may be pending behind an array that it is to be looked at.
    pub(crate) fn may_be_much_behind(&self, array: &Array) -> bool {
        matches!(array.current().held(), Contents::Value(value) if self.may_be_much(value))
    }

    /// The most operations that may be pending behind what is not written: such a value is mostly a step on the way to
    /// one that is.
    fn most_operations(&self) -> usize {
        self.inner.settings.flush_operations.saturating_mul(2)
    }

    fn may_be_much(&self, value: &Value) -> bool {
        self.may_be_more_than(value, self.most_operations())
    }

    fn may_be_more_than(&self, value: &Value, operations: usize) -> bool {
        bound_of_operations(value) >= operations as u64
            || value.0.held.load(Ordering::Relaxed) >= self.inner.settings.flush_bytes
    }

    /// Evaluates a value when too much is pending behind it.
    pub(crate) fn bound(&self, value: &Value) -> Result<()> {
        self.bound_to(value, self.most_operations())
    }

    fn bound_to(&self, value: &Value, operations: usize) -> Result<()> {
        if !self.may_be_more_than(value, operations) || value.is_computed() || value.is_open() {
            return Ok(());
        }
        let most = self.inner.settings.flush_bytes;
        let are_few = bound_of_operations(value) < operations as u64
            || pending_operations(value, operations).is_some();
        if are_few && (computed_bytes() < most || held_bytes(value) < most) {
            return Ok(());
        }
        self.while_others_run(|| {
            self.state()?.engine.stats.automatic_flushes += 1;
            // A loop goes on at the same place of a turn, whatever number of operations it has.
            let demand = Demand { in_windows: true, ..Demand::of(value, 0..value.len()) };
            self.compute_demand(&demand, |_| Ok(()))
        })
    }
}
