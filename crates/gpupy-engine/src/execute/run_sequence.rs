//! Sequences of launches: commands of a flush that are one call of a driver.
//!
//! Owns the way from a [`LaunchSequence`] to its blocks. Blocks that are there are found and pinned, the others
//! allocated without evicting any; what the launches gave becomes tiles of the values that something needs behind them.
//! Invariant: where it cannot be done, or the driver fails before the first launch, all is as before, and the commands
//! are done one by one; after an error behind some launches, all is as behind their commands.
//!
//! Not here: which commands form a sequence (`schedule/compiled/launch_sequence.rs`), one launch (`launch.rs`).

use super::run_commands::{Found, Stop};
use crate::blocks::cache::BlockPart;
use crate::execute::evaluate::Engine;
use crate::execute::progress::Running;
use crate::explain::stats::Stats;
use crate::graph::value::{Node, Value, ValueId};
use crate::memory::limit;
use crate::memory::tiling::Tile;
use crate::schedule::compiled::command::Command;
use crate::schedule::compiled::launch_sequence::{
    FilledTile, LaunchSequence, Place, SequenceLaunch,
};
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::passes::placement::DeviceOrder;
use crate::schedule::walk::rematerialisation;
use gpupy_core::driver::{BlockId, BlockSpec, Dest, Evaluated, Launch, Sequence as Launches};
use gpupy_core::{ErrorKind, Result};
use std::sync::{Arc, PoisonError, Weak};
use std::time::Instant;

/// The blocks of a sequence that is begun.
struct SequenceBlocks {
    ids: Vec<BlockId>,
    /// Of those that are allocated for it.
    specs: Vec<Option<BlockSpec>>,
    /// Those that are pinned.
    pinned: Vec<(ValueId, BlockPart)>,
}

/// What was launched.
struct Launched {
    launches: usize,
    evaluated: Evaluated,
}

impl Engine {
    /// The sequence that begins with the next command, if the device takes some.
    pub(super) fn sequence(
        &mut self,
        running: &Running,
        order: &DeviceOrder,
    ) -> Option<(Arc<LaunchSequence>, usize)> {
        let flush = &running.flush;
        let Command::Step(begin) = &flush.commands[running.next] else { return None };
        let position = order.devices[begin.rank];
        let device = self.device(position).ok()?;
        let most = device.caps.max_launches;
        // A listener is told of each launch, and where room is short no block is held longer than it has to be.
        if most < 2
            || running.one_by_one
            || device.tracer.listens()
            || device.is_short()
            || limit::host_bytes().is_some()
        {
            return None;
        }
        let sequence = flush.sequence(running.next, &running.values, most)?;
        let commands = flush.commands[running.next..sequence.end].iter();
        let is_new = |command: &Command| match command {
            Command::Step(begin) => running.is_pending(begin),
            _ => true,
        };
        let may_run = self.slice.allows(sequence.work) && commands.clone().all(is_new);
        may_run.then_some((sequence, position))
    }

    /// Does the commands of a sequence; false, with all as before, where they are to be done one by one.
    pub(super) fn launch_sequence(
        &mut self,
        running: &mut Running,
        sequence: &LaunchSequence,
        position: usize,
    ) -> Found<bool> {
        if !self.may_take_all(running, sequence, position)? {
            return Ok(false);
        }
        let Some(blocks) = self.sequence_blocks(running, sequence, position)? else {
            running.leave_all(sequence);
            return Ok(false);
        };
        let device = self.device(position)?;
        let (launches, evaluated) = match evaluate(device, running, sequence, &blocks.ids) {
            Ok(evaluated) => (sequence.launches.len(), evaluated),
            Err(Stop::Failed(error)) if error.kind() != ErrorKind::DeviceLost => {
                (error.done(), Evaluated::default())
            }
            Err(stop) => {
                self.give_back(blocks, position)?;
                return Err(stop);
            }
        };
        if launches == 0 {
            self.give_back(blocks, position)?;
            running.leave_all(sequence);
            running.one_by_one = true;
            return Ok(false);
        }
        let last = sequence.filled.iter().rev().find(|filled| !filled.passes);
        let last = last.map(|filled| blocks.ids[filled.place]);
        let launched = Launched { launches, evaluated };
        self.complete(running, sequence, &launched, blocks, position)?;
        running.has_worked = true;
        if launches < sequence.launches.len() {
            return Err(Stop::Otherwise);
        }
        if self.slice.queue(1, sequence.work)
            && let Some(block) = last
        {
            let began = Instant::now();
            self.device(position)?.driver.block_read(block, 0, &mut [])?;
            self.slice.waited(began.elapsed());
        }
        Ok(true)
    }

