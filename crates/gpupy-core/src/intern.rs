//! The table of living expressions, so that equal ones are one value.
//!
//! Owns the process-wide table. It holds expressions weakly: a value leaves the table when its last
//! owner drops it. Invariants: at most one living value for an expression; no lock of a value is
//! taken under the table's lock; nothing is dropped under it.
//!
//! Not here: what makes operands equal in order (`value.rs`).

use crate::dtype::DType;
use crate::value::{Kind, Node};
use crate::view::Shape;
use hashbrown::HashTable;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

struct Entry {
    hash: u64,
    node: Weak<Node>,
}

static TABLE: LazyLock<Mutex<HashTable<Entry>>> = LazyLock::new(Mutex::default);

fn table() -> MutexGuard<'static, HashTable<Entry>> {
    TABLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The living node with this dtype, shape and kind, or a new one.
pub(crate) fn find_or_insert(
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
    let mut table = table();
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
    let entry = Entry { hash, node: Arc::downgrade(&node) };
    table.insert_unique(hash, entry, |entry| entry.hash);
    drop(table);
    node
}

/// Takes a node that is being dropped out of the table.
pub(crate) fn remove(hash: u64, node: &Node) {
    let mut table = table();
    if let Ok(entry) = table.find_entry(hash, |e| std::ptr::eq(e.node.as_ptr(), node)) {
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
    if let Ok(entry) = table.find_entry(hash, |e| std::ptr::eq(e.node.as_ptr(), &**node)) {
        entry.remove();
    }
    true
}
