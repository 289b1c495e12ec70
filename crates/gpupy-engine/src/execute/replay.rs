//! Replay: the actions of a recipe are done on the values of another flush.
//!
//! The values of a [`ReplayTurn`] are held as long as the rest of the recipe names them. Invariants: each action leaves
//! the values as the planned action did, so that an unfinished replay is planned on from the values that there are; a
//! block is taken only if no handle holds its value beside those that the recipe knows.
//!
//! Not here: where a replay stands (`progress/`), recipes and how they are captured (`schedule/replay/`), when there is
//! one (`evaluate.rs`).

use super::filling::Opened;
use super::strip_launches::Striped;
use crate::blocks::cache::BlockPart;
use crate::execute::evaluate::Engine;
use crate::execute::progress::{ReplayTurn, Replaying};
use crate::graph::value::{Input, Value, ValueKind};
use crate::memory::tiling::Tile;
use crate::schedule::commands::{Command, LaunchCommand};
use crate::schedule::destination::Destination;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::kernels::in_place::TakenOperand;
use crate::schedule::passes::pending_graph::InputSource;
use crate::schedule::program::kernel::Kernel;
use crate::schedule::replay::capture::Capture;
use crate::schedule::replay::recipe::{Action, LaunchTarget, Param, RecordedLaunch, TakenBlock};
use crate::schedule::walk::rematerialisation;
use gpupy_core::{ErrorKind, Result};
use smallvec::SmallVec;

impl ReplayTurn {
    fn value(&self, source: InputSource) -> Option<&Value> {
        match source {
            InputSource::Scalar => None,
            InputSource::Pending(number) => self.values.get(number as usize)?.as_ref(),
            InputSource::Leaf(number) => self.leaves.get(number as usize)?.as_ref(),
        }
    }

    fn pending(&self, number: u32) -> Option<&Value> {
        self.value(InputSource::Pending(number))
    }

    /// Drops values that no later action names.
    fn let_go(&mut self, last: &[InputSource]) {
        for source in last {
            match source {
                InputSource::Scalar => {}
                InputSource::Pending(number) => self.values[*number as usize] = None,
                InputSource::Leaf(number) => self.leaves[*number as usize] = None,
            }
        }
    }

    fn scalar(&self, param: Param) -> Option<u64> {
        match param {
            Param::Bits(bits) => Some(bits),
            Param::Of(number, place) => match &self.pending(number)?.0.kind {
                ValueKind::Expr { inputs, .. } => match inputs.get(place as usize)? {
                    Input::Scalar(scalar) => Some(scalar.bits),
                    Input::Whole(_) | Input::View(..) => None,
                },
                _ => None,
            },
        }
    }

    fn kernel(&self, launched: &RecordedLaunch) -> Option<Kernel> {
        let operands = launched.operands.iter();
        let operands =
            operands.map(|(source, part)| Some((self.value(*source)?.clone(), part.clone())));
        let params = launched.params.iter().map(|param| self.scalar(*param));
        Some(Kernel {
            code: launched.code.clone(),
            operands: operands.collect::<Option<_>>()?,
            params: params.collect::<Option<_>>()?,
        })
    }

    fn dests(&self, launched: &RecordedLaunch) -> Option<SmallVec<[Destination; 1]>> {
        let tile = |(number, tile): &(u32, Tile)| {
            Some(Destination::Tile { value: self.pending(*number)?.clone(), tile: tile.clone() })
        };
        let place = |(number, whole): &(usize, bool)| {
            Some(Destination::Open { number: *number, whole: *whole })
        };
        match &launched.goes {
            LaunchTarget::Tiles(tiles) => tiles.iter().map(tile).collect(),
            LaunchTarget::Open(places) => places.iter().map(place).collect(),
        }
    }

    /// Whether nothing holds a value that is to be taken, or anything between it and its heir, but the pending
    /// operations that the recipe knows of, this, and a kernel's operands.
    fn may_take(&self, taking: &TakenBlock, operands: &[(Value, BlockPart)]) -> bool {
        taking.held.iter().all(|(source, slots)| {
            let Some(value) = self.value(*source) else { return false };
            let own = operands.iter().filter(|(operand, _)| operand.id() == value.id()).count();
            value.is_held_by(slots + own + 1)
        })
    }

