//! Running a compiled flush: its commands are done on values, one after another.
//!
//! It is one executor for flushes that were compiled just now and for those that were kept. Values are held as long as
//! the rest of the commands names them. Invariants: each command leaves the values as if it had been the only plan, so
//! that the rest of a flush may be compiled anew from the values that there are; a block is written in place only if
//! nothing holds its value beside what the flush knows of, which is asked again here, as handles may have come since.
//!
//! Not here: what is done about a failure (`evaluate.rs`), one launch (`launch.rs`), blocks that are filled
//! (`filling.rs`).

use super::filling::Opened;
use super::launch::Launching;
use super::strip_launches::Striped;
use crate::blocks::cache::BlockPart;
use crate::execute::evaluate::Engine;
use crate::execute::progress::{RunEnd, Running};
use crate::graph::value::{Input, Value, ValueKind};
use crate::memory::tiling::Tile;
use crate::schedule::compiled::command::{
    Buffer, BufferId, Command, HostCommand, KernelCommand, LaunchTarget, LibraryCommand, Number,
    Param, Remedy, StepBegin, TakenBlock,
};
use crate::schedule::compiled::launch_sequence::LaunchSequence;
use crate::schedule::destination::Destination;
use crate::schedule::kernels::in_place::TakenOperand;
use crate::schedule::passes::placement::DeviceOrder;
use crate::schedule::program::kernel::Kernel;
use crate::schedule::steps::{LibraryOperand, LibraryStep};
use crate::schedule::walk::rematerialisation;
use gpupy_core::{Error, ErrorKind, Result, memory};
use smallvec::SmallVec;

/// What kept a command from being done.
pub(super) enum Stop {
    Otherwise,
    Failed(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        Stop::Failed(error)
    }
}

/// A command's part that is not there makes it impossible.
pub(super) type Found<T> = std::result::Result<T, Stop>;

impl Running {
    pub(super) fn value(&self, number: Number) -> Found<&Value> {
        self.values.get(number as usize).and_then(Option::as_ref).ok_or(Stop::Otherwise)
    }

    fn buffer(&self, buffer: BufferId) -> &Buffer {
        &self.flush.buffers[buffer as usize]
    }

    /// The part of a value that a buffer is.
    pub(super) fn part(&self, buffer: BufferId) -> Found<(&Value, &BlockPart)> {
        let Buffer { value, part, .. } = self.buffer(buffer);
        Ok((self.value(*value)?, part))
    }

    /// The tile of a value that a buffer is.
    pub(super) fn tile(&self, buffer: BufferId) -> Found<(Value, &Tile)> {
        let Buffer { value, tile, .. } = self.buffer(buffer);
        Ok((self.value(*value)?.clone(), tile.as_ref().ok_or(Stop::Otherwise)?))
    }

    /// Drops the values that no later command needs.
    pub(super) fn let_go(&mut self) {
        for number in &self.flush.dead[self.next] {
            if let Some(value) = self.values.get_mut(*number as usize) {
                *value = None;
            }
        }
    }

    pub(super) fn param(&self, param: Param) -> Found<u64> {
        match param {
            Param::Bits(bits) => Ok(bits),
            Param::Of(number, place) => match &self.value(number)?.0.kind {
                ValueKind::Expr { inputs, .. } => match inputs.get(place as usize) {
                    Some(Input::Scalar(scalar)) => Ok(scalar.bits),
                    _ => Err(Stop::Otherwise),
                },
                _ => Err(Stop::Otherwise),
            },
        }
    }

    fn kernel(&self, command: &KernelCommand) -> Found<Kernel> {
        let operand = |buffer: &BufferId| {
            let Buffer { value, part, .. } = self.buffer(*buffer);
            Ok((self.value(*value)?.clone(), part.clone()))
        };
        let params = command.params.iter().map(|param| self.param(*param));
        Ok(Kernel {
            code: command.code.clone(),
            operands: command.operands.iter().map(operand).collect::<Found<_>>()?,
            params: params.collect::<Found<_>>()?,
        })
    }

