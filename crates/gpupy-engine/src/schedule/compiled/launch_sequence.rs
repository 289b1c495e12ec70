//! Sequences: launches of a compiled flush that a driver is given in one call.
//!
//! Owns [`LaunchSequence`]: whole steps, one behind another, that are kernels into new blocks or into blocks that are
//! taken, and nothing else. Blocks have places in it: those that are there when it begins, and those that it fills. It
//! is found once for a flush and kept with it, so that a replay looks for a block once, however many launches touch it.
//! Invariants: it begins with a step and ends with one; no block is open when it ends.
//!
//! Not here: blocks, and what becomes of values (`execute/run_sequence.rs`).

use super::command::{
    Buffer, BufferId, Command, KernelCommand, LaunchTarget, Number, Param, TakenBlock,
};
use crate::blocks::cache::BlockPart;
use crate::graph::value::{Value, ValueId, ValueKind};
use crate::schedule::program::kernel::KernelCode;
use crate::thresholds::T;
use gpupy_core::DType;
use gpupy_core::driver::{Access, BlockId};
use gpupy_core::ir::Fingerprint;
use gpupy_core::shape::size_of;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::sync::{Arc, Mutex};

/// What a flush does, by its parts (`CompiledFlush`).
pub(crate) struct FlushParts<'f> {
    pub commands: &'f [Command],
    pub buffers: &'f [Buffer],
    pub dead: &'f [SmallVec<[Number; 2]>],
}

/// A place among the blocks of a sequence.
pub(crate) type Place = usize;

/// Launches that are one call of a driver.
pub(crate) struct LaunchSequence {
    /// Where the first command behind it stands.
    pub end: usize,
    pub launches: Vec<SequenceLaunch>,
    /// Its blocks: of each, whose it is, and whether it is there before.
    pub blocks: Vec<SequenceBlock>,
    /// What its launches complete, in order.
    pub filled: Vec<FilledTile>,
    /// For each value that is taken, or is on the way from one to its heir: how many handles it has if nothing outside
    /// the flush holds it.
    pub held: Vec<(Number, usize)>,
    /// How often a block is named again.
    pub found_again: u64,
    /// How often one is filled again with something else.
    pub filled_again: u64,
    /// Operations on elements.
    pub work: usize,
    /// Operations of the programs.
    pub instructions: u64,
    pub fingerprint: Fingerprint,
    /// The blocks that it had last: with the same ones, a driver may do the same.
    pub last: Mutex<Vec<BlockId>>,
}

/// A block of a sequence.
pub(crate) struct SequenceBlock {
    pub buffer: BufferId,
    /// Whether it holds its elements when the sequence begins.
    pub is_there: bool,
}

/// A launch of a sequence.
pub(crate) struct SequenceLaunch {
    pub code: Arc<KernelCode>,
    pub operands: SmallVec<[Place; 4]>,
    pub params: SmallVec<[Param; 4]>,
    /// Where its results go; and whether that is all of a block.
    pub dests: SmallVec<[(Place, bool); 1]>,
}

/// A tile that is complete behind so many launches.
#[derive(Clone, Copy)]
pub(crate) struct FilledTile {
    pub launches: usize,
    pub place: Place,
    pub buffer: BufferId,
    /// Whether its block was another value's.
    pub is_taken: bool,
    /// Whether nothing in the flush needs it behind the sequence.
    pub passes: bool,
}

/// Open blocks: their places, and whose they become.
type OpenPlaces = SmallVec<[(Place, BufferId); 1]>;

/// A sequence that is looked for.
struct Search<'f> {
    flush: &'f FlushParts<'f>,
    values: &'f [Option<Value>],
    most: usize,
    places: FxHashMap<BufferId, Place>,
    /// The values that it computes.
    made: FxHashSet<Number>,
    /// The tiles whose blocks are others' by now.
    gone: FxHashSet<BufferId>,
    /// The open blocks, innermost last; and whether they were another value's.
    open: Vec<(OpenPlaces, bool)>,
    taken: Vec<&'f TakenBlock>,
    bytes: usize,
    found: LaunchSequence,
}

