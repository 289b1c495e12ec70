//! Eviction: how a block leaves the device, and comes back.
//!
//! Owns the record of evicted blocks. Invariant: elements that are nowhere else are copied to host memory before their
//! block is freed.
//!
//! Not here: which block is evicted (`eviction_queue.rs`), where a block is stored that is loaded (`mod.rs`),
//! what follows where nothing is left to evict (`shortage.rs`).

use super::eviction_queue::EvictionQueue;
use super::{BlockCache, BlockKey, BlockPart};
use crate::blocks::reuse_interval::ReuseInterval;
use crate::explain::stats::Stats;
use crate::explain::step::StepAction;
use crate::explain::tracer::Doing;
use crate::graph::value::{Value, ValueId};
use crate::thresholds::T;
use gpupy_core::memory;
use gpupy_core::{Error, ErrorKind, Result};
use smallvec::SmallVec;

impl BlockCache {
    /// Gives the driver room: all that is pooled, or else one block's. False when there is nothing.
    pub fn make_room(&mut self, stats: &mut Stats) -> Result<bool> {
        if self.pool.len() > 0 {
            self.empty_pool();
            return Ok(true);
        }
        self.evict_one(stats)
    }

    /// Reacts to a failed allocation: frees memory of the driver, or host memory that is free or can be copied again.
    /// False when there is none.
    ///
    /// # Errors
    /// As of saving a block that is evicted.
    pub fn relieve(&mut self, error: &Error, stats: &mut Stats) -> Result<bool> {
        match memory::is_refusal(error) {
            true => Ok(self.give_back()),
            false => self.make_room(stats),
        }
    }

    /// Frees the blocks that are not needed, and those that can be copied again. False when there are none.
    pub fn give_back(&mut self) -> bool {
        let before = self.blocks.len();
        self.sweep();
        self.discard_copies();
        let less = self.pool.len() > 0 || self.blocks.len() < before;
        self.empty_pool();
        less
    }

    /// Takes the block that is expected back last, and is not pinned, from the device. False when
    /// there is none.
    pub(super) fn evict_one(&mut self, stats: &mut Stats) -> Result<bool> {
        /// Blocks that cannot be read and are evicted in one evaluation before it fails.
        const MOST_SPOILED: usize = 64;
        let Some(key) = self.victim() else {
            return Ok(false);
        };
        match self.save(&key, stats) {
            // A block that cannot be read is discarded, as nothing has asked for it. But on a device that spoils
            // everything, wanted values would be computed and discarded for ever.
            Err(error) if error.kind() == ErrorKind::Poisoned => {
                self.discard(&key);
                self.spoiled += 1;
                return if self.spoiled <= MOST_SPOILED { Ok(true) } else { Err(error) };
            }
            other => other?,
        }
        if let Some(entry) = self.blocks.get(&key)
            && let Some(node) = entry.value.upgrade()
        {
            let reuse = entry.reuse;
            self.tracer.step(|| {
                let value = Value(node);
                let range = self.reach_of(&value, &key.1);
                Doing::new(StepAction::Evict, self.name).reads(&value, range).moves(0)
            });
            self.remember(&key, reuse);
        }
        self.forget(&key);
        stats.evictions += 1;
        Ok(true)
    }

    /// The block that is expected back last, and is not pinned.
    fn victim(&mut self) -> Option<BlockKey> {
        let BlockCache { blocks, victims, clock, .. } = self;
        let known = || blocks.iter().map(|(key, entry)| (key.clone(), entry.reuse));
        let victims = victims.get_or_insert_with(|| EvictionQueue::new(known()));
        let is_free = |key: &BlockKey| blocks.get(key).is_some_and(|entry| entry.pins == 0);
        victims.first(*clock, is_free).cloned()
    }

    /// Notes a change of a block's reuse interval.
    pub(super) fn moved(&mut self, before: ReuseInterval, after: ReuseInterval) {
        if let Some(victims) = &mut self.victims
            && !victims.used(before, after)
        {
            self.victims = None;
        }
    }

    /// Keeps the reuse interval of a block that is evicted, for when it comes back.
    fn remember(&mut self, key: &BlockKey, reuse: ReuseInterval) {
        if self.evicted.len() > T.reuses_remembered * (self.blocks.len() + T.reuses_remembered) {
            self.evicted.clear();
        }
        self.evicted.entry(key.0).or_default().insert(key.1.clone(), reuse);
    }

    /// The reuse interval of a block that comes to the device.
    pub(super) fn reuse(&mut self, key: &BlockKey) -> ReuseInterval {
        self.clock += 1;
        let near = self.blocks.len() as u64;
        let Some(parts) = self.evicted.get_mut(&key.0) else {
            return ReuseInterval::new(self.clock);
        };
        let Some(mut reuse) = parts.remove(&key.1) else { return ReuseInterval::new(self.clock) };
        if parts.is_empty() {
            self.evicted.remove(&key.0);
        }
        reuse.used(self.clock, near);
        reuse
    }

    /// Tells a new block from which ones it was computed.
    pub fn follow(&mut self, value: ValueId, part: &BlockPart, operands: &[(ValueId, BlockPart)]) {
        let intervals: SmallVec<[ReuseInterval; 8]> =
            operands.iter().filter_map(|key| Some(self.blocks.get(key)?.reuse)).collect();
        if let Some(entry) = self.blocks.get_mut(&(value, part.clone())) {
            let before = entry.reuse;
            intervals.into_iter().for_each(|operand| entry.reuse.follow(operand));
            let after = entry.reuse;
            self.moved(before, after);
        }
    }

    /// Copies the elements of a tile that are nowhere else to host memory.
    pub fn save(&mut self, key: &BlockKey, stats: &mut Stats) -> Result<()> {
        let Some(entry) = self.blocks.get(key) else {
            return Ok(());
        };
        let Some(node) = entry.value.upgrade() else {
            return Ok(());
        };
        let (value, first, block) = (Value(node), entry.range.start, entry.block);
        for gap in value.only_on_device(&entry.range.clone()) {
            let bytes = gap.len() * value.dtype().size();
            let began = self.tracer.clock();
            value.write_host(gap.clone(), |into| self.read(key, block, gap.start - first, into))?;
            stats.bytes_downloaded += bytes as u64;
            self.tracer.step(|| {
                let doing = Doing::new(StepAction::Download, self.name).reads(&value, gap.clone());
                doing.moves(bytes).since(began)
            });
        }
        Ok(())
    }

    /// Copies elements that are nowhere else to host memory, and frees all blocks. Elements that cannot be copied have
    /// to be computed again.
    pub fn save_all(&mut self, stats: &mut Stats) {
        let keys: Vec<BlockKey> = self.blocks.keys().cloned().collect();
        for key in keys {
            // A block whose save fails here is found unsaved below.
            let _ = self.save(&key, stats);
        }
        self.lose_all();
    }
}
