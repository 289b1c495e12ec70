//! Blocks of a device that are kept while their elements are written one by one in host memory.
//!
//! Owns [`SetAside`]: a value that has the blocks and nothing else, and which positions were written since. When an
//! expression needs the elements, these become a value, which takes over the blocks at the engine's next use
//! (`context/mod.rs`); so a device is sent what was written alone. Invariant: all writes since are noted, or the blocks
//! are let go of.
//!
//! Not here: when elements come to host memory (`context/host_promotion.rs`), stale elements of blocks
//! (`blocks/cache/stale.rs`).

use super::{Node, Value};
use crate::memory::ranges::Ranges;
use crate::thresholds::T;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The value that has the blocks, and the positions that were written since.
pub(crate) struct SetAside {
    blocks: Value,
    written: Ranges,
    notes: usize,
}

/// A value takes over the blocks of another one, from which it differs at these positions.
pub(crate) type Heir = (Value, Weak<Node>, Ranges);

/// Those that were not told to the engine yet.
static HEIRS: Mutex<Vec<Heir>> = Mutex::new(Vec::new());
static ARE_THERE: AtomicBool = AtomicBool::new(false);

impl SetAside {
    /// The blocks of a value; nothing was written yet.
    pub fn new(blocks: Value) -> SetAside {
        SetAside { blocks, written: Ranges::default(), notes: 0 }
    }

    /// Notes written positions.
    pub fn note(&mut self, written: &Ranges) {
        written.iter().for_each(|range| self.written.insert(range));
        self.notes += 1;
        // So that a set of many little ranges is not searched at each write.
        if self.notes.is_multiple_of(T.noted_writes) {
            self.written = std::mem::take(&mut self.written).coarse(T.sent_ranges);
        }
    }

    /// Leaves the blocks to a value with the elements of now.
    pub fn leave_to(self, heir: &Value) {
        let mut heirs = HEIRS.lock().unwrap_or_else(PoisonError::into_inner);
        heirs.push((self.blocks, Arc::downgrade(&heir.0), self.written));
        ARE_THERE.store(true, Ordering::Release);
    }
}

/// The values that take over blocks and were not asked for yet, with the one that has these.
pub(crate) fn heirs() -> Vec<(Value, Value, Ranges)> {
    if !ARE_THERE.swap(false, Ordering::Acquire) {
        return Vec::new();
    }
    let heirs = std::mem::take(&mut *HEIRS.lock().unwrap_or_else(PoisonError::into_inner));
    let living = heirs.into_iter().filter_map(|(blocks, heir, written)| {
        Some((blocks, Value(heir.upgrade()?), written.coarse(T.sent_ranges)))
    });
    living.collect()
}
