//! The table of living expressions, so that equal ones are one value.
//!
//! Owns the process-wide table. It holds expressions weakly: a value leaves the table when its last
//! owner drops it. Invariants: at most one living value for an expression; no lock of a value is
//! taken under the table's lock; nothing is dropped under it.
//!
//! Not here: what makes operands equal in order (`value.rs`).

use crate::dtype::DType;
use crate::value::{Home, Kind, Node, Value, ValueId};
use crate::view::Shape;
use hashbrown::HashTable;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

struct Entry {
    hash: u64,
    /// The node's name; its address changes when it is dropped out of a chain.
    id: ValueId,
    node: Weak<Node>,
}

static TABLE: LazyLock<Mutex<HashTable<Entry>>> = LazyLock::new(Mutex::default);

fn table() -> MutexGuard<'static, HashTable<Entry>> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The living node with this dtype, shape and kind, or a new one.
pub(crate) fn find_or_insert(
    home: Home,
    dtype: DType,
    shape: Shape,
    kind: Kind,
    make: impl FnOnce(Shape, Kind, Option<u64>) -> Arc<Node>,
) -> Arc<Node> {
    let mut hasher = FxHasher::default();
    (home, dtype, &kind, &shape).hash(&mut hasher);
    let hash = hasher.finish();
    // A candidate that turns out to be another expression may be its last handle by then.
    let mut others = Vec::new();
    let mut table = table();
    let found = table.find(hash, |entry| {
        entry.hash == hash
            && entry.node.upgrade().is_some_and(|node| {
                let same = node.home == home
                    && node.dtype == dtype
                    && node.shape == shape
                    && node.kind == kind;
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
    node
}

/// Takes a node that is being dropped out of the table.
pub(crate) fn remove(hash: u64, node: &Node) {
    let mut table = table();
    if let Ok(entry) = table.find_entry(hash, |e| e.id == node.id) {
        // The weak handle frees the allocation, which is no value's drop: safe under the lock.
        entry.remove();
    }
}

/// True when `node` has one owner; then the table forgets it, so that it stays so.
pub(crate) fn forget_if_sole(hash: u64, node: &Arc<Node>) -> bool {
    let mut table = table();
    if Arc::strong_count(node) != 1 {
        return false;
    }
    if let Ok(entry) = table.find_entry(hash, |e| e.id == node.id) {
        entry.remove();
    }
    true
}

/// The living expressions of a context that are not computed, unless the table is so large that
/// looking at all of them would cost more than it can save.
pub(crate) fn pending(home: Home) -> Vec<Value> {
    /// Looking at an entry takes some ten nanoseconds, a launch some ten microseconds.
    const MANY: usize = 4096;
    let table = table();
    if table.len() > MANY {
        return Vec::new();
    }
    // Handles are sorted out, and dropped, after the lock.
    let living: Vec<Value> = table.iter().filter_map(|e| e.node.upgrade()).map(Value).collect();
    drop(table);
    living.into_iter().filter(|value| value.0.home == home && !value.is_computed()).collect()
}

/// The number of living expressions, for tests that none stays behind.
#[cfg(test)]
pub(crate) fn count() -> usize {
    table().len()
}

#[cfg(test)]
mod tests {
    use crate::record::Recorder;
    use crate::{Arg, Op, Scalar};

    #[test]
    fn a_dropped_chain_leaves_nothing_in_the_table() {
        let before = super::count();
        let recorder = Recorder::new();
        let mut x = recorder.index(&[3, 5, 7, 11], 0).unwrap_or_else(|e| panic!("{e}"));
        for i in 0..1000 {
            let args = [Arg::Array(&x), Arg::Scalar(Scalar::i32(i))];
            x = recorder.apply(Op::Add, &args).unwrap_or_else(|e| panic!("{e}"));
        }
        assert!(super::count() >= before + 1000);
        drop(x);
        // Other tests of this process record at the same time, but none of them thousands.
        assert!(super::count() < before + 500);
    }
}
