//! Replay: what a recipe says is done, on the values of another flush.
//!
//! Owns the [`Turn`]: the values, as long as what is left of the recipe names them. Invariants: each action leaves the
//! values as the same action does that was planned, so that what a replay does not finish is planned from what is there;
//! a block is taken only if nothing holds its value that the recipe does not know.
//!
//! Not here: recipes and how they come about (`schedule/replay/`), when there is one (`evaluate.rs`).

use super::filling::Filling;
use super::strips::Striped;
use crate::blocks::cache::Part;
use crate::execute::evaluate::Engine;
use crate::graph::value::{Input, Kind, Value};
use crate::memory::tiling::Tile;
use crate::schedule::again;
use crate::schedule::below::{Below, Source};
use crate::schedule::destination::Destination;
use crate::schedule::in_place::Taken;
use crate::schedule::program::kernel::Kernel;
use crate::schedule::replay::capture::Capture;
use crate::schedule::replay::recipe::{Action, Goes, Launched, Param, Recipe, Taking};
use gpupy_core::{ErrorKind, Result};
use smallvec::SmallVec;

/// The values of a flush that is replayed.
struct Turn {
    values: Vec<Option<Value>>,
    leaves: Vec<Option<Value>>,
    /// The blocks that are being filled.
    filling: Option<Filling>,
}

impl Turn {
    fn value(&self, source: Source) -> Option<&Value> {
        match source {
            Source::Scalar => None,
            Source::Pending(number) => self.values.get(number as usize)?.as_ref(),
            Source::Leaf(number) => self.leaves.get(number as usize)?.as_ref(),
        }
    }

    fn pending(&self, number: u32) -> Option<&Value> {
        self.value(Source::Pending(number))
    }

    /// Lets go of what nothing names any more.
    fn let_go(&mut self, last: &[Source]) {
        for source in last {
            match source {
                Source::Scalar => {}
                Source::Pending(number) => self.values[*number as usize] = None,
                Source::Leaf(number) => self.leaves[*number as usize] = None,
            }
        }
    }

    fn scalar(&self, param: Param) -> Option<u64> {
        match param {
            Param::Bits(bits) => Some(bits),
            Param::Of(number, place) => match &self.pending(number)?.0.kind {
                Kind::Expr { inputs, .. } => match inputs.get(place as usize)? {
                    Input::Scalar(scalar) => Some(scalar.bits),
                    Input::Whole(_) | Input::View(..) => None,
                },
                _ => None,
            },
        }
    }

