//! Values whose host memory may be spilled to the disk, where it is limited.
//!
//! Owns the list of these values, and the record of their spilled elements ([`Spilled`]). Invariants: spilled elements
//! are elements of an immutable value, so they never change; a position that is lost is not spilled any more.
//!
//! Not here: which elements are spilled, and when (`execute/spilling.rs`), the file (`memory/spill_file.rs`).

use super::{Node, Value};
use crate::memory::ranges::Ranges;
use crate::memory::spill_file::SpillSlot;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Which elements of a value are on the disk, and where.
pub(crate) struct Spilled {
    pub slot: SpillSlot,
    pub ranges: Ranges,
}

static PAGED: Mutex<Vec<Weak<Node>>> = Mutex::new(Vec::new());

/// Notes a value whose memory may go.
#[cold]
pub(super) fn note(node: &Arc<Node>) {
    let mut all = PAGED.lock().unwrap_or_else(PoisonError::into_inner);
    if all.len() == all.capacity() {
        all.retain(|node| node.strong_count() > 0);
    }
    all.push(Arc::downgrade(node));
}

/// The living values whose memory may go, the ones that were used longest ago first.
pub(crate) fn living() -> Vec<Value> {
    let all = PAGED.lock().unwrap_or_else(PoisonError::into_inner);
    let mut living: Vec<Value> = all.iter().filter_map(Weak::upgrade).map(Value).collect();
    drop(all);
    living.sort_by_key(|value| value.0.used.load(std::sync::atomic::Ordering::Relaxed));
    living
}