    fn dests(&self, goes: &LaunchTarget) -> Found<SmallVec<[Destination; 1]>> {
        let tile = |buffer: &BufferId| {
            let (value, tile) = self.tile(*buffer)?;
            Ok(Destination::Tile { value, tile: tile.clone() })
        };
        match goes {
            LaunchTarget::Tiles(tiles) => tiles.iter().map(tile).collect(),
            LaunchTarget::Open(places) => {
                let open = |(number, whole): &(usize, bool)| Destination::Open {
                    number: *number,
                    whole: *whole,
                };
                Ok(places.iter().map(open).collect())
            }
        }
    }

    /// Whether nothing holds a value that is to be taken, or anything between it and its heir, but the pending
    /// operations that the flush knows of, this, and a kernel's operands; and so many more handles of the taken one.
    fn may_take(
        &self,
        taking: &TakenBlock,
        operands: &[(Value, BlockPart)],
        of_taken: usize,
    ) -> bool {
        let last = taking.held.len() - 1;
        taking.held.iter().enumerate().all(|(place, (number, slots))| {
            let Ok(value) = self.value(*number) else { return false };
            let own = operands.iter().filter(|(operand, _)| operand.id() == value.id()).count();
            let more = if place == last { of_taken } else { 0 };
            value.is_held_by(slots + own + more + 1)
        })
    }

    /// Finds the values on the way from a taken one to its heir again.
    fn leave(&self, taking: &TakenBlock) {
        let values = taking.held.iter().filter_map(|(number, _)| self.value(*number).ok());
        values.for_each(Value::is_left);
    }

    /// Finds what was to be taken in a sequence again.
    pub(super) fn leave_all(&self, sequence: &LaunchSequence) {
        let values = sequence.held.iter().filter_map(|(number, _)| self.value(*number).ok());
        values.for_each(Value::is_left);
    }

    /// Whether the tile of a step is still to be computed.
    pub(super) fn is_pending(&self, begin: &StepBegin) -> bool {
        let range = begin.tile.range.clone();
        self.value(begin.value).is_ok_and(|value| !value.state().computed.covers(range))
    }

    /// The values that a kernel computes.
    fn computes(&self, command: &KernelCommand) -> Vec<u64> {
        let values = command.computes.iter().filter_map(|number| self.value(*number).ok());
        values.map(Value::id).collect()
    }

    fn library(&self, command: &LibraryCommand) -> Found<LibraryStep> {
        let LibraryCommand { whole, origin, extents, reads } = command;
        let operand = |(number, access, space): &(Number, _, _)| {
            let (value, access) = (self.value(*number)?.clone(), Clone::clone(access));
            Ok(LibraryOperand { value, access, space: Clone::clone(space) })
        };
        let reads = reads.iter().map(operand).collect::<Found<_>>()?;
        let (origin, extents) = (origin.clone(), extents.clone());
        Ok(LibraryStep { whole: *whole, origin, extents, reads, is_on_host: true })
    }

    /// The kernels of strips on these values.
    fn strips(&self, commands: &[KernelCommand]) -> Found<Vec<Striped>> {
        let striped = |command: &KernelCommand| {
            let (kernel, dests) = (self.kernel(command)?, self.dests(&command.goes)?);
            let tile = |dest| match dest {
                Destination::Tile { value, tile } => Ok((value, tile)),
                Destination::Open { .. } => Err(Stop::Otherwise),
            };
            let tiles = dests.into_iter().map(tile).collect::<Found<_>>()?;
            Ok(Striped { kernel, tiles, computes: self.computes(command) })
        };
        commands.iter().map(striped).collect()
    }

    /// The present step.
    fn begin(&self) -> Option<&StepBegin> {
        match self.flush.commands.get(self.step) {
            Some(Command::Step(begin)) => Some(begin),
            _ => None,
        }
    }

    /// Whether another evaluation computed all that the present step writes, so that it may be left out.
    fn is_computed_meanwhile(&self, begin: &StepBegin) -> bool {
        let covers = |value: Found<&Value>, tile: &Tile| {
            value.is_ok_and(|value| value.state().computed.covers(tile.range.clone()))
        };
        if !covers(self.value(begin.value), &begin.tile) {
            return false;
        }
        let is_there = |buffer: &BufferId| {
            let Buffer { value, tile, .. } = self.buffer(*buffer);
            tile.as_ref().is_none_or(|tile| covers(self.value(*value), tile))
        };
        let step = self.flush.commands[self.step..].iter();
        step.take_while(|command| !matches!(command, Command::Done { .. })).all(|command| {
            match command {
                Command::Kernel(kernel) => match &kernel.goes {
                    LaunchTarget::Tiles(tiles) => tiles.iter().all(is_there),
                    LaunchTarget::Open(_) => true,
                },
                Command::Open(buffers) => buffers.iter().all(is_there),
                Command::OpenOld { buffer, .. } => is_there(buffer),
                Command::Repeat(..) => false,
                _ => true,
            }
        })
    }
}

