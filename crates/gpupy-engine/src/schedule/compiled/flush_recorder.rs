//! The recorder of a flush: what the steps of a schedule do becomes numbered commands.
//!
//! Owns [`FlushRecorder`]. Steps are recorded in their order, each as if those before it were done; nothing is
//! launched. Values that are none of the flush, such as steps that several kernels read, get numbers behind its own.
//! Invariant: a command names each value by its number in the flush.
//!
//! Not here: the commands (`command.rs`), which of them a step has (`schedule/commands/`), what dies when
//! (`lifetimes.rs`).

use super::command::{
    Buffer, BufferId, Command, HostCommand, KernelCommand, LaunchTarget, LibraryCommand, Number,
    Param, Remedy, StepBegin, TakenBlock,
};
use super::compiled_flush::{CompiledFlush, numbered, scalars};
use super::lifetimes::Lifetimes;
use super::parameters::{FlushScalars, Root, root};
use crate::blocks::cache::BlockPart;
use crate::explain::not_kept::NotKept;
use crate::graph::passed::PartialRead;
use crate::graph::value::{Value, ValueId};
use crate::memory::ranges::Ranges;
use crate::memory::tiling::Tile;
use crate::schedule::commands::{HostStep, LaunchCommand, OpenedBlock};
use crate::schedule::destination::Destination;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::passes::demand::Demand;
use crate::schedule::passes::pending_graph::{InputSource, PendingGraph};
use crate::schedule::steps::LibraryStep;
use crate::schedule::steps::strip_mining::Strips;
use crate::schedule::walk::rematerialisation::Passes;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::ops::Range;

/// The commands of a flush, as they are made.
pub(crate) struct FlushRecorder {
    pub(super) numbers: FxHashMap<ValueId, Number>,
    /// The values by their numbers, as long as something needs them.
    pub values: Vec<Option<Value>>,
    pub(super) lifetimes: Lifetimes,
    /// How many of the values were computed before, and how many are the flush's own.
    leaves: usize,
    own: usize,
    pub(super) flush: CompiledFlush,
    pub(super) buffers: FxHashMap<(Number, BlockPart), BufferId>,
    /// Where the step begins that is being recorded.
    begun: usize,
    /// The scalars that are roots of its walks.
    root: Option<Root>,
    walks: u32,
    passes: Vec<(Number, PartialRead)>,
    /// The values that die in this window with their blocks, each with the place among the dead where it stands.
    deaths: FxHashMap<Number, usize>,
    /// The values whose blocks, or one of them, have become those of others.
    taken: FxHashSet<Number>,
    /// Those among them that the next command names.
    named_late: SmallVec<[Number; 2]>,
    /// Whether a command of the step names a value that is gone.
    pub named_gone: bool,
    /// The values that are to be filled, and their tile, innermost last.
    open: SmallVec<[(SmallVec<[Value; 1]>, Tile); 1]>,
    /// Values that are none of the flush, each with the command that names it last.
    made: FxHashMap<Number, usize>,
    /// Those among them that were let go.
    let_go: FxHashSet<ValueId>,
    /// Whether operands may be written in place.
    pub(super) may_take: bool,
    /// Why no later flush of the same structure may do the same, if none may.
    pub not_kept: Option<NotKept>,
    /// Whether the scalars of a later flush may be filled in.
    has_slots: bool,
}

