//! The table of living expressions, so that equal ones are one value.
//!
//! Owns [`Interner`]. It holds expressions weakly: a value leaves the table when its last
//! owner drops it. Invariants: at most one living value for an expression; no lock of a value is
//! taken under the table's lock; nothing is dropped under it.
//!
//! Not here: what makes operands equal in order (`value/`).

use crate::graph::value::{Kind, Node, NodeOp, Value, ValueId};
use gpupy_core::DType;
use gpupy_core::shape::Shape;
use hashbrown::HashTable;
use rustc_hash::FxHasher;
use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

pub(crate) struct Entry {
    hash: u64,
    /// The node's name; its address changes when it is dropped out of a chain.
    id: ValueId,
    node: Weak<Node>,
}

/// A table of living expressions. What a context computes lies on its devices, so each context has
/// a table of its own: values of two contexts are two, however equal they look.
#[derive(Default)]
pub(crate) struct Interner {
    table: Mutex<HashTable<Entry>>,
    /// The reductions that were recorded last.
    reductions: Mutex<VecDeque<Weak<Node>>>,
}

/// How many reductions are remembered: a program asks for as many statistics of an array one after another, each of a few
/// steps, and they are looked at whenever one is wanted.
const REDUCTIONS: usize = 64;

impl Interner {
    fn table(&self) -> MutexGuard<'_, HashTable<Entry>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reductions(&self) -> MutexGuard<'_, VecDeque<Weak<Node>>> {
        self.reductions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The living node with this dtype, shape and kind, or a new one.
    pub fn find_or_insert(
        &self,
        dtype: DType,
        shape: Shape,
        kind: Kind,
        make: impl FnOnce(Shape, Kind, Option<u64>) -> Arc<Node>,
    ) -> Arc<Node> {
        let mut hasher = FxHasher::default();
        (dtype, &kind, &shape).hash(&mut hasher);
        let hash = hasher.finish();
        // A candidate that turns out to be another expression may be its last handle by then.
        let mut others = Vec::new();
        let mut table = self.table();
        let found = table.find(hash, |entry| {
            entry.hash == hash
                && entry.node.upgrade().is_some_and(|node| {
                    let same = node.dtype == dtype && node.shape == shape && node.kind == kind;
                    others.push(node);
                    same
                })
        });
        if found.is_some()
            && let Some(node) = others.pop()
        {
            drop(table);
            return node;
        }
        let node = make(shape, kind, Some(hash));
        let entry = Entry { hash, id: node.id, node: Arc::downgrade(&node) };
        table.insert_unique(hash, entry, |entry| entry.hash);
        drop(table);
        if let Kind::Expr { op: NodeOp::Reduce { .. }, .. } = node.kind {
            let mut reductions = self.reductions();
            reductions.truncate(REDUCTIONS - 1);
            reductions.push_front(Arc::downgrade(&node));
        }
        node
    }

    /// Those of the reductions that were recorded last that somebody holds and that are not computed.
    pub fn pending_reductions(&self) -> Vec<Value> {
        // As in `pending`.
        let held: Vec<Value> =
            self.reductions().iter().filter_map(Weak::upgrade).map(Value).collect();
        held.into_iter().filter(|value| !value.is_computed()).collect()
    }

    /// Takes a node that is being dropped out of the table.
    pub fn remove(&self, hash: u64, node: &Node) {
        let mut table = self.table();
        if let Ok(entry) = table.find_entry(hash, |e| e.id == node.id) {
            // The weak handle frees the allocation, which is no value's drop: safe under the lock.
            entry.remove();
        }
    }

    /// True when `node` has so many handles; then the table forgets it, so that there come no more by
    /// it.
    pub fn forget_if_held_by(&self, hash: u64, node: &Arc<Node>, handles: usize) -> bool {
        let mut table = self.table();
        if Arc::strong_count(node) != handles {
            return false;
        }
        if let Ok(entry) = table.find_entry(hash, |e| e.id == node.id) {
            entry.remove();
        }
        true
    }

    /// The number of living expressions.
    pub fn len(&self) -> usize {
        self.table().len()
    }

    /// The living expressions that are not computed, unless there are so many that looking at all
    /// of them would cost more than it can save.
    pub fn pending(&self) -> Vec<Value> {
        /// Looking at an entry takes some ten nanoseconds, a launch some ten microseconds.
        const MANY: usize = 4096;
        let table = self.table();
        if table.len() > MANY {
            return Vec::new();
        }
        // Handles are sorted out, and dropped, after the lock.
        let living: Vec<Value> = table.iter().filter_map(|e| e.node.upgrade()).map(Value).collect();
        drop(table);
        living.into_iter().filter(|value| !value.is_computed()).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::array::base::Arg;
    use crate::record::recorder::Recorder;
    use gpupy_core::{Op, Scalar};

    #[test]
    fn a_dropped_chain_leaves_nothing_in_the_table() {
        let recorder = Recorder::default();
        let mut x = recorder.index(&[3, 5, 7, 11], 0).unwrap_or_else(|e| panic!("{e}"));
        for i in 1..=1000 {
            let args = [Arg::Array(&x), Arg::Scalar(Scalar::i32(i))];
            x = recorder.apply(Op::Add, &args).unwrap_or_else(|e| panic!("{e}"));
        }
        assert_eq!(recorder.living(), 1001);
        drop(x);
        assert_eq!(recorder.living(), 0);
    }
}