    fn kernel(&self, launched: &Launched) -> Option<Kernel> {
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

    fn dests(&self, launched: &Launched) -> Option<SmallVec<[Destination; 1]>> {
        let tile = |(number, tile): &(u32, Tile)| {
            Some(Destination::Tile { value: self.pending(*number)?.clone(), tile: tile.clone() })
        };
        match &launched.goes {
            Goes::Tiles(tiles) => tiles.iter().map(tile).collect(),
            Goes::Open(places) => {
                let filling = self.filling.as_ref()?;
                let dests = places.iter().zip(&launched.code.dests);
                let dest = |((place, whole), access): (&(usize, bool), &_)| {
                    let block = *filling.blocks.get(*place)?;
                    Some(Destination::Block { block, access: Clone::clone(access), whole: *whole })
                };
                dests.map(dest).collect()
            }
        }
    }

    /// Whether nothing holds a value that is to be taken, or anything between it and its heir, but the pending operations
    /// that the recipe knows of, this, and a kernel's operands.
    fn may_take(&self, taking: &Taking, operands: &[(Value, Part)]) -> bool {
        taking.held.iter().all(|(source, slots)| {
            let Some(value) = self.value(*source) else { return false };
            let own = operands.iter().filter(|(operand, _)| operand.id() == value.id()).count();
            value.is_held_by(slots + own + 1)
        })
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

    /// Does what a recipe says on a device; true when all of it is done.
    ///
    /// # Errors
    /// - `Interrupted`: the slice is over. What was computed is kept.
    pub(super) fn replay(&mut self, recipe: &Recipe, below: Below, device: usize) -> Result<bool> {
        let some = |values: Vec<Value>| values.into_iter().map(Some).collect();
        let Below { values, leaves, .. } = below;
        let mut turn = Turn { values: some(values), leaves: some(leaves), filling: None };
        let mut done = Ok(true);
        for (action, last) in recipe.actions.iter().zip(&recipe.last) {
            turn.let_go(last);
            done = self.act(action, &mut turn, device);
            if !matches!(done, Ok(true)) {
                break;
            }
        }
        if let Some(filling) = turn.filling.take() {
            self.slice.hold(false);
            self.not_filled(filling, done.as_ref().err(), device);
        }
        match done {
            Err(error) if error.kind() == ErrorKind::Interrupted => Err(error),
            Err(error) => {
                if error.kind() == ErrorKind::DeviceLost {
                    self.lose_device(device);
                }
                Ok(false)
            }
            done => done,
        }
    }

    /// Does one action; false where it cannot be done so.
    fn act(&mut self, action: &Action, turn: &mut Turn, device: usize) -> Result<bool> {
        match action {
            Action::Launch(launched) => self.launch_again(launched, turn, device),
            Action::Strips(launches, strips) => {
                self.slice.check()?;
                let kernels = launches.iter().map(|launched| {
                    let (kernel, dests) = (turn.kernel(launched)?, turn.dests(launched)?);
                    match <[Destination; 1]>::try_from(dests.into_vec()) {
                        Ok([Destination::Tile { value, tile }]) => {
                            Some(Striped { kernel, value, tile, computes: Vec::new() })
                        }
                        _ => None,
                    }
                });
                let Some(kernels) = kernels.collect::<Option<Vec<_>>>() else { return Ok(false) };
                self.launch_strips(device, &kernels, strips)?;
                Ok(true)
            }
            Action::Open(numbers, tile) => {
                self.slice.check()?;
                let values = numbers.iter().map(|number| turn.pending(*number).cloned());
                let Some(values) = values.collect::<Option<SmallVec<[Value; 4]>>>() else {
                    return Ok(false);
                };
                turn.filling = Some(self.fill_new(&values, tile, device)?);
                // What is in the blocks would be lost in a pause.
                self.slice.hold(true);
                Ok(true)
            }
            Action::OpenOld { value, tile, old } => {
                self.slice.check()?;
                let (heir, from) = (turn.pending(*value), turn.value(old.source));
                let (Some(heir), Some(from)) = (heir, from) else { return Ok(false) };
                if !turn.may_take(old, &[]) || !self.device(device)?.may_take(from, tile) {
                    return Ok(false);
                }
                turn.filling = Some(self.fill_old(heir, from.clone(), tile, device)?);
                self.slice.hold(true);
                Ok(true)
            }
            Action::Close => {
                if let Some(filling) = turn.filling.take() {
                    self.slice.hold(false);
                    self.filled(filling, device)?;
                    self.slice.keep();
                }
                Ok(true)
            }
            Action::Lose(number, tile) => {
                if let Some(value) = turn.pending(*number) {
                    self.device(device)?.lose(value, tile);
                }
                Ok(true)
            }
            Action::Step { walks, passes } => {
                self.counts[device].plans_replayed += walks;
                self.counts[device].blocks_evaluated += 1;
                for (number, read) in passes {
                    let Some(value) = turn.pending(*number) else { return Ok(false) };
                    again::note(value, read.clone());
                }
                Ok(true)
            }
        }
    }

    fn launch_again(&mut self, launched: &Launched, turn: &Turn, device: usize) -> Result<bool> {
        self.slice.check()?;
        let (kernel, dests) = (turn.kernel(launched), turn.dests(launched));
        let (Some(kernel), Some(dests)) = (kernel, dests) else { return Ok(false) };
        let mut taken = None;
        if let Some((operand, taking)) = &launched.taken
            && let [Destination::Tile { value: heir, tile }] = &dests[..]
            && let Some((value, _)) = kernel.operands.get(*operand)
            && self.device(device)?.may_take(value, tile)
            && turn.may_take(taking, &kernel.operands)
        {
            taken = Some(Taken::of(*operand, value.clone(), heir.clone(), tile.clone()));
        }
        self.launch(device, &kernel, &dests, taken, Vec::new())?;
        Ok(true)
    }
}
