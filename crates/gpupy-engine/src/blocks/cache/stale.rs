//! Stale blocks: blocks that stay valid when their value is written in host memory, as only the written elements are
//! sent.
//!
//! Owns the set of *stale* elements of a block: those that differ in host memory by now. A value that is another one
//! with some elements replaced takes over that value's blocks; before a kernel reads such a block, the stale elements
//! are written. Invariants: stale elements are in their value's host memory or on the disk; no kernel reads a stale
//! element, and no transfer brings one to host memory.
//!
//! Not here: replacing elements in host memory (`execute/host_ops/host_scatter.rs`, `execute/host_ops/host_assign.rs`),
//! writes by a device into its own blocks (`hand_over` in `mod.rs`).

use super::{BlockCache, BlockKey, BlockPart};
use crate::explain::stats::Stats;
use crate::explain::step::StepAction;
use crate::explain::tracer::Doing;
use crate::graph::value::{Value, ValueId};
use crate::memory::ranges::Ranges;
use gpupy_core::Result;

impl BlockCache {
    /// Gives the tiles of a value without further uses to another one of its kind, which is in host memory and differs
    /// at most at these positions. Tiles that the other value has, imported ones, and those that the other value does
    /// not have because it is cut otherwise, stay.
    pub fn inherit(&mut self, from: ValueId, to: &Value, written: &Ranges) {
        for (number, range) in self.tiles(from) {
            let part = BlockPart::Tile(number);
            let (old, new) = ((from, part.clone()), (to.id(), part));
            let is_own = |key: &BlockKey| {
                self.blocks.get(key).is_some_and(|entry| {
                    entry.pins == 0 && entry.imported.is_none() && entry.spec.memory.is_none()
                })
            };
            let is_here = self.blocks.contains_key(&new);
            if is_here || !is_own(&old) || !self.is_tile_of(to, number, &range) {
                continue;
            }
            let Some(mut entry) = self.take_out(&old) else { continue };
            written.within(range).iter().for_each(|range| entry.stale.insert(range));
            self.put(to, new, entry);
        }
    }

    /// The stale elements in a block of a value.
    pub fn stale(&self, value: &Value, part: &BlockPart) -> Ranges {
        let entry = self.blocks.get(&(value.id(), part.clone()));
        entry.map_or_else(Ranges::default, |entry| entry.stale.clone())
    }

    /// Writes the stale elements of a block of a value, which are in host memory.
    ///
    /// # Errors
    /// Any error of the driver; the elements stay stale.
    pub fn refresh(&mut self, value: &Value, part: &BlockPart, stats: &mut Stats) -> Result<()> {
        let key = (value.id(), part.clone());
        let Some(entry) = self.blocks.get(&key).filter(|entry| !entry.stale.is_empty()) else {
            return Ok(());
        };
        let (block, first, stale) = (entry.block, entry.range.start, entry.stale.clone());
        let (buffer, size) = (value.host_buffer()?, value.dtype().size());
        for range in stale.iter() {
            let began = self.tracer.clock();
            // SAFETY: the range is in the evaluated map, whose elements are not written.
            let data = unsafe { buffer.bytes(range.start * size..range.end * size) };
            self.driver.block_write(block, range.start - first, data)?;
            stats.bytes_uploaded += data.len() as u64;
            stats.extents_uploaded += 1;
            self.tracer.step(|| {
                let what = StepAction::Upload { gathered: false };
                Doing::new(what, self.name)
                    .reads(value, range.clone())
                    .moves(data.len())
                    .since(began)
            });
        }
        self.blocks.entry(key).and_modify(|entry| entry.stale = Ranges::default());
        Ok(())
    }

    /// The positions of a computed value that the device has as they are now.
    pub fn current(&self, value: &Value) -> Ranges {
        if self.caps.host_memory {
            return value.state().on_host.clone();
        }
        let mut current = Ranges::default();
        for (number, range) in self.tiles(value.id()) {
            let Some(entry) = self.blocks.get(&(value.id(), BlockPart::Tile(number))) else {
                continue;
            };
            entry.stale.gaps(range).into_iter().for_each(|fresh| current.insert(fresh));
        }
        current
    }
}