impl Engine {
    /// Does the commands that are left.
    ///
    /// # Errors
    /// - `Interrupted`: the slice is over; it goes on where it stands.
    pub(super) fn run(&mut self, running: &mut Running, order: &DeviceOrder) -> Result<RunEnd> {
        let mut opened = Opened::default();
        while running.next < running.flush.commands.len() {
            let is_part =
                |command: &Command| matches!(command, Command::Free(_) | Command::Done { .. });
            if opened.is_empty() && !is_part(&running.flush.commands[running.next]) {
                self.slice.check()?;
            }
            running.let_go();
            if opened.is_empty()
                && let Some((sequence, position)) = self.sequence(running, order)
            {
                match self.launch_sequence(running, &sequence, position) {
                    Ok(true) => {
                        self.slice.moved();
                        continue;
                    }
                    Ok(false) => {}
                    Err(stop) => return Ok(self.stopped(stop, running, opened, order)),
                }
            }
            if let Err(stop) = self.act(running, &mut opened, order) {
                return Ok(self.stopped(stop, running, opened, order));
            }
            if running.flush.commands[running.next].is_work() {
                self.slice.moved();
                running.has_worked = true;
            }
            running.next += 1;
        }
        running.let_go();
        Ok(RunEnd::Done)
    }

    /// A command was not done: what was begun is given up.
    fn stopped(
        &mut self,
        stop: Stop,
        running: &Running,
        opened: Opened,
        order: &DeviceOrder,
    ) -> RunEnd {
        let Some(StepBegin { value, tile, rank, .. }) = running.begin() else {
            return RunEnd::Otherwise;
        };
        let error = match stop {
            Stop::Otherwise => None,
            Stop::Failed(error) => Some(error),
        };
        self.not_filled(opened, error.as_ref(), order.devices[*rank]);
        match (error, running.value(*value)) {
            (Some(error), Ok(value)) => {
                let (value, tile) = (value.clone(), tile.clone());
                RunEnd::Failed { error, value, tile, rank: *rank }
            }
            _ => RunEnd::Otherwise,
        }
    }

    /// Does the next command.
    fn act(
        &mut self,
        running: &mut Running,
        opened: &mut Opened,
        order: &DeviceOrder,
    ) -> Found<()> {
        let flush = running.flush.clone();
        if let Command::Step(begin) = &flush.commands[running.next] {
            running.step = running.next;
            if running.is_computed_meanwhile(begin) {
                let rest = flush.commands[running.step..].iter();
                let is_done = |command: &Command| matches!(command, Command::Done { .. });
                let behind = rest.take_while(|command| !is_done(command)).count();
                for _ in 0..behind {
                    running.next += 1;
                    running.let_go();
                }
            }
            return Ok(());
        }
        let device = order.devices[running.begin().map_or(0, |begin| begin.rank)];
        match &flush.commands[running.next] {
            Command::Step(_) => {}
            Command::Kernel(command) => self.act_kernel(command, running, opened, device)?,
            Command::Repeat(repeat) => {
                let (commands, strips) = &**repeat;
                let kernels = running.strips(commands)?;
                self.launch_strips(device, &kernels, strips)?;
            }
            Command::Open(buffers) => {
                let tiles = buffers.iter().map(|buffer| running.tile(*buffer));
                let tiles = tiles.collect::<Found<SmallVec<[(Value, &Tile); 1]>>>()?;
                let Some(tile) = tiles.first().map(|(_, tile)| (*tile).clone()) else {
                    return Ok(());
                };
                let values: SmallVec<[Value; 1]> =
                    tiles.into_iter().map(|(value, _)| value).collect();
                self.open(opened, &values, &tile, device)?;
            }
            Command::OpenOld { buffer, old, taken } => {
                let from = running.value(running.buffer(*old).value)?;
                let (value, tile) = running.tile(*buffer)?;
                let may_take = self.device(device)?.may_take(from, tile);
                if !may_take || !running.may_take(taken, &[], 0) {
                    running.leave(taken);
                    return Err(Stop::Otherwise);
                }
                let old = from.clone();
                self.open_old(opened, &value, old, tile, device)?;
            }
            Command::Close => self.close(opened, device)?,
            Command::Free(buffer) => {
                let (value, tile) = running.tile(*buffer)?;
                self.device(device)?.lose(&value, tile);
            }
            Command::OnHost(command) => self.act_on_host(command, running, device)?,
            Command::Done { walks, passes } => {
                let has_moved = running.begin().is_some_and(|begin| begin.has_moved);
                self.stats.driver_fallbacks += u64::from(has_moved);
                let counts = &mut self.counts[device];
                counts.blocks_evaluated += 1;
                counts.plans_replayed += if running.is_replay { u64::from(*walks) } else { 0 };
                for (number, read) in passes {
                    if let Ok(value) = running.value(*number) {
                        rematerialisation::note(value, read.clone());
                    }
                }
            }
        }
        Ok(())
    }

