//! Compilation: the steps of a schedule become commands, before any of them is done.
//!
//! Owns [`Compilation`]. Windows of a long flush are compiled one after another. Invariant: a step is recorded as if
//! those before it were done: what they will have computed counts as there, and what later ones will does not.
//!
//! Not here: which steps there are (`steps/ordering.rs`), their commands (`commands/`), running them (`execute/`).

use super::flush_recorder::FlushRecorder;
use crate::graph::value::{Value, ValueId};
use crate::memory::tiling::Tile;
use crate::schedule::commands::{Commands, kernel_of};
use crate::schedule::destination::Destination;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::kernels::partition::Possible;
use crate::schedule::kernels::walk_kernels::WalkKernels;
use crate::schedule::passes::placement::ValuePlacement;
use crate::schedule::steps::TileStep;
use crate::schedule::steps::ordering::{Failed, Next, Ordered, Schedule, closed};
use crate::schedule::steps::strip_mining::Strips;
use crate::schedule::walk::Needs;
use crate::schedule::walk::rematerialisation::{Passes, Rematerialisation};
use crate::thresholds::T;
use gpupy_core::Result;
use smallvec::{SmallVec, smallvec};
use std::ops::Range;

/// A flush that is being compiled.
pub(crate) struct Compilation {
    pub schedule: Schedule,
    pub recorder: FlushRecorder,
    /// How many steps are recorded, and how many were when steps were last found again.
    recorded: usize,
    found_again: usize,
}

/// How a window ended.
pub(crate) enum WindowEnd {
    /// With the flush.
    All,
    /// More is to come.
    Full,
    /// The tile of a value came otherwise than expected: these are needed first, by a device of this rank.
    Anew { value: Value, tile: Tile, rank: usize, needs: Needs },
    /// Some steps are not done strip by strip after all.
    WithoutStrips,
    /// A tile has no step.
    Failed(Box<Failed>),
}

impl Compilation {
    /// Nothing of what is scheduled is recorded yet.
    pub fn of(schedule: Schedule, recorder: FlushRecorder) -> Compilation {
        Compilation { schedule, recorder, recorded: 0, found_again: 0 }
    }

    /// Whether finding the steps again may help: some were recorded since.
    fn may_find_again(&mut self) -> bool {
        std::mem::replace(&mut self.found_again, self.recorded) != self.recorded
    }

    /// Compiles the next window.
    ///
    /// # Errors
    /// - `DeviceLost`: a device is no longer open.
    pub fn window(
        &mut self,
        devices: &mut [Option<OpenDevice>],
        again: &mut Rematerialisation,
        homes: &ValuePlacement,
    ) -> Result<WindowEnd> {
        while self.recorder.len() < T.window_commands {
            match self.schedule.next(devices, homes) {
                Some(Next::Step(next)) => {
                    if let Some(end) = self.step(devices, homes, *next)? {
                        return Ok(end);
                    }
                }
                Some(Next::Strips(steps, strips)) => {
                    if !self.strips(devices, homes, steps, &strips) {
                        return Ok(WindowEnd::WithoutStrips);
                    }
                }
                None => match self.schedule.look_ahead(devices, again, homes)? {
                    Ok(true) => {}
                    Ok(false) => return Ok(WindowEnd::All),
                    Err(failed) => return Ok(WindowEnd::Failed(Box::new(failed))),
                },
            }
        }
        Ok(WindowEnd::Full)
    }

