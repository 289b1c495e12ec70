//! The memory that an unevaluated value keeps alive.
//!
//! Owns the count of bytes that an evaluation of a graph would free: computed values that only the graph still holds.
//! Recording keeps a cheap upper bound in each node, which counts shared values again; when the bound is large, this
//! module traverses the graph. Owns as well the rule when so many bytes lead to an evaluation that the program did not
//! ask for.
//!
//! Not here: evaluation itself (`evaluate.rs`).

use crate::array::base::Array;
use crate::array::contents::Contents;
use crate::context::Context;
use crate::graph::value::{Value, ValueId, ValueKind, computed_bytes};
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

impl Context {
    /// Evaluates what was written, the value of a base and of those that it shows, where too much is pending.
    pub(crate) fn bound_written(&self, dest: &Array, recorded: Option<&Value>) -> Result<()> {
        recorded.map_or(Ok(()), |value| self.bound(value))?;
        let mut dtype_view = dest.dtype_view();
        while let Some(whole) = dtype_view.map(|dtype_view| dtype_view.whole()) {
            self.bound(&whole.value()?)?;
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

    fn may_be_much(&self, value: &Value) -> bool {
        value.0.depth >= self.inner.settings.flush_depth
            || value.0.held.load(Ordering::Relaxed) >= self.inner.settings.flush_bytes
    }

    /// Evaluates a value when too much is pending behind it.
    pub(crate) fn bound(&self, value: &Value) -> Result<()> {
        if !self.may_be_much(value) || value.is_computed() || value.is_open() {
            return Ok(());
        }
        let most = self.inner.settings.flush_bytes;
        if value.0.depth < self.inner.settings.flush_depth
            && (computed_bytes() < most || held_bytes(value) < most)
        {
            return Ok(());
        }
        self.while_others_run(|| {
            self.state()?.engine.stats.automatic_flushes += 1;
            self.compute(value, 0..value.len())
        })
    }
}
