//! Sequences of launches: a command buffer that is recorded once, and submitted again.
//!
//! Owns the evaluation of sequences, and [`Recordings`]. A sequence is recorded among other commands when it comes for
//! the first time, and by itself from the second time on. Where its blocks and scalars are those of a recording, that
//! is submitted as it is: nothing is planned, and no launch is looked at. Invariants: a recording is submitted only
//! while all that it names lives; its kernels' arguments stay as long as it does.
//!
//! Not here: one launch (`eval.rs`), submission (`commands/queue.rs`).

use super::commands::launch_arguments::ArgumentBuffer;
use super::commands::queue::{Retired, Touch};
use super::open::OpenDriver;
use ash::vk;
use gpupy_core::Result;
use gpupy_core::driver::{BlockId, Evaluated, Launch, Sequence};
use gpupy_core::ir::Fingerprint;
use lru::LruCache;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// The most sequences that are known.
const MOST_SEQUENCES: NonZeroUsize = NonZeroUsize::MIN.saturating_add(127);

/// The most recordings of one: a loop's blocks take turns.
const MOST_RECORDINGS: usize = 4;

/// The most recordings of a sequence that are made one after another without that one is submitted again.
const MOST_IN_VAIN: usize = 2 * MOST_RECORDINGS;

/// It is tried again when it has come so often since.
const TRIED_AGAIN: usize = 128;

/// The sequences that came, with their recordings.
pub struct Recordings(LruCache<Fingerprint, KnownSequence, FxBuildHasher>);

impl Default for Recordings {
    fn default() -> Recordings {
        Recordings(LruCache::with_hasher(MOST_SEQUENCES, FxBuildHasher))
    }
}

/// A sequence that came.
struct KnownSequence {
    /// Its blocks, each once: the launch and the place among its blocks where each stands; and whether it is written.
    blocks: Vec<(usize, usize, Touch)>,
    /// Oldest first.
    recordings: Vec<Recording>,
    in_vain: usize,
}

/// Commands of a sequence with these blocks and scalars.
struct Recording {
    commands: vk::CommandBuffer,
    buffers: Vec<vk::Buffer>,
    params: Vec<u64>,
    arguments: ArgumentBuffer,
    /// How many pipelines were retired before it was made.
    pipelines: u64,
    launches: u32,
    work: u64,
    code: Option<Arc<str>>,
}

impl KnownSequence {
    fn of(launch: &Launch<'_>) -> KnownSequence {
        let mut places: FxHashMap<BlockId, usize> = FxHashMap::default();
        let mut blocks: Vec<(usize, usize, Touch)> = Vec::new();
        for (number, launch) in launch.all().enumerate() {
            for (place, (block, touch)) in super::eval::touches(launch).enumerate() {
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

    /// The blocks of such a sequence.
    fn blocks<'a>(&'a self, launches: &'a [&Launch<'_>]) -> impl Iterator<Item = (BlockId, Touch)> {
        self.blocks.iter().filter_map(|(number, place, touch)| {
            let launch = launches.get(*number)?;
            let dest = || launch.dests.get(place - launch.operands.len()).map(|dest| dest.block);
            Some((launch.operands.get(*place).copied().or_else(dest)?, *touch))
        })
    }
}

impl OpenDriver {
    /// Evaluates a launch and those behind it.
    ///
    /// # Errors
    /// As of each; all but the loss of the device come before anything is done, or say how much is.
    pub fn eval_all(&mut self, launch: &Launch<'_>, rest: Sequence<'_>) -> Result<Evaluated> {
        let launches: Vec<&Launch<'_>> = launch.all().collect();
        let mut known = self.recordings.0.pop(&rest.fingerprint);
        let is_new = known.is_none();
        let mut sequence = known.take().unwrap_or_else(|| KnownSequence::of(launch));
        let done = self.eval_known(&launches, &mut sequence, is_new);
        if let Some((_, old)) = self.recordings.0.push(rest.fingerprint, sequence) {
            old.recordings.into_iter().for_each(|old| self.drop_recording(old));
        }
        done
    }