impl FlushRecorder {
    /// Nothing of a flush that demands this; its operands may be written in place, or not, and its
    /// scalars are slots, or not.
    pub fn of(
        demand: &Demand<'_>,
        below: PendingGraph,
        (may_take, has_slots): (bool, bool),
    ) -> FlushRecorder {
        let first = below.leaves.len() as Number;
        let first_other = first + below.values.len() as Number;
        let mut lifetimes = Lifetimes::default();
        for outlives in &below.leaf_outlives {
            lifetimes.add(0, Ranges::default(), SmallVec::new(), *outlives);
        }
        let number = |source: &InputSource| match source {
            InputSource::Scalar => None,
            InputSource::Pending(number) => Some(first + number),
            InputSource::Leaf(number) => Some(*number),
            InputSource::Other(number) => Some(first_other + number),
        };
        let mut is_held = below.outlives.clone();
        demand
            .wanted()
            .filter_map(|value| below.number(value.id()))
            .for_each(|number| is_held[number as usize] = true);
        for ((value, reads), is_held) in below.values.iter().zip(&below.reads).zip(is_held) {
            let reads = reads.iter().filter_map(number).collect();
            let there = value.state().computed.clone();
            lifetimes.add(value.len(), there, reads, is_held);
        }
        for (value, reads) in below.others.iter().zip(&below.other_reads) {
            let reads = reads.iter().filter_map(number).collect();
            lifetimes.add(value.len(), Ranges::default(), reads, true);
        }
        let numbers = below.numbers.iter();
        let numbers = numbers.filter_map(|(value, source)| Some((*value, number(source)?)));
        let numbers: FxHashMap<ValueId, Number> = numbers.collect();
        // The program holds them until the flush is done.
        below.passing.iter().filter_map(|value| numbers.get(value)).for_each(|number| {
            lifetimes.fix(*number);
        });
        let leaves = below.leaves.len();
        let values: Vec<Option<Value>> = numbered(below).collect();
        FlushRecorder {
            numbers,
            leaves,
            own: values.len(),
            values,
            lifetimes,
            flush: CompiledFlush { dead: vec![SmallVec::new()], ..CompiledFlush::default() },
            buffers: FxHashMap::default(),
            begun: 0,
            root: None,
            walks: 0,
            passes: Vec::new(),
            deaths: FxHashMap::default(),
            taken: FxHashSet::default(),
            named_late: SmallVec::new(),
            named_gone: false,
            open: SmallVec::new(),
            made: FxHashMap::default(),
            let_go: FxHashSet::default(),
            may_take,
            not_kept: None,
            has_slots,
        }
    }

    /// How many commands there are.
    pub fn len(&self) -> usize {
        self.flush.commands.len()
    }

    /// The commands so far, of a flush that stores these tiles again; those of later steps are another window.
    pub fn take(&mut self, bought: &[(ValueId, Range<usize>)]) -> CompiledFlush {
        let known = |value| self.numbers.get(value).copied();
        let bought =
            bought.iter().filter_map(|(value, tiles)| Some((known(value)?, tiles.clone())));
        self.flush.bought = bought.collect();
        for (number, place) in std::mem::take(&mut self.made) {
            let last = self.flush.dead.len() - 1;
            self.flush.dead[last.min(place + 1)].push(number);
            if let Some(value) = &self.values[number as usize] {
                self.numbers.remove(&value.id());
            }
        }
        self.buffers.clear();
        self.deaths.clear();
        let next = CompiledFlush { dead: vec![SmallVec::new()], ..CompiledFlush::default() };
        std::mem::replace(&mut self.flush, next)
    }

    fn push(&mut self, command: Command) {
        self.flush.commands.push(command);
        self.flush.dead.push(SmallVec::new());
        let late = std::mem::take(&mut self.named_late);
        self.die(late);
    }

    /// Values die of the last command.
    fn die(&mut self, dead: SmallVec<[Number; 2]>) {
        let here = self.len();
        let with_blocks = dead.iter().filter(|number| !self.taken.contains(number));
        self.deaths.extend(with_blocks.map(|number| (*number, here)));
        if let Some(last) = self.flush.dead.last_mut() {
            last.extend(dead);
        }
    }

    /// The next command names a value that nothing else needs: it dies of that one.
    fn name_late(&mut self, number: Number) {
        if self.named_late.contains(&number) {
            return;
        }
        match self.deaths.remove(&number) {
            Some(place) => {
                self.flush.dead[place].retain(|dead| *dead != number);
                self.named_late.push(number);
            }
            None => self.named_gone = true,
        }
    }