    /// Records a step; gives the end of the window, where it has to be found anew.
    fn step(
        &mut self,
        devices: &mut [Option<OpenDevice>],
        homes: &ValuePlacement,
        next: Ordered,
    ) -> Result<Option<WindowEnd>> {
        let Ordered { value, tile, rank, step, gives } = next;
        // One before it computes more than it had promised, or what it was for came otherwise.
        let is_computed = self.recorder.computes(value.id(), &tile.range);
        if is_computed || self.recorder.is_dead(value.id()) {
            let is_needed = |(value, range): (ValueId, Range<usize>)| {
                !self.recorder.computes(value, &range) && !self.recorder.is_dead(value)
            };
            if !gives.of_values().any(is_needed) {
                return Ok(None);
            }
            // Something else that was promised with it is needed still.
            if is_computed || self.may_find_again() {
                self.schedule.find_again(devices);
                return Ok(None);
            }
        }
        let position = homes.order.devices[rank];
        let device = devices.get_mut(position).and_then(Option::as_mut).ok_or_else(closed)?;
        let later = device.flush.only_recorded();
        // A step before it may have stored what it would compute, or let go of what it would compute that from, which
        // need not have been computed then.
        let is_missing = step.reads_any(|value| self.recorder.is_missing(value));
        let is_old = is_missing
            || step.is_outdated(device)
            || step.reads_any(|value| self.recorder.is_gone(value));
        if is_old && self.may_find_again() {
            device.flush.and_promised(later);
            self.schedule.find_again(devices);
            return Ok(None);
        }
        if is_missing {
            device.flush.and_promised(later);
            return Ok(Some(WindowEnd::Anew { value, tile, rank, needs: Needs::new() }));
        }
        self.recorder.begin_step(&value, &tile, rank, homes.has_moved(&value));
        let done = self.commands(device, step, &value, &tile);
        device.flush.and_promised(later);
        match done {
            // It was found before something that it computes was stored elsewhere: it is found once more, behind what
            // is compiled.
            Ok(Ok(())) if self.recorder.named_gone => {
                self.recorder.give_up_step();
                Ok(Some(WindowEnd::Anew { value, tile, rank, needs: Needs::new() }))
            }
            Ok(Ok(())) => {
                self.recorder.end_step();
                self.recorded += 1;
                for (value, range) in gives.of_values() {
                    for device in devices.iter_mut().flatten() {
                        device.flush.recorded.insert(value, range.clone());
                    }
                }
                Ok(None)
            }
            Ok(Err(needs)) => {
                self.recorder.give_up_step();
                Ok(Some(WindowEnd::Anew { value, tile, rank, needs }))
            }
            Err(error) => {
                self.recorder.give_up_step();
                Ok(Some(WindowEnd::Failed(Box::new(Failed { error, value, tile, rank }))))
            }
        }
    }

    fn commands(
        &mut self,
        device: &mut OpenDevice,
        step: TileStep,
        value: &Value,
        tile: &Tile,
    ) -> Result<Possible<()>> {
        match Commands::of(device, &self.recorder, step, value, tile)? {
            Ok(commands) => commands.record(device, &mut self.recorder),
            Err(needs) => Ok(Err(needs)),
        }
    }

    /// Records steps that are done strip by strip; false where they cannot be.
    fn strips(
        &mut self,
        devices: &mut [Option<OpenDevice>],
        homes: &ValuePlacement,
        steps: Vec<Ordered>,
        strips: &Strips,
    ) -> bool {
        let Some(first) = steps.first() else { return false };
        let reads_missing =
            |next: &Ordered| next.step.reads_any(|value| self.recorder.is_missing(value));
        if steps.iter().any(reads_missing) {
            return false;
        }
        let (position, has_moved) =
            (homes.order.devices[first.rank], homes.has_moved(&first.value));
        let Some(Some(device)) = devices.get_mut(position) else { return false };
        let (value, tile, rank) = (first.value.clone(), first.tile.clone(), first.rank);
        let mut planned: Vec<(Value, Box<WalkKernels>, SmallVec<[Destination; 1]>)> = Vec::new();
        let mut promised = Vec::new();
        for Ordered { value, tile, step, gives, .. } in steps {
            let dest = |(value, tile)| Destination::Tile { value, tile };
            let (kernels, dests) = match step {
                TileStep::Kernels(kernels) => (kernels, smallvec![dest((value.clone(), tile))]),
                TileStep::Beside { tiles, kernels } => {
                    (kernels, tiles.into_iter().map(dest).collect())
                }
                _ => return false,
            };
            planned.push((value, kernels, dests));
            promised.push(gives);
        }
        let mut passes = Vec::new();
        let mut launches = Vec::new();
        for (value, kernels, dests) in &mut planned {
            passes.push(Passes::of(&kernels.partition.walk, device));
            device.flush.steps.leave_to(&kernels.partition.walk);
            let Some((piece, kernel)) = kernels.next() else { return false };
            let dests = std::mem::take(dests);
            launches.push((&*value, kernel_of(device, kernels, &piece, kernel, dests)));
        }
        self.recorder.begin_step(&value, &tile, rank, has_moved);
        self.recorder.strips(launches, strips);
        for passes in passes {
            self.recorder.walked(passes);
            self.recorder.end_step();
        }
        self.recorded += 1;
        for (value, range) in promised.iter().flat_map(|gives| gives.of_values()) {
            for device in devices.iter_mut().flatten() {
                device.flush.recorded.insert(value, range.clone());
            }
        }
        true
    }
}
