//! Eviction: how a block leaves the device, and comes back.
//!
//! Owns what is remembered of the blocks that went. Invariant: what is nowhere else is in host memory before its
//! block is freed.
//!
//! Not here: which block goes (`victims.rs`), where a block goes that comes (`mod.rs`).

use super::victims::Victims;
use super::{Blocks, Key, Part};
use crate::blocks::rhythm::Rhythm;
use crate::explain::stats::Stats;
use crate::explain::step::What;
use crate::explain::tracer::Doing;
use crate::graph::value::{Value, ValueId};
use crate::thresholds::T;
use gpupy_core::ir::REDUCE_CHUNK;
use gpupy_core::memory;
use gpupy_core::{Error, ErrorKind, Result};
use smallvec::SmallVec;

impl Blocks {
    /// Gives the driver room: all that is pooled, or else one block's. False when there is nothing.
    pub fn make_room(&mut self, stats: &mut Stats) -> Result<bool> {
        if self.pool.len() > 0 {
            self.empty_pool();
            return Ok(true);
        }
        self.evict_one(stats)
    }

    /// Does what there is to do about memory that was not to be had: gives the driver room, or the system what
    /// is free or can be copied again. False when there is nothing.
    ///
    /// # Errors
    /// As of saving a block that is evicted.
    pub fn relieve(&mut self, error: &Error, stats: &mut Stats) -> Result<bool> {
        match memory::is_refusal(error) {
            true => Ok(self.give_back()),
            false => self.make_room(stats),
        }
    }

    /// Frees the blocks that nobody needs, and those that can be copied again. False when there are none.
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
    fn evict_one(&mut self, stats: &mut Stats) -> Result<bool> {
        /// Blocks that cannot be read and are evicted in one evaluation before it fails.
        const MOST_SPOILED: usize = 64;
        let Some(key) = self.victim() else {
            return Ok(false);
        };
        match self.save(&key, stats) {
            // Nobody has asked for what cannot be read. But on a device that spoils everything, what
            // is wanted would be computed and discarded for ever.
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
            let rhythm = entry.rhythm;
            self.tracer.step(|| {
                let value = Value(node);
                let range = self.reach_of(&value, &key.1);
                Doing::new(What::Evict, self.name).reads(&value, range).moves(0)
            });
            self.remember(&key, rhythm);
        }
        self.forget(&key);
        stats.evictions += 1;
        Ok(true)
    }

    /// The block that is expected back last, and is not pinned.
    fn victim(&mut self) -> Option<Key> {
        let Blocks { blocks, victims, clock, .. } = self;
        let known = || blocks.iter().map(|(key, entry)| (key.clone(), entry.rhythm));
        let victims = victims.get_or_insert_with(|| Victims::new(known()));
        let is_free = |key: &Key| blocks.get(key).is_some_and(|entry| entry.pins == 0);
        victims.first(*clock, is_free).cloned()
    }

    /// Notes a change of a block's rhythm.
    pub(super) fn moved(&mut self, before: Rhythm, after: Rhythm) {
        if let Some(victims) = &mut self.victims
            && !victims.used(before, after)
        {
            self.victims = None;
        }
    }

    /// Saves and frees everything, and cuts values from now on into tiles of half the largest block
    /// that was there or is `wanted`. False when tiles are as small as they get.
    pub fn cut_smaller(&mut self, wanted: usize, stats: &mut Stats) -> Result<bool> {
        let here = self.blocks.values().map(|entry| entry.spec.len);
        let largest = here.fold(wanted, usize::max).min(self.tile_len);
        if largest <= REDUCE_CHUNK {
            return Ok(false);
        }
        while self.evict_one(stats)? {}
        self.empty_pool();
        if self.blocks.is_empty() {
            self.tile_len = largest.div_ceil(2).max(REDUCE_CHUNK);
            stats.smaller_cuts += 1;
        }
        Ok(self.blocks.is_empty())
    }

    /// Keeps the rhythm of a block that is evicted, for when it comes back.
    fn remember(&mut self, key: &Key, rhythm: Rhythm) {
        if self.evicted.len() > T.rhythms_remembered * (self.blocks.len() + T.rhythms_remembered) {
            self.evicted.clear();
        }
        self.evicted.entry(key.0).or_default().insert(key.1.clone(), rhythm);
    }

    /// The rhythm of a block that comes to the device.
    pub(super) fn rhythm(&mut self, key: &Key) -> Rhythm {
        self.clock += 1;
        let near = self.blocks.len() as u64;
        let Some(parts) = self.evicted.get_mut(&key.0) else { return Rhythm::new(self.clock) };
        let Some(mut rhythm) = parts.remove(&key.1) else { return Rhythm::new(self.clock) };
        if parts.is_empty() {
            self.evicted.remove(&key.0);
        }
        rhythm.used(self.clock, near);
        rhythm
    }

    /// Tells a new block from which ones it was computed.
    pub fn follow(&mut self, value: ValueId, part: &Part, operands: &[(ValueId, Part)]) {
        let rhythms: SmallVec<[Rhythm; 8]> =
            operands.iter().filter_map(|key| Some(self.blocks.get(key)?.rhythm)).collect();
        if let Some(entry) = self.blocks.get_mut(&(value, part.clone())) {
            let before = entry.rhythm;
            rhythms.into_iter().for_each(|operand| entry.rhythm.follow(operand));
            let after = entry.rhythm;
            self.moved(before, after);
        }
    }

    /// Copies a tile to host memory unless it is there already.
    pub fn save(&mut self, key: &Key, stats: &mut Stats) -> Result<()> {
        let Some(entry) = self.blocks.get(key) else {
            return Ok(());
        };
        let Some(node) = entry.value.upgrade() else {
            return Ok(());
        };
        let (value, range, block) = (Value(node), entry.range.clone(), entry.block);
        if range.is_empty() || value.only_on_device(&range).is_empty() {
            return Ok(());
        }
        let size = value.dtype().size();
        let buffer = value.host_buffer()?;
        let bytes = range.start * size..range.end * size;
        stats.bytes_downloaded += bytes.len() as u64;
        let began = self.tracer.clock();
        // SAFETY: the range is not in the evaluated map, so nobody reads it; only the holder of the
        // engine's lock writes.
        self.read(key, block, 0, unsafe { buffer.bytes_mut(bytes) })?;
        self.tracer.step(|| {
            let doing = Doing::new(What::Download, self.name).reads(&value, range.clone());
            doing.moves(range.len() * size).since(began)
        });
        value.state().on_host.insert(range);
        Ok(())
    }

    /// Copies to host memory what is nowhere else, and frees all blocks. What cannot be copied has
    /// to be computed again.
    pub fn save_all(&mut self, stats: &mut Stats) {
        let keys: Vec<Key> = self.blocks.keys().cloned().collect();
        for key in keys {
            // What fails here is found unsaved below.
            let _ = self.save(&key, stats);
        }
        self.lose_all();
    }
}