    /// The number of a value; a new one for one that is none of the flush.
    fn number(&mut self, value: &Value) -> Number {
        let here = self.len();
        if let Some(number) = self.numbers.get(&value.id()).copied() {
            if self.lifetimes.is_dead(number) {
                self.name_late(number);
            }
            if let Some(last) = self.made.get_mut(&number) {
                *last = here;
            }
            return number;
        }
        self.flush.made.push((value.dtype(), value.shape().into()));
        let there = value.state().computed.clone();
        // A later flush has none of its elements.
        if there != Ranges::default() || self.let_go.contains(&value.id()) {
            self.not_kept.get_or_insert(NotKept::OtherValue);
        }
        for operand in value.state().operands.iter().flatten() {
            if let Some(number) = self.numbers.get(&operand.id()) {
                self.lifetimes.fix(*number);
            }
        }
        let number = self.lifetimes.add(value.len(), there, SmallVec::new(), true);
        self.values.push(Some(value.clone()));
        self.numbers.insert(value.id(), number);
        self.made.insert(number, here);
        number
    }

    fn buffer(&mut self, value: &Value, part: BlockPart, tile: Option<&Tile>) -> BufferId {
        let number = self.number(value);
        let CompiledFlush { buffers, .. } = &mut self.flush;
        let id = *self.buffers.entry((number, part.clone())).or_insert_with(|| {
            buffers.push(Buffer { value: number, part, tile: None });
            buffers.len() as BufferId - 1
        });
        if let Some(tile) = tile {
            buffers[id as usize].tile.get_or_insert_with(|| tile.clone());
        }
        id
    }

    fn tile(&mut self, value: &Value, tile: &Tile) -> BufferId {
        self.buffer(value, BlockPart::Tile(tile.number), Some(tile))
    }

    /// The step for a tile of a value begins.
    pub fn begin_step(&mut self, value: &Value, tile: &Tile, rank: usize, has_moved: bool) {
        self.begun = self.len();
        self.named_gone = false;
        let number = self.number(value);
        self.root = self.root(value, number);
        let begin = StepBegin { value: number, tile: tile.clone(), rank, has_moved };
        self.push(Command::Step(Box::new(begin)));
        // Another device has other kernels.
        if rank != 0 || has_moved {
            self.not_kept = Some(NotKept::OtherDevice);
        }
    }

    /// The step is done.
    pub fn end_step(&mut self) {
        let (walks, passes) = (std::mem::take(&mut self.walks), std::mem::take(&mut self.passes));
        self.push(Command::Done { walks, passes });
    }

    /// Forgets the step that was begun, and all that it changed: nothing more may be recorded.
    pub fn give_up_step(&mut self) {
        self.flush.commands.truncate(self.begun);
        self.flush.dead.truncate(self.begun + 1);
        for place in self.made.values_mut() {
            *place = (*place).min(self.begun.saturating_sub(1));
        }
        self.not_kept = Some(NotKept::CompiledAnew);
    }

    /// Blocks for a tile are opened, to be filled.
    pub fn open(&mut self, opened: OpenedBlock, tile: Tile) {
        match opened {
            OpenedBlock::New(values) => {
                let buffers = values.iter().map(|value| self.tile(value, &tile)).collect();
                self.open.push((values, tile));
                self.push(Command::Open(buffers));
            }
            OpenedBlock::Old { value, old, taken } => {
                let (buffer, old) = (self.tile(&value, &tile), self.tile(&old, &tile));
                self.taken.insert(self.flush.buffers[old as usize].value);
                self.open.push((SmallVec::from_iter([value]), tile));
                self.push(Command::OpenOld { buffer, old, taken });
            }
        }
    }

    /// The blocks that were opened last are filled.
    pub fn close(&mut self, device: &mut OpenDevice) {
        self.push(Command::Close);
        let Some((values, tile)) = self.open.pop() else { return };
        for value in values {
            device.flush.promised.insert(value.id(), tile.range.clone());
            let number = self.number(&value);
            let dead = self.lifetimes.computed(number, tile.range.clone());
            self.die(dead);
        }
    }

    /// All kernels of a walk are launched; they compute these values in passing.
    pub fn walked(&mut self, passes: Passes) {
        self.walks += 1;
        for (value, read) in passes.values() {
            if self.is_dead(value.id()) {
                continue;
            }
            let number = self.number(&value);
            self.passes.push((number, read));
        }
    }

    /// Whether the commands so far compute elements of a value.
    pub fn computes(&self, value: ValueId, range: &Range<usize>) -> bool {
        let number = self.numbers.get(&value);
        number.is_some_and(|number| self.lifetimes.has(*number, range.clone()))
    }