impl LaunchSequence {
    /// The sequence of at most so many launches that begins with a command, on the values that there are then.
    pub fn at(
        flush: &FlushParts<'_>,
        start: usize,
        values: &[Option<Value>],
        most: usize,
    ) -> Option<LaunchSequence> {
        let found = LaunchSequence {
            end: start,
            launches: Vec::new(),
            blocks: Vec::new(),
            filled: Vec::new(),
            held: Vec::new(),
            found_again: 0,
            filled_again: 0,
            work: 0,
            instructions: 0,
            fingerprint: Fingerprint(0),
            last: Mutex::default(),
        };
        let search = Search {
            flush,
            values,
            most,
            places: FxHashMap::default(),
            made: FxHashSet::default(),
            gone: FxHashSet::default(),
            open: Vec::new(),
            taken: Vec::new(),
            bytes: 0,
            found,
        };
        search.find(start)
    }

    /// Fills blocks again that hold what has passed, with elements of the same kind.
    fn share(&mut self, kind: impl Fn(BufferId) -> Option<(DType, usize)>) {
        let count = self.blocks.len();
        let mut last = vec![usize::MAX; count];
        for (number, launch) in self.launches.iter().enumerate() {
            launch.operands.iter().for_each(|place| last[*place] = number);
        }
        let passes: FxHashSet<Place> =
            self.filled.iter().filter(|filled| filled.passes).map(|filled| filled.place).collect();
        let mut to: Vec<Option<Place>> = vec![None; count];
        let mut blocks: Vec<SequenceBlock> = Vec::with_capacity(count);
        let mut free: FxHashMap<(DType, usize), Vec<Place>> = FxHashMap::default();
        for (number, launch) in self.launches.iter().enumerate() {
            let places = launch.operands.iter().chain(launch.dests.iter().map(|(place, _)| place));
            for place in places {
                if to[*place].is_some() {
                    continue;
                }
                let SequenceBlock { buffer, is_there } = self.blocks[*place];
                let kind = if is_there { None } else { kind(buffer) };
                let again = kind.and_then(|kind| free.get_mut(&kind)?.pop());
                self.filled_again += u64::from(again.is_some());
                to[*place] = Some(again.unwrap_or_else(|| {
                    blocks.push(SequenceBlock { buffer, is_there });
                    blocks.len() - 1
                }));
            }
            let mut read: SmallVec<[Place; 4]> = launch.operands.clone();
            read.sort_unstable();
            read.dedup();
            for place in read {
                let is_last = last[place] == number && passes.contains(&place);
                if let (true, Some(kind), Some(place)) =
                    (is_last, kind(self.blocks[place].buffer), to[place])
                {
                    free.entry(kind).or_default().push(place);
                }
            }
        }
        let moved = |place: &mut Place| *place = to[*place].unwrap_or(*place);
        for launch in &mut self.launches {
            launch.operands.iter_mut().for_each(moved);
            launch.dests.iter_mut().for_each(|(place, _)| moved(place));
        }
        self.filled.iter_mut().for_each(|filled| moved(&mut filled.place));
        self.blocks = blocks;
    }
}

