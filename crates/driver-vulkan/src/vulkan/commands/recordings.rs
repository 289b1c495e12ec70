//! Recordings: the commands of sequences that came before.
//!
//! Owns [`Recordings`], by the names of sequences. Invariants: a recording is submitted only while all that it names
//! lives; its kernels' arguments stay as long as it does.
//!
//! Not here: recording and submitting them (`recorded_sequence.rs`).

use super::launch_arguments::ArgumentBuffer;
use super::queue::{Queue, Retired, Touch, touches};
use ash::vk;
use gpupy_core::driver::{BlockId, Launch};
use gpupy_core::ir::Fingerprint;
use lru::LruCache;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Sequences that are kept.
const KEPT_SEQUENCES: NonZeroUsize = NonZeroUsize::MIN.saturating_add(127);

/// Recordings of each: a loop's blocks take turns.
pub const KEPT_RECORDINGS: usize = 4;

/// A sequence of which that many recordings were made in vain is recorded again when it has come so often since.
const TRIED_AGAIN: usize = 128;

/// The sequences that came, with their recordings.
pub struct Recordings(pub LruCache<Fingerprint, KnownSequence, FxBuildHasher>);

impl Default for Recordings {
    fn default() -> Recordings {
        Recordings(LruCache::with_hasher(KEPT_SEQUENCES, FxBuildHasher))
    }
}

/// A sequence that came.
pub struct KnownSequence {
    /// Its blocks, each once: the launch and the place among its blocks where each stands; and whether it is written.
    pub blocks: Vec<(usize, usize, Touch)>,
    /// Oldest first.
    pub recordings: Vec<Recording>,
    pub in_vain: usize,
}

/// Commands of a sequence with these blocks and scalars.
pub struct Recording {
    pub commands: vk::CommandBuffer,
    pub buffers: Vec<vk::Buffer>,
    pub params: Vec<u64>,
    pub arguments: ArgumentBuffer,
    /// How many pipelines were retired before it was made.
    pub pipelines: u64,
    pub launches: u32,
    pub work: u64,
    pub code: Option<Arc<str>>,
}

impl KnownSequence {
    /// One that comes for the first time.
    pub fn of(launch: &Launch<'_>) -> KnownSequence {
        let mut places: FxHashMap<BlockId, usize> = FxHashMap::default();
        let mut blocks: Vec<(usize, usize, Touch)> = Vec::new();
        for (number, launch) in launch.all().enumerate() {
            for (place, (block, touch)) in touches(launch).enumerate() {
                let at = *places.entry(block).or_insert(blocks.len());
                match blocks.get_mut(at) {
                    Some(known) if touch == Touch::Write => known.2 = touch,
                    Some(_) => {}
                    None => blocks.push((number, place, touch)),
                }
            }
        }
        KnownSequence { blocks, recordings: Vec::new(), in_vain: 0 }
    }

    /// Whether recording it may pay: not, for a while, if its blocks or scalars were others each time.
    pub fn is_worth_it(&self) -> bool {
        self.in_vain % TRIED_AGAIN < 2 * KEPT_RECORDINGS
    }

    /// The blocks of such a sequence.
    pub fn blocks<'a>(
        &'a self,
        launches: &'a [&Launch<'_>],
    ) -> impl Iterator<Item = (BlockId, Touch)> {
        self.blocks.iter().filter_map(|(number, place, touch)| {
            let launch = launches.get(*number)?;
            let dest = || launch.dests.get(place - launch.operands.len()).map(|dest| dest.block);
            Some((launch.operands.get(*place).copied().or_else(dest)?, *touch))
        })
    }
}

impl Recording {
    /// Frees it once the device has finished with it.
    pub fn retire(self, queue: &mut Queue) {
        queue.retire(Retired::Commands(self.commands));
        for buffer in self.arguments.into_buffers() {
            queue.retire(Retired::Buffer(buffer));
        }
    }
}

impl Recordings {
    /// Frees the recordings that name a buffer.
    pub fn forget(&mut self, of: vk::Buffer, queue: &mut Queue) {
        for (_, sequence) in &mut self.0 {
            let old = sequence.recordings.extract_if(.., |kept| kept.buffers.contains(&of));
            old.for_each(|old| old.retire(queue));
        }
    }

    /// Frees all recordings.
    pub fn close(&mut self, queue: &mut Queue) {
        while let Some((_, sequence)) = self.0.pop_lru() {
            sequence.recordings.into_iter().for_each(|old| old.retire(queue));
        }
    }
}