    /// Whether nothing outside the flush holds what is taken in a sequence.
    fn may_take_all(
        &mut self,
        running: &Running,
        sequence: &LaunchSequence,
        position: usize,
    ) -> Found<bool> {
        for FilledTile { place, is_taken, .. } in &sequence.filled {
            let block = &sequence.blocks[*place];
            if *is_taken && block.is_there {
                let (value, part) = running.part(block.buffer)?;
                let BlockPart::Tile(number) = part else { return Ok(false) };
                let device = self.device(position)?;
                let tile = device.tiling_of(value).tile(*number);
                if !device.may_take(value, &tile) {
                    return Ok(false);
                }
            }
        }
        for (number, handles) in &sequence.held {
            if !running.value(*number)?.is_held_by(*handles) {
                running.leave_all(sequence);
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The blocks of a sequence; nothing, with none left, where one does not come to be.
    fn sequence_blocks(
        &mut self,
        running: &Running,
        sequence: &LaunchSequence,
        position: usize,
    ) -> Found<Option<SequenceBlocks>> {
        let count = sequence.blocks.len();
        let mut blocks = SequenceBlocks {
            ids: vec![BlockId(0); count],
            specs: vec![None; count],
            pinned: Vec::new(),
        };
        let (device, stats) = self.device_and_stats(position)?;
        let before = (stats.cache_hits, stats.cache_misses);
        device.sweep();
        let mut last = sequence.last.lock().unwrap_or_else(PoisonError::into_inner);
        let mut hits = sequence.filled_again;
        // The same as last time before others.
        for again in [true, false] {
            for (place, block) in sequence.blocks.iter().enumerate() {
                if block.is_there || blocks.specs[place].is_some() {
                    continue;
                }
                let (value, tile) = running.tile(block.buffer)?;
                let spec = BlockSpec::new(value.dtype(), tile.range.len());
                let found = match again {
                    true => {
                        let id = last.get(place).and_then(|id| device.pooled(*id, spec));
                        id.map(|id| (id, true))
                    }
                    false => device.alloc_as_it_is(spec)?,
                };
                let Some((id, is_hit)) = found else {
                    if again {
                        continue;
                    }
                    drop(last);
                    self.give_back(blocks, position)?;
                    return Ok(None);
                };
                hits += u64::from(is_hit);
                (blocks.ids[place], blocks.specs[place]) = (id, Some(spec));
            }
        }
        for (place, block) in sequence.blocks.iter().enumerate().filter(|(_, block)| block.is_there)
        {
            let (value, part) = running.part(block.buffer)?;
            // What keeps it from coming is found out, and counted, by the command that reads it.
            let id = match self.operand_block(position, value, part) {
                Ok(id) => id,
                Err(error) if error.kind() == ErrorKind::DeviceLost => return Err(error.into()),
                Err(_) => {
                    drop(last);
                    let stats = &mut self.counts[position];
                    (stats.cache_hits, stats.cache_misses) = before;
                    self.give_back(blocks, position)?;
                    return Ok(None);
                }
            };
            self.device(position)?.pin(value.id(), part);
            blocks.ids[place] = id;
            blocks.pinned.push((value.id(), part.clone()));
        }
        last.clone_from(&blocks.ids);
        let stats = &mut self.counts[position];
        stats.cache_hits += sequence.found_again;
        stats.pool_hits += hits;
        Ok(Some(blocks))
    }

    /// Frees the blocks of a sequence that did nothing.
    fn give_back(&mut self, blocks: SequenceBlocks, position: usize) -> Result<()> {
        let device = self.device(position)?;
        for (value, part) in &blocks.pinned {
            device.unpin(*value, part);
        }
        for (id, spec) in blocks.ids.iter().zip(&blocks.specs) {
            if let Some(spec) = spec {
                device.free((*id, *spec));
            }
        }
        Ok(())
    }

    /// So many launches of a sequence are done: all is as behind their commands.
    fn complete(
        &mut self,
        running: &mut Running,
        sequence: &LaunchSequence,
        launched: &Launched,
        mut blocks: SequenceBlocks,
        position: usize,
    ) -> Found<()> {
        let is_all = launched.launches == sequence.launches.len();
        let filled = sequence.filled.iter();
        let filled = filled.take_while(|filled| filled.launches <= launched.launches);
        let mut owners: Vec<Option<&FilledTile>> = vec![None; sequence.blocks.len()];
        for filled in filled.clone() {
            owners[filled.place] = Some(filled);
        }
        // What the launch that failed was to write whole may be anything; and a block of the sequence's own that was
        // written again has no owner until all of it is.
        let failed = sequence.launches.get(launched.launches).map_or(&[][..], |next| &next.dests);
        failed.iter().filter(|(_, whole)| *whole).for_each(|(place, _)| owners[*place] = None);
        for (number, launch) in sequence.launches[..launched.launches].iter().enumerate() {
            for (place, _) in &launch.dests {
                let is_older = owners[*place].is_some_and(|owner| owner.launches <= number);
                if is_older && !sequence.blocks[*place].is_there {
                    owners[*place] = None;
                }
            }
        }
        let (device, stats) = self.device_and_stats(position)?;
        count(stats, sequence, launched);
        stats.in_place += filled.filter(|filled| filled.is_taken).count() as u64;
        for (value, part) in &blocks.pinned {
            device.unpin(*value, part);
        }
        let mut passing: Vec<(Place, Weak<Node>, Tile)> = Vec::new();
        for (place, owner) in owners.iter().enumerate() {
            let (block, Some(owner)) = (&sequence.blocks[place], owner) else { continue };
            let (value, tile) = running.tile(owner.buffer)?;
            if block.is_there {
                let (old, _) = running.part(block.buffer)?;
                device.hand_over(old, &value, tile);
                let mut state = old.state();
                if !state.on_host.covers(tile.range.clone()) {
                    state.computed.remove(tile.range.clone());
                }
                drop(state);
                value.mark_computed(tile.range.clone());
            } else if owner.passes && is_all {
                passing.push((place, Arc::downgrade(&value.0), tile.clone()));
            } else if let Some(spec) = blocks.specs[place].take() {
                let part = BlockPart::Tile(tile.number);
                device.insert(&value, part.clone(), (blocks.ids[place], spec), tile.range.clone());
                device.follow(value.id(), &part, &blocks.pinned);
                value.mark_computed(tile.range.clone());
            }
        }
        if is_all {
            self.end_steps(running, sequence, position)?;
        }
        let device = self.device(position)?;
        // Something came to hold it meanwhile.
        for (place, value, tile) in passing {
            if let Some(value) = value.upgrade().map(Value)
                && let Some(spec) = blocks.specs[place].take()
            {
                let part = BlockPart::Tile(tile.number);
                device.insert(&value, part, (blocks.ids[place], spec), tile.range.clone());
                value.mark_computed(tile.range);
            }
        }
        for (id, spec) in blocks.ids.iter().zip(&blocks.specs) {
            if let Some(spec) = spec {
                device.free((*id, *spec));
            }
        }
        Ok(())
    }

    /// The steps of a sequence are done: nothing holds what no later command needs.
    fn end_steps(
        &mut self,
        running: &mut Running,
        sequence: &LaunchSequence,
        position: usize,
    ) -> Result<()> {
        let flush = running.flush.clone();
        let stats = &mut self.counts[position];
        for command in &flush.commands[running.next..sequence.end] {
            let Command::Done { walks, passes } = command else { continue };
            stats.blocks_evaluated += 1;
            stats.plans_replayed += if running.is_replay { u64::from(*walks) } else { 0 };
            for (number, read) in passes {
                if let Ok(value) = running.value(*number) {
                    rematerialisation::note(value, read.clone());
                }
            }
        }
        while running.next < sequence.end {
            running.next += 1;
            running.let_go();
        }
        Ok(())
    }
}

/// Calls the driver.
fn evaluate<'s>(
    device: &mut OpenDevice,
    running: &Running,
    sequence: &'s LaunchSequence,
    blocks: &[BlockId],
) -> Found<Evaluated> {
    let (mut operands, mut params, mut dests) = (Vec::new(), Vec::new(), Vec::new());
    for launch in &sequence.launches {
        operands.extend(launch.operands.iter().map(|place| blocks[*place]));
        for param in &launch.params {
            params.push(running.param(*param)?);
        }
        let to = launch.dests.iter().zip(&launch.code.dests);
        dests.extend(to.map(|((place, whole), access)| Dest {
            block: blocks[*place],
            access: access.clone(),
            whole: *whole,
        }));
    }
    let (mut operands, mut params, mut dests) = (&operands[..], &params[..], &dests[..]);
    let launch = |launch: &'s SequenceLaunch| {
        let code = &launch.code;
        Launch {
            program: &code.program,
            fingerprint: code.fingerprint(),
            shape: &code.space,
            operands: first_of(&mut operands, launch.operands.len()),
            params: first_of(&mut params, launch.params.len()),
            accesses: &code.accesses,
            dests: first_of(&mut dests, launch.dests.len()),
            memory: &[],
            lend: None,
            rest: None,
        }
    };
    let launches: Vec<Launch<'_>> = sequence.launches.iter().map(launch).collect();
    let Some((first, launches)) = launches.split_first() else { return Err(Stop::Otherwise) };
    let rest = Some(Launches { launches, fingerprint: sequence.fingerprint });
    Ok(device.driver.eval_ir(&Launch { rest, ..first.clone() })?)
}

/// Takes so many from the beginning of a list.
fn first_of<'a, T>(list: &mut &'a [T], count: usize) -> &'a [T] {
    let (first, rest) = list.split_at(count);
    *list = rest;
    first
}

fn count(
    stats: &mut Stats,
    sequence: &LaunchSequence,
    Launched { launches, evaluated }: &Launched,
) {
    let all = sequence.launches.len();
    stats.kernels_compiled += u64::from(evaluated.compiled);
    stats.kernels_specialised += u64::from(evaluated.specialised);
    stats.launches += if *launches < all { *launches as u64 } else { evaluated.launches.into() };
    stats.sequences += 1;
    stats.instructions += sequence.instructions;
}