impl Search<'_> {
    fn find(mut self, start: usize) -> Option<LaunchSequence> {
        let Command::Step(first) = self.flush.commands.get(start)? else { return None };
        let (flush, mut whole) = (self.flush, (0, 0, 0, 0));
        for (number, command) in flush.commands.iter().enumerate().skip(start) {
            let goes_on = match command {
                Command::Step(begin) => begin.rank == first.rank && !begin.has_moved,
                Command::Kernel(kernel) => self.launches(kernel).is_some(),
                Command::Open(buffers) => self.opens(buffers).is_some(),
                Command::OpenOld { buffer, old, taken } => {
                    self.takes(*buffer, *old, taken).is_some()
                }
                Command::Close => self.closes().is_some(),
                Command::Done { .. } => true,
                Command::Repeat(_) | Command::Free(_) | Command::OnHost(_) => false,
            };
            if !goes_on {
                break;
            }
            if matches!(command, Command::Done { .. }) && self.open.is_empty() {
                let LaunchSequence { launches, blocks, filled, .. } = &self.found;
                whole = (launches.len(), blocks.len(), filled.len(), self.taken.len());
                self.found.end = number + 1;
            }
        }
        // What belongs to no whole step is left out.
        self.found.launches.truncate(whole.0);
        self.found.blocks.truncate(whole.1);
        self.found.filled.truncate(whole.2);
        self.taken.truncate(whole.3);
        (whole.0 > 0).then(|| self.named(start))
    }

    fn value(&self, buffer: BufferId) -> Option<&Value> {
        self.values.get(self.flush.buffers[buffer as usize].value as usize)?.as_ref()
    }

    /// The place of a block that is read, or taken.
    fn place(&mut self, buffer: BufferId) -> Option<Place> {
        if let Some(place) = self.places.get(&buffer) {
            return Some(*place);
        }
        if self.gone.contains(&buffer) {
            return None;
        }
        let of = &self.flush.buffers[buffer as usize];
        // Elements of others, and views of what is computed here, come to a block by other ways.
        let is_gathered = matches!(of.part, BlockPart::View(_)) && self.made.contains(&of.value);
        if is_gathered || self.value(buffer)?.is_external() {
            return None;
        }
        self.add(buffer, true)
    }

    fn add(&mut self, buffer: BufferId, is_there: bool) -> Option<Place> {
        let place = self.found.blocks.len();
        self.found.blocks.push(SequenceBlock { buffer, is_there });
        self.places.insert(buffer, place).is_none().then_some(place)
    }

    /// The place of a new block.
    fn new_block(&mut self, buffer: BufferId) -> Option<Place> {
        let of = &self.flush.buffers[buffer as usize];
        let tile = of.tile.as_ref()?;
        self.bytes += tile.range.len() * self.value(buffer)?.dtype().size();
        self.made.insert(of.value);
        // Far less than is kept for the next one.
        let is_much = self.bytes as u64 > T.pool_bytes / 8 || self.places.len() >= T.pool_blocks;
        if is_much { None } else { self.add(buffer, false) }
    }

    fn launches(&mut self, kernel: &KernelCommand) -> Option<()> {
        if kernel.taken.is_some() || self.found.launches.len() == self.most {
            return None;
        }
        let operands: SmallVec<[Place; 4]> =
            kernel.operands.iter().map(|buffer| self.place(*buffer)).collect::<Option<_>>()?;
        let launches = self.found.launches.len() + 1;
        let mut dests: SmallVec<[(Place, bool); 1]> = SmallVec::new();
        match &kernel.goes {
            LaunchTarget::Tiles(tiles) => {
                for buffer in tiles {
                    let place = self.new_block(*buffer)?;
                    dests.push((place, true));
                    let filled = FilledTile {
                        launches,
                        place,
                        buffer: *buffer,
                        is_taken: false,
                        passes: false,
                    };
                    self.found.filled.push(filled);
                }
            }
            LaunchTarget::Open(places) => {
                let (blocks, _) = self.open.last()?;
                let open = |(number, whole): &(usize, bool)| Some((blocks.get(*number)?.0, *whole));
                dests = places.iter().map(open).collect::<Option<_>>()?;
            }
        }
        let (code, params) = (kernel.code.clone(), kernel.params.clone());
        self.found.launches.push(SequenceLaunch { code, operands, params, dests });
        Some(())
    }

    fn opens(&mut self, buffers: &[BufferId]) -> Option<()> {
        let new = |buffer: &BufferId| Some((self.new_block(*buffer)?, *buffer));
        let blocks = buffers.iter().map(new).collect::<Option<_>>()?;
        self.open.push((blocks, false));
        Some(())
    }
}