    fn eval_known(
        &mut self,
        launches: &[&Launch<'_>],
        sequence: &mut KnownSequence,
        is_new: bool,
    ) -> Result<Evaluated> {
        let mut buffers = Vec::with_capacity(sequence.blocks.len());
        for (block, _) in sequence.blocks(launches) {
            buffers.push(self.blocks.get(block)?.buffer.handle);
        }
        let params: Vec<u64> = launches.iter().flat_map(|launch| launch.params).copied().collect();
        let retired = self.queue.pipelines_retired;
        let is_same = |kept: &Recording| {
            kept.buffers == buffers && kept.params == params && kept.pipelines == retired
        };
        if let Some(at) = sequence.recordings.iter().position(is_same) {
            let kept = &sequence.recordings[at];
            self.queue.again(kept.commands, kept.launches, kept.work)?;
            for (block, touch) in sequence.blocks(launches) {
                self.queue.note(&mut self.blocks.get_mut(block)?.touched, touch);
            }
            self.queue.submit_if_worth_it()?;
            self.queue.collect(&mut self.memory)?;
            let (launches, code) = (kept.launches, kept.code.clone());
            sequence.in_vain = 0;
            return Ok(Evaluated { launches, code, ..Evaluated::default() });
        }
        let (prepared, mut evaluated) = self.prepare_all(launches)?;
        evaluated.launches = prepared.iter().map(|of| of.dispatches.len() as u32).sum();
        let is_kept = !is_new && sequence.in_vain % TRIED_AGAIN < MOST_IN_VAIN;
        sequence.in_vain += 1;
        let mut arguments = ArgumentBuffer::kept();
        if is_kept {
            self.queue.begin_kept()?;
            std::mem::swap(&mut self.arguments, &mut arguments);
        }
        let work = self.queue.work();
        let mut done = Ok(());
        for (number, (launch, prepared)) in launches.iter().zip(&prepared).enumerate() {
            done = self.dispatch_all(launch, prepared).map_err(|error| error.after(number));
            if done.is_err() {
                break;
            }
        }
        let work = self.queue.work() - work;
        evaluated.code = prepared.last().and_then(|of| of.code());
        if is_kept {
            std::mem::swap(&mut self.arguments, &mut arguments);
            let kept = self.queue.kept()?;
            if let Some(commands) = kept {
                let (launches, code) = (evaluated.launches, evaluated.code.clone());
                let pipelines = retired;
                sequence.recordings.push(Recording {
                    commands,
                    buffers,
                    params,
                    arguments,
                    pipelines,
                    launches,
                    work,
                    code,
                });
            }
            let most = if done.is_ok() { MOST_RECORDINGS } else { 0 };
            while sequence.recordings.len() > most {
                let old = sequence.recordings.remove(0);
                self.drop_recording(old);
            }
        }
        done?;
        self.queue.submit_if_worth_it()?;
        self.queue.collect(&mut self.memory)?;
        Ok(evaluated)
    }

    /// Frees a recording once the device has finished with it.
    fn drop_recording(&mut self, old: Recording) {
        self.queue.retire(Retired::Commands(old.commands));
        for buffer in old.arguments.into_buffers() {
            self.queue.retire(Retired::Buffer(buffer));
        }
    }

    /// Frees the recordings that name a buffer.
    pub fn forget_recordings(&mut self, of: vk::Buffer) {
        let mut old = Vec::new();
        for (_, sequence) in &mut self.recordings.0 {
            old.extend(sequence.recordings.extract_if(.., |kept| kept.buffers.contains(&of)));
        }
        old.into_iter().for_each(|old| self.drop_recording(old));
    }

    /// Frees all recordings.
    pub fn close_recordings(&mut self) {
        while let Some((_, sequence)) = self.recordings.0.pop_lru() {
            sequence.recordings.into_iter().for_each(|old| self.drop_recording(old));
        }
    }
}