    fn act_kernel(
        &mut self,
        command: &KernelCommand,
        running: &Running,
        opened: &mut Opened,
        device: usize,
    ) -> Found<()> {
        let (kernel, dests) = (running.kernel(command)?, running.dests(&command.goes)?);
        let mut taken = None;
        if let Some((operand, taking)) = &command.taken {
            let [Destination::Tile { value: heir, tile }] = &dests[..] else {
                return Err(Stop::Otherwise);
            };
            let value = kernel.operands[*operand].0.clone();
            if !self.device(device)?.may_take(&value, tile) {
                return Err(Stop::Otherwise);
            }
            // From here on another handle of the heir finds no operand in it.
            let taking_it = TakenOperand::of(*operand, value, heir.clone(), tile.clone());
            if !running.may_take(taking, &kernel.operands, 1) {
                taking_it.give_back();
                running.leave(taking);
                return Err(Stop::Otherwise);
            }
            taken = Some(taking_it);
        }
        let computes = running.computes(command);
        let launching = Launching { kernel, dests, taken, computes };
        let Err(error) = self.launch(device, launching, opened.blocks()) else { return Ok(()) };
        if let Some((_, taking)) = &command.taken {
            running.leave(taking);
        }
        let is_cramped = error.kind() == ErrorKind::OutOfMemory && !memory::is_refusal(&error);
        match &command.remedy {
            Remedy::OnHost(library) if is_cramped => {
                let Some(begin) = running.begin() else { return Err(Stop::Failed(error)) };
                let step = running.library(library)?;
                Ok(self.whole_on_host(running.value(begin.value)?, &step)?)
            }
            Remedy::Recut(recut) => {
                let device = self.device(device)?;
                let is_several = command.code.program.operation_count()
                    + command.code.program.reductions().count()
                    > 1;
                // Pieces that read less may find room: less is known to be there than when the walk was cut.
                if is_several && is_cramped && device.lacked() != recut.room {
                    return Err(Stop::Otherwise);
                }
                if !recut.helps(&error, is_cramped) {
                    return Err(Stop::Failed(error));
                }
                device.refusals.note(&command.code, &error);
                Err(Stop::Otherwise)
            }
            _ => Err(Stop::Failed(error)),
        }
    }

    fn act_on_host(
        &mut self,
        command: &HostCommand,
        running: &Running,
        device: usize,
    ) -> Found<()> {
        let Some(StepBegin { value, tile, .. }) = running.begin() else {
            return Err(Stop::Otherwise);
        };
        let value = running.value(*value)?;
        match command {
            HostCommand::Assign(missing) => self.assign_on_host(value, missing, tile)?,
            HostCommand::Library(library) => {
                self.whole_on_host(value, &running.library(library)?)?;
            }
            HostCommand::Scatter => self.scatter(value, device)?,
            HostCommand::WhereTrue => self.where_true(value)?,
            HostCommand::Gather(at) => self.gather_on_host(value, at, tile)?,
        }
        Ok(())
    }
}