    /// Whether the commands so far compute all of a value.
    pub fn is_complete(&self, value: &Value) -> bool {
        self.numbers.get(&value.id()).is_some_and(|number| self.lifetimes.is_complete(*number))
    }

    /// Whether nothing needs a value of the flush any more.
    pub fn is_dead(&self, value: ValueId) -> bool {
        self.numbers.get(&value).is_some_and(|number| self.lifetimes.is_dead(*number))
    }

    /// Whether a value was let go, or its block taken.
    pub fn is_gone(&self, value: &Value) -> bool {
        let number = self.numbers.get(&value.id());
        number.is_some_and(|number| {
            self.lifetimes.is_dead(*number) && !self.deaths.contains_key(number)
        })
    }

    /// Whether a value that nothing needs any more was left out, or some of it.
    pub fn is_missing(&self, value: &Value) -> bool {
        let number = self.numbers.get(&value.id());
        number.is_some_and(|number| {
            self.lifetimes.is_dead(*number) && !self.lifetimes.is_complete(*number)
        })
    }

    /// A tile of a value is not needed any more by the walk that made it.
    pub fn free(&mut self, value: &Value, tile: &Tile) {
        if self.is_dead(value.id()) {
            return;
        }
        let number = self.number(value);
        if !self.lifetimes.is_complete(number) {
            self.lifetimes.lost(number, tile.range.clone());
            let buffer = self.tile(value, tile);
            self.push(Command::Free(buffer));
        } else if self.made.remove(&number).is_some() {
            let dead = self.lifetimes.end(number);
            self.die(dead);
            self.numbers.remove(&value.id());
            self.let_go.insert(value.id());
        }
    }

    /// The step's value, or its tile, is computed in host memory.
    pub fn on_host(&mut self, device: &mut OpenDevice, step: HostStep, value: &Value, tile: &Tile) {
        self.not_kept = Some(NotKept::OnHost);
        let number = self.number(value);
        let one = |range| -> SmallVec<[Range<usize>; 1]> { SmallVec::from_iter([range]) };
        let (command, done) = match step {
            HostStep::Assign(missing) => {
                let done = missing.iter().cloned().collect();
                (HostCommand::Assign(missing), done)
            }
            HostStep::Library(step) => (
                HostCommand::Library(Box::new(self.library(&step))),
                one(step.range(value.shape())),
            ),
            HostStep::Scatter => (HostCommand::Scatter, one(0..value.len())),
            HostStep::WhereTrue => (HostCommand::WhereTrue, one(0..value.len())),
            HostStep::Gather(at) => (HostCommand::Gather(at), one(tile.range.clone())),
        };
        let mut dead: SmallVec<[Number; 2]> = SmallVec::new();
        for range in done {
            device.flush.promised.insert(value.id(), range.clone());
            dead.extend(self.lifetimes.computed(number, range));
        }
        // Others find their operands in the value, and may write in the memory of one that nothing else holds.
        match command {
            HostCommand::Library(_) => {
                self.push(Command::OnHost(Box::new(command)));
                self.die(dead);
            }
            _ => {
                self.die(dead);
                self.push(Command::OnHost(Box::new(command)));
            }
        }
    }

    fn library(&mut self, step: &LibraryStep) -> LibraryCommand {
        let reads = step.reads.iter();
        let reads =
            reads.map(|read| (self.number(&read.value), read.access.clone(), read.space.clone()));
        LibraryCommand {
            reads: reads.collect(),
            whole: step.whole,
            origin: step.origin.clone(),
            extents: step.extents.clone(),
        }
    }

    /// A kernel is launched.
    pub fn launch(&mut self, device: &OpenDevice, launch: LaunchCommand<'_>) {
        let taken = self.operand_to_take(device, &launch);
        let command = self.kernel(launch, taken);
        if let Some((operand, _)) = command.taken {
            let taken = command.operands[operand];
            self.taken.insert(self.flush.buffers[taken as usize].value);
        }
        let written: SmallVec<[BufferId; 2]> = match &command.goes {
            LaunchTarget::Tiles(tiles) => SmallVec::from_slice(tiles),
            LaunchTarget::Open(_) => SmallVec::new(),
        };
        self.push(Command::Kernel(Box::new(command)));
        written.into_iter().for_each(|buffer| self.written(buffer));
    }

