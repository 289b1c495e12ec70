//! Shortage: what is known of a device that had no room for a launch, and for how long.
//!
//! Owns [`Shortage`]: the room that a launch did not find, and the length of tiles. A kernel that reads more than there
//! is room for is cut so that it reads less (`schedule/kernels/room.rs`); where that is no help, values are cut into
//! smaller tiles. Neither is for ever, as the next program may need less. To find out costs what a failure cost: the
//! blocks that left the device. So an evaluation begins with what the device had at first once launches have gone over
//! many times as many bytes since (ski rental, as in `walk/rematerialisation.rs`): a program that fails again and again
//! loses a small part of its time. Invariants: a tile on the device is one of its value's as that is cut now; what is
//! known changes in the middle of an evaluation for less room alone.
//!
//! Not here: which block leaves the device (`eviction.rs`), what a failed step does next (`execute/evaluate.rs`).

use super::{BlockCache, BlockKey, BlockPart};
use crate::blocks::streams;
use crate::explain::stats::Stats;
use crate::graph::value::Value;
use crate::thresholds::T;
use gpupy_core::Result;
use gpupy_core::driver::BlockSpec;
use gpupy_core::ir::REDUCE_CHUNK;

/// What a device lacked.
#[derive(Default)]
pub(super) struct Shortage {
    /// So many bytes, of one launch, found no room when all else had left the device.
    room: Option<u64>,
    /// The elements of the largest block among those that found none since values were last cut smaller.
    block: usize,
    /// The bytes that left the device, or came for nothing, as a launch found none.
    lost: u64,
    /// The bytes that launches went over since the last time.
    gone_over: u64,
}

impl BlockCache {
    /// Has the driver let go of what it keeps of its own, once memory was trimmed (`gpupy_core::memory::trims`): it
    /// looks when a block is freed.
    pub fn trim_driver(&mut self) {
        let Some(dtype) = self.caps.dtypes.first() else { return };
        // A driver without room for one element has nothing that it keeps.
        if let Ok(block) = self.driver.block_alloc(BlockSpec::new(*dtype, 1)) {
            self.driver.block_free(block);
        }
    }

    /// The bytes of the smallest launch that found no room, if there was one: one of as many would find none.
    pub fn lacked(&self) -> Option<u64> {
        self.shortage.room
    }

    /// Notes that a block found no room although nothing is left to evict.
    pub(super) fn note_lack(&mut self, spec: BlockSpec) {
        let held = self.bytes();
        let room = held.saturating_add(spec.bytes());
        let shortage = &mut self.shortage;
        shortage.block = shortage.block.max(spec.len);
        shortage.room = Some(shortage.room.map_or(room, |known| known.min(room)));
        shortage.lost = shortage.lost.saturating_add(held);
        shortage.gone_over = 0;
    }

    /// Notes that a launch went over so many bytes.
    pub fn went_over(&mut self, bytes: u64) {
        self.shortage.gone_over = self.shortage.gone_over.saturating_add(bytes);
    }

    /// Whether launches count, as there was a lack of room.
    pub fn was_short(&self) -> bool {
        self.shortage.lost > 0
    }

    /// The bytes of the blocks that hold something.
    pub(super) fn bytes(&self) -> u64 {
        self.blocks.values().map(|entry| entry.spec.bytes()).sum()
    }

    /// Saves and frees everything, and cuts values from now on into tiles of half the largest block
    /// that was there, found no room or is `wanted`. False when tiles are as small as they get.
    pub fn cut_smaller(&mut self, wanted: usize, stats: &mut Stats) -> Result<bool> {
        let here = self.blocks.values().map(|entry| entry.spec.len);
        let wanted = wanted.max(std::mem::take(&mut self.shortage.block));
        let largest = here.fold(wanted, usize::max).min(self.tile_len);
        if largest <= REDUCE_CHUNK {
            return Ok(false);
        }
        let held = self.bytes();
        while self.evict_one(stats)? {}
        self.empty_pool();
        if self.blocks.is_empty() {
            self.tile_len = largest.div_ceil(2).max(REDUCE_CHUNK);
            stats.smaller_cuts += 1;
            // Without anything there, the launch itself found no room.
            self.shortage.lost = self.shortage.lost.saturating_add(held.max(1));
            self.shortage.gone_over = 0;
        }
        Ok(self.blocks.is_empty())
    }

    /// Begins an evaluation as if there had been no lack of room, if it is long ago.
    pub fn try_more_room(&mut self, stats: &mut Stats) {
        let Shortage { lost, gone_over, .. } = self.shortage;
        if lost == 0 || gone_over < lost.saturating_mul(T.shortages_repaid) {
            return;
        }
        if self.tile_len < self.most_len && !self.free_cut_tiles(stats) {
            // Once more when as much was done again.
            self.shortage.gone_over = 0;
            return;
        }
        self.tile_len = self.most_len;
        self.shortage = Shortage::default();
    }

    /// Saves and frees the tiles that are others when values are cut as at first; false where one has to stay.
    fn free_cut_tiles(&mut self, stats: &mut Stats) -> bool {
        self.sweep();
        let (now, first) = (self.tile_len, self.most_len);
        let is_cut = |value: &Value| {
            let most = streams::most_of_tile(value);
            value.len() > now && most.min(now) != most.min(first)
        };
        let all = self.blocks.iter().filter(|((_, part), entry)| {
            let value = entry.value.upgrade().map(Value);
            matches!(part, BlockPart::Tile(_)) && value.as_ref().is_none_or(is_cut)
        });
        let is_free = all.clone().all(|(_, entry)| entry.pins == 0);
        let keys: Vec<BlockKey> = all.map(|(key, _)| key.clone()).collect();
        if !is_free || keys.iter().any(|key| self.save(key, stats).is_err()) {
            return false;
        }
        keys.iter().for_each(|key| self.forget(key));
        self.evicted.clear();
        true
    }
}