    /// The command that an action is on these values; nothing where it cannot be done so.
    fn command(&self, action: &Action, device: &OpenDevice) -> Option<Command> {
        Some(match action {
            Action::Launch(launched) => Command::Launch(Box::new(self.launch(launched, device)?)),
            Action::Open(numbers, tile) => {
                let values = numbers.iter().map(|number| self.pending(*number).cloned());
                Command::Open(values.collect::<Option<_>>()?, tile.clone())
            }
            Action::OpenOld { value, tile, old } => {
                let (value, from) = (self.pending(*value)?, self.value(old.source)?);
                if !self.may_take(old, &[]) || !device.may_take(from, tile) {
                    return None;
                }
                let (value, old) = (value.clone(), from.clone());
                Command::OpenOld { value, old, tile: tile.clone() }
            }
            Action::Close => Command::Close,
            Action::Lose(number, tile) => {
                Command::Lose(self.pending(*number)?.clone(), tile.clone())
            }
            Action::Strips(..) | Action::Step { .. } => return None,
        })
    }

    fn launch(&self, launched: &RecordedLaunch, device: &OpenDevice) -> Option<LaunchCommand> {
        let (kernel, dests) = (self.kernel(launched)?, self.dests(launched)?);
        let mut taken = None;
        if let Some((operand, taking)) = &launched.taken
            && let [Destination::Tile { value: heir, tile }] = &dests[..]
            && let Some((value, _)) = kernel.operands.get(*operand)
            && device.may_take(value, tile)
            && self.may_take(taking, &kernel.operands)
        {
            taken = Some(TakenOperand::of(*operand, value.clone(), heir.clone(), tile.clone()));
        }
        Some(LaunchCommand { kernel, dests, taken, computes: Vec::new() })
    }

    /// The kernels of strips on these values.
    fn strips(&self, launches: &[RecordedLaunch]) -> Option<Vec<Striped>> {
        let kernels = launches.iter().map(|launched| {
            let (kernel, dests) = (self.kernel(launched)?, self.dests(launched)?);
            let tile = |dest| match dest {
                Destination::Tile { value, tile } => Some((value, tile)),
                Destination::Open { .. } => None,
            };
            let tiles = dests.into_iter().map(tile).collect::<Option<_>>()?;
            Some(Striped { kernel, tiles, computes: Vec::new() })
        });
        kernels.collect()
    }
}

impl Engine {
    /// Notes what is done, while a flush is captured.
    pub(super) fn capture(&mut self, note: impl FnOnce(&mut Capture) -> Option<()>) {
        if let Some(capture) = &mut self.captured
            && note(capture).is_none()
        {
            self.captured = None;
        }
    }

    /// Something is done for which a recipe has no word.
    pub(super) fn capture_no_more(&mut self) {
        self.captured = None;
    }

    /// Does what is left of a recipe; true when all of it is done.
    ///
    /// # Errors
    /// - `Interrupted`: the slice is over; it goes on where it stands.
    pub(super) fn replay(&mut self, replaying: &mut Replaying) -> Result<bool> {
        let (mut opened, mut done) = (Opened::default(), Ok(true));
        let (recipe, device) = (replaying.recipe.clone(), replaying.device);
        while let Some(action) = recipe.actions.get(replaying.next) {
            // Not while a block is open.
            self.slice.check()?;
            if let Some(last) = recipe.last.get(replaying.next) {
                replaying.turn.let_go(last);
            }
            done = self.act_again(action, &replaying.turn, &mut opened, device);
            if !matches!(done, Ok(true)) {
                break;
            }
            replaying.next += 1;
        }
        self.not_filled(opened, done.as_ref().err(), device);
        done.or_else(|error| {
            if error.kind() == ErrorKind::DeviceLost {
                self.lose_device(device);
            }
            Ok(false)
        })
    }

    /// Does one action; false where it cannot be done so.
    fn act_again(
        &mut self,
        action: &Action,
        turn: &ReplayTurn,
        opened: &mut Opened,
        device: usize,
    ) -> Result<bool> {
        match action {
            Action::Strips(launches, strips) => {
                let Some(kernels) = turn.strips(launches) else { return Ok(false) };
                self.launch_strips(device, &kernels, strips)?;
            }
            Action::Step { walks, passes } => {
                self.counts[device].plans_replayed += walks;
                self.counts[device].blocks_evaluated += 1;
                self.slice.keep();
                for (number, read) in passes {
                    let Some(value) = turn.pending(*number) else { return Ok(false) };
                    rematerialisation::note(value, read.clone());
                }
            }
            _ => {
                let command = turn.command(action, self.device(device)?);
                let Some(command) = command else { return Ok(false) };
                self.act(command, None, opened, device)?;
            }
        }
        Ok(true)
    }
}
