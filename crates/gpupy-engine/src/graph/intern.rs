//! Interning (hash-consing): the table of living nodes, so that equal expressions are one node.
//!
//! Owns [`Interner`]. It holds nodes weakly: a node leaves the table when its last owner drops it. Invariants: of equal
//! nodes at most one is alive; no lock of a node is taken under the table's lock; nothing is dropped under it.
//!
//! Not here: nodes, and when two are equal (`value/`).

use crate::thresholds::T;
use hashbrown::HashTable;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

struct InternEntry<N> {
    hash: u64,
    /// The node's name; its address changes when it is dropped out of a chain.
    id: u64,
    node: Weak<N>,
}

/// A table of living nodes. Results of a context lie on its devices, so each context has a table of its own: equal
/// values of two contexts are not one.
pub(crate) struct Interner<N> {
    table: Mutex<HashTable<InternEntry<N>>>,
    /// The reductions that were recorded last.
    reductions: Mutex<VecDeque<Weak<N>>>,
}

impl<N> Default for Interner<N> {
    fn default() -> Interner<N> {
        Interner { table: Mutex::default(), reductions: Mutex::default() }
    }
}

/// A node of a table.
pub(crate) trait Interned {
    /// Its name, never used twice.
    fn id(&self) -> u64;

    /// Whether it is a reduction.
    fn reduces(&self) -> bool;
}

impl<N: Interned> Interner<N> {
    fn table(&self) -> MutexGuard<'_, HashTable<InternEntry<N>>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reductions(&self) -> MutexGuard<'_, VecDeque<Weak<N>>> {
        self.reductions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The living node of this hash that equals a key, or a new one.
    pub fn find_or_insert<K>(
        &self,
        hash: u64,
        key: K,
        is_equal: impl Fn(&N, &K) -> bool,
        make: impl FnOnce(K) -> Arc<N>,
    ) -> Arc<N> {
        // A candidate that turns out to be another node may be its last handle by then.
        let mut others = Vec::new();
        let mut table = self.table();
        let found = table.find(hash, |entry| {
            entry.hash == hash
                && entry.node.upgrade().is_some_and(|node| {
                    let same = is_equal(&node, &key);
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
        let node = make(key);
        let entry = InternEntry { hash, id: node.id(), node: Arc::downgrade(&node) };
        table.insert_unique(hash, entry, |entry| entry.hash);
        drop(table);
        if node.reduces() {
            let mut reductions = self.reductions();
            reductions.truncate(T.reductions_remembered - 1);
            reductions.push_front(Arc::downgrade(&node));
        }
        node
    }

    /// Those of the reductions that were recorded last that are held.
    pub fn reductions_held(&self) -> Vec<Arc<N>> {
        // As in `living_behind`.
        self.reductions().iter().filter_map(Weak::upgrade).collect()
    }

    /// Takes a node that is being dropped out of the table.
    pub fn remove(&self, hash: u64, node: &N) {
        let mut table = self.table();
        if let Ok(entry) = table.find_entry(hash, |e| e.id == node.id()) {
            // The weak handle frees the allocation, which is no node's drop: safe under the lock.
            entry.remove();
        }
    }

    /// True when `node` has so many handles; then the table forgets it, so that there come no more by
    /// it.
    pub fn forget_if_held_by(&self, hash: u64, node: &Arc<N>, handles: usize) -> bool {
        let mut table = self.table();
        if Arc::strong_count(node) != handles {
            return false;
        }
        if let Ok(entry) = table.find_entry(hash, |e| e.id == node.id()) {
            entry.remove();
        }
        true
    }

    /// Inserts a node again that it has forgotten.
    pub fn remember(&self, hash: u64, node: &Arc<N>) {
        let mut table = self.table();
        if table.find(hash, |e| e.id == node.id()).is_none() {
            let entry = InternEntry { hash, id: node.id(), node: Arc::downgrade(node) };
            table.insert_unique(hash, entry, |entry| entry.hash);
        }
    }

    /// The number of living nodes.
    pub fn len(&self) -> usize {
        self.table().len()
    }

    /// The living nodes that are newer than a name: the oldest so many of them, in order, and the name of the last;
    /// none where there are so many nodes that looking at all of them would cost more than it can save.
    pub fn living_behind(&self, id: u64, most: usize) -> (Vec<Arc<N>>, Option<u64>) {
        let table = self.table();
        if table.len() > T.living_looked_at {
            return Default::default();
        }
        let mut newer: Vec<&InternEntry<N>> = table.iter().filter(|e| e.id > id).collect();
        if newer.len() > most {
            newer.select_nth_unstable_by_key(most, |e| e.id);
            newer.truncate(most);
        }
        newer.sort_unstable_by_key(|e| e.id);
        // Handles are sorted out, and dropped, after the lock.
        (newer.iter().filter_map(|e| e.node.upgrade()).collect(), newer.last().map(|e| e.id))
    }
}

#[cfg(test)]
mod tests {
    use crate::array::base::ArrayOrScalar;
    use crate::record::recorder::Recorder;
    use gpupy_core::{Op, Scalar};

    #[test]
    fn a_dropped_chain_leaves_nothing_in_the_table() {
        let recorder = Recorder::default();
        let mut x = recorder.index(&[3, 5, 7, 11], 0).unwrap_or_else(|e| panic!("{e}"));
        for i in 1..=1000 {
            let args = [ArrayOrScalar::Array(&x), ArrayOrScalar::Scalar(Scalar::i32(i))];
            x = recorder.apply(Op::Add, &args).unwrap_or_else(|e| panic!("{e}"));
        }
        assert_eq!(recorder.living(), 1001);
        drop(x);
        assert_eq!(recorder.living(), 0);
    }
}