impl<'f> Search<'f> {
    fn takes(&mut self, buffer: BufferId, old: BufferId, taken: &'f TakenBlock) -> Option<()> {
        let place = self.place(old)?;
        self.places.remove(&old);
        self.gone.insert(old);
        self.places.insert(buffer, place);
        self.made.insert(self.flush.buffers[buffer as usize].value);
        self.open.push((SmallVec::from_slice(&[(place, buffer)]), true));
        self.taken.push(taken);
        Some(())
    }

    fn closes(&mut self) -> Option<()> {
        let launches = self.found.launches.len();
        let (blocks, is_taken) = self.open.pop()?;
        let filled = blocks.into_iter().map(|(place, buffer)| FilledTile {
            launches,
            place,
            buffer,
            is_taken,
            passes: false,
        });
        self.found.filled.extend(filled);
        Some(())
    }

    /// What was found, with its name.
    fn named(mut self, start: usize) -> LaunchSequence {
        let mut words: Vec<u64> = Vec::new();
        let access = |access: &Access, words: &mut Vec<u64>| {
            words.push(access.offset as u64);
            words.extend(access.strides.iter().map(|stride| *stride as u64));
        };
        let found = &mut self.found;
        let dead: FxHashSet<Number> =
            self.flush.dead[start + 1..=found.end].iter().flatten().copied().collect();
        for filled in &mut found.filled {
            filled.passes = dead.contains(&self.flush.buffers[filled.buffer as usize].value);
        }
        if self.taken.is_empty() {
            let values = self.values;
            let kind = |buffer: BufferId| {
                let of = &self.flush.buffers[buffer as usize];
                let value = values.get(of.value as usize)?.as_ref()?;
                Some((value.dtype(), of.tile.as_ref()?.range.len()))
            };
            found.share(kind);
        }
        for launch in &found.launches {
            let operations = launch.code.program.operation_count();
            let points = size_of(&launch.code.space);
            found.instructions += operations as u64;
            found.work = found.work.saturating_add(operations.max(1).saturating_mul(points));
            found.found_again += launch.operands.len() as u64;
            let Fingerprint(name) = launch.code.fingerprint();
            words.extend([name as u64, (name >> 64) as u64]);
            words.extend(launch.code.space.iter().map(|extent| *extent as u64));
            let accesses = launch.code.accesses.iter().chain(&launch.code.dests);
            accesses.for_each(|walk| access(walk, &mut words));
            words.extend(launch.operands.iter().map(|place| *place as u64));
            let dests = launch.dests.iter();
            words.extend(dests.map(|(place, whole)| (*place as u64) << 1 | u64::from(*whole)));
        }
        let there = found.blocks.iter().filter(|block| block.is_there).count();
        found.found_again = (found.found_again + self.taken.len() as u64) - there as u64;
        found.fingerprint = Fingerprint::of(words);
        self.found.held = self.handles();
        self.found
    }

    /// How many handles the values have that nothing else may hold: one of the flush, and those of pending values.
    fn handles(&self) -> Vec<(Number, usize)> {
        let numbers: FxHashSet<Number> =
            self.taken.iter().flat_map(|taken| &taken.held).map(|(number, _)| *number).collect();
        if numbers.is_empty() {
            return Vec::new();
        }
        let mut slots: FxHashMap<ValueId, usize> = FxHashMap::default();
        for value in self.values.iter().flatten() {
            if matches!(value.0.kind, ValueKind::Expr { .. }) {
                for operand in value.state().operands.iter().flatten() {
                    *slots.entry(operand.id()).or_default() += 1;
                }
            }
        }
        let mut held: Vec<Number> = numbers.into_iter().collect();
        // A holder is newer than the values that it holds: the one that is taken comes last.
        held.sort_unstable_by_key(|number| std::cmp::Reverse(*number));
        let handles = |number: Number| {
            let value = self.values.get(number as usize)?.as_ref()?;
            Some((number, 1 + slots.get(&value.id()).copied().unwrap_or(0)))
        };
        held.into_iter().filter_map(handles).collect()
    }
}