    fn kernel(
        &mut self,
        launch: LaunchCommand<'_>,
        taken: Option<(usize, TakenBlock)>,
    ) -> KernelCommand {
        let LaunchCommand { kernel, dests, computes, walk, recut, on_host, .. } = launch;
        let operands = kernel.operands.iter();
        let operands = operands.map(|(value, part)| self.buffer(value, part.clone(), None));
        let operands = operands.collect();
        let mut tiles: SmallVec<[BufferId; 1]> = SmallVec::new();
        let mut places: SmallVec<[(usize, bool); 1]> = SmallVec::new();
        for dest in &dests {
            match dest {
                Destination::Tile { value, tile } => tiles.push(self.tile(value, tile)),
                Destination::Open { number, whole } => places.push((*number, *whole)),
            }
        }
        let goes = match tiles.is_empty() {
            true => LaunchTarget::Open(places),
            false => LaunchTarget::Tiles(tiles),
        };
        let bits = || kernel.params.iter().copied().map(Param::Bits).collect();
        let params = match !self.has_slots || self.not_kept.is_some() || kernel.params.is_empty() {
            true => bits(),
            false => self.scalars().params(walk, &kernel).unwrap_or_else(|| {
                self.has_slots = false;
                let pending = self.values[self.leaves..self.own].iter().flatten();
                self.flush.scalars = Some(scalars(pending).collect());
                bits()
            }),
        };
        for param in &params {
            if let Param::Of(number, _) = param
                && self.lifetimes.is_dead(*number)
            {
                self.name_late(*number);
            }
        }
        let remedy = match on_host {
            Some(step) => Remedy::OnHost(Box::new(self.library(&step))),
            None => recut.map_or(Remedy::Nothing, Remedy::Recut),
        };
        let computes = computes.iter().filter_map(|value| self.numbers.get(value).copied());
        let computes = computes.collect();
        KernelCommand { code: kernel.code.clone(), operands, params, goes, taken, computes, remedy }
    }

    /// The scalar that is all of a walk for a value. A later flush has other values in place of those that are made.
    fn root(&self, value: &Value, number: Number) -> Option<Root> {
        if number as usize >= self.own { None } else { root(value, number) }
    }

    fn scalars(&self) -> FlushScalars<'_> {
        let values = &self.values[..self.own.min(self.values.len())];
        FlushScalars { numbers: &self.numbers, values, root: self.root }
    }

    /// A tile is computed by the last command.
    fn written(&mut self, buffer: BufferId) {
        let Buffer { value, tile, .. } = &self.flush.buffers[buffer as usize];
        let Some(tile) = tile else { return };
        let dead = self.lifetimes.computed(*value, tile.range.clone());
        self.die(dead);
    }

    /// Kernels are launched strip by strip, each for the step of a value; the results that are contracted are not there
    /// afterwards.
    pub fn strips(&mut self, launches: Vec<(&Value, LaunchCommand<'_>)>, strips: &Strips) {
        let kernel = |(value, launch): (&Value, LaunchCommand<'_>)| {
            self.root = self.numbers.get(&value.id()).and_then(|number| self.root(value, *number));
            self.kernel(launch, None)
        };
        let kernels: Vec<KernelCommand> = launches.into_iter().map(kernel).collect();
        let mut written: SmallVec<[BufferId; 8]> = SmallVec::new();
        for (number, kernel) in kernels.iter().enumerate() {
            let LaunchTarget::Tiles(tiles) = &kernel.goes else { continue };
            for (dest, buffer) in tiles.iter().enumerate() {
                let tile = &self.flush.buffers[*buffer as usize].tile;
                let stays = |tile: &Tile| strips.contracted(number, dest, tile).is_none();
                if tile.as_ref().is_some_and(stays) {
                    written.push(*buffer);
                }
            }
        }
        self.push(Command::Repeat(Box::new((kernels, strips.clone()))));
        written.into_iter().for_each(|buffer| self.written(buffer));
    }
}
