//! Values whose host memory may be spilled to the disk, where it is limited.
//!
//! Owns the list of these values, and the record of their spilled elements ([`Spilled`]). Invariants: spilled elements
//! are elements of an immutable value, so they never change; a position that is lost is not spilled any more.
//!
//! Not here: which elements are spilled, and when (`execute/spilling.rs`), the file (`memory/spill_file.rs`).

use super::{Node, Value};
use crate::memory::ranges::Ranges;
use crate::memory::spill_file::SpillSlot;
use gpupy_core::Result;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Which elements of a value are on the disk, and where: mostly in one slot. After a fork, what was spilled before
/// stays where it is, and the rest goes to a slot of the process's own.
pub(crate) struct Spilled {
    /// The bytes of all elements, and of one.
    bytes: usize,
    size: usize,
    /// Which positions are in which slot; none is in two.
    slots: Vec<(SpillSlot, Ranges)>,
}

impl Spilled {
    /// Of so many bytes of elements of a size, none so far.
    pub fn new(bytes: usize, size: usize) -> Spilled {
        Spilled { bytes, size, slots: Vec::new() }
    }

    /// The positions of a range that are not there, in order.
    pub fn gaps(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let less = |gaps: Vec<Range<usize>>, (_, ranges): &(SpillSlot, Ranges)| {
            gaps.into_iter().flat_map(|gap| ranges.gaps(gap)).collect()
        };
        self.slots.iter().fold(vec![range], less)
    }

    /// Notes that positions are not there.
    pub fn remove(&mut self, range: Range<usize>) {
        self.slots.iter_mut().for_each(|(_, ranges)| ranges.remove(range.clone()));
    }

    /// Writes elements from a position on, which are not there.
    ///
    /// # Errors
    /// - `File`: there is no file, or the disk is full, or fails.
    pub fn write(&mut self, first: usize, from: &[u8]) -> Result<()> {
        if !self.slots.last().is_some_and(|(slot, _)| slot.is_ours()) {
            self.slots.push((SpillSlot::new(self.bytes)?, Ranges::default()));
        }
        if let Some((slot, ranges)) = self.slots.last_mut() {
            slot.write(first * self.size, from)?;
            ranges.insert(first..first + from.len() / self.size);
        }
        Ok(())
    }

    /// Reads the elements from a position on, which are there.
    ///
    /// # Errors
    /// - `File`: the disk fails.
    pub fn read(&self, first: usize, into: &mut [u8]) -> Result<()> {
        let range = first..first + into.len() / self.size;
        for (slot, ranges) in &self.slots {
            for part in ranges.within(range.clone()).iter() {
                let bytes = (part.start - first) * self.size..(part.end - first) * self.size;
                slot.read(part.start * self.size, &mut into[bytes])?;
            }
        }
        Ok(())
    }
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
