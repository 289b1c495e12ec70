//! Evaluation: tiles of values, one after another, on a device.
//!
//! Owns [`Engine`]: the open devices and the counts. Tiles that another tile needs first go on a stack, so graphs of
//! any depth take a loop. Invariants: a value is marked as computed only after its block is in the cache; a failed
//! launch leaves every value as it was.
//!
//! Not here: choosing drivers (`driver_selection.rs`) and between them (`placement.rs`), where an evaluation stands
//! (`progress/`), the commands of a step (`perform.rs`), launching (`launch.rs`), transfers (`transfer.rs`).

use crate::blocks::streams::Residents;
use crate::execute::progress::attempts::Attempts;
use crate::execute::progress::time_slice::TimeSlice;
use crate::execute::progress::{BegunStep, Replaying, Stage, TilesProgress};
use crate::explain::stats::Stats;
use crate::explain::trace::{Event, subject};
use crate::explain::tracer::Tracer;
use crate::graph::value::Value;
use crate::memory::tiling::Tile;
use crate::schedule::commands::Commands;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::passes::decided::Decided;
use crate::schedule::passes::demand::Demand;
use crate::schedule::passes::pending_graph::PendingGraph;
use crate::schedule::passes::placement::{DeviceOrder, ValuePlacement};
use crate::schedule::replay::capture::Capture;
use crate::schedule::replay::flush_structure;
use crate::schedule::replay::recipe::Recipe;
use crate::schedule::steps::ordering::{Failed, Next, Ordered, Schedule, closed};
use crate::schedule::walk::Needs;
use crate::schedule::walk::rematerialisation::Rematerialisation;
use gpupy_core::memory;
use gpupy_core::{Error, ErrorKind, Result};
use std::sync::Arc;

/// The engine: the open devices, and the counts of their work.
pub(crate) struct Engine {
    /// By position in the registry.
    pub devices: Vec<Option<OpenDevice>>,
    /// The counts of each device, also from before it was closed or lost.
    pub counts: Vec<Stats>,
    /// The counts that belong to no device.
    pub stats: Stats,
    pub slice: TimeSlice,
    /// The external elements that are in host memory.
    pub residents: Residents,
    /// The budget for storing values that would be recomputed.
    pub again: Rematerialisation,
    /// The tracer for work in host memory.
    pub tracer: Tracer,
    /// The decisions of the present evaluation.
    pub decided: Option<Decided>,
    /// Its captured actions, if another flush may repeat them.
    pub captured: Option<Capture>,
    /// Where it stands, after a pause.
    pub stage: Option<Stage>,
    /// How many evaluations were begun, and devices came or went: a paused evaluation goes on where it stood only if
    /// there were no others.
    pub turn: u64,
}

impl Engine {
    /// Makes places for as many drivers.
    pub fn resize(&mut self, drivers: usize) {
        self.devices.resize_with(drivers, || None);
        self.counts.resize_with(drivers, Stats::default);
    }

    pub fn device(&mut self, position: usize) -> Result<&mut OpenDevice> {
        self.device_and_stats(position).map(|(device, _)| device)
    }

    /// Closes a device that is gone: what was only there has to be computed again.
    pub fn lose_device(&mut self, position: usize) {
        self.turn += 1;
        if let Some(mut device) = self.devices.get_mut(position).and_then(Option::take) {
            device.lose_all();
        }
    }

    /// An open device, and what it did.
    pub fn device_and_stats(&mut self, position: usize) -> Result<(&mut OpenDevice, &mut Stats)> {
        let device = self.devices.get_mut(position).and_then(Option::as_mut);
        device.zip(self.counts.get_mut(position)).ok_or_else(closed)
    }

    /// Evaluates the tiles that are asked for on these devices, each where it lives.
    ///
    /// # Errors
    /// - `Interrupted`: the slice is over. Nothing is lost if the evaluation is laid aside and taken up again
    ///   (`progress/`).
    pub fn evaluate(&mut self, demand: &Demand<'_>, order: &DeviceOrder) -> Result<()> {
        let done = self.evaluate_anyhow(demand, order);
        if !done.as_ref().is_err_and(|error| error.kind() == ErrorKind::Interrupted) {
            self.lay_aside();
        }
        done
    }

    /// Goes on after a pause, does what an evaluation of the same structure did, or finds out what there is to do.
    fn evaluate_anyhow(&mut self, demand: &Demand<'_>, order: &DeviceOrder) -> Result<()> {
        let first = order.devices.first().copied().unwrap_or_default();
        let is_done = match self.stage.take() {
            Some(Stage::Replay(replaying)) if replaying.device == first => {
                self.replay_all(replaying, demand)?
            }
            Some(Stage::Tiles(progress))
                if progress.homes.order.devices.first() == Some(&first) =>
            {
                return self.evaluate_tiles(demand, progress);
            }
            _ => false,
        };
        if is_done {
            return Ok(());
        }
        self.turn += 1;
        if self.decided.is_some() {
            // After a pause in which something else was done.
            let progress = self.begun(demand, order);
            return self.evaluate_tiles(demand, progress);
        }
        for (device, stats) in self.devices.iter_mut().zip(&mut self.counts) {
            if let Some(device) = device {
                device.try_more_room(stats);
            }
        }
        let mut below = PendingGraph::of(demand);
        let mut structure = match self.device(first) {
            Ok(device) => flush_structure::structure(demand, &below, device),
            Err(_) => None,
        };
        if let Some(known) = structure.take() {
            match self.device(first).ok().and_then(|device| device.known_recipe(&known)) {
                Some(recipe) => {
                    let replaying = Replaying::of(known, recipe, below, first);
                    if self.replay_all(replaying, demand)? {
                        return Ok(());
                    }
                    below = PendingGraph::of(demand);
                }
                None => structure = Some(known),
            }
        }
        self.decided = Some(Decided::of(demand, &below, &self.devices, order));
        self.captured = structure.map(|structure| Capture::of(structure, demand, below));
        let progress = self.begun(demand, order);
        self.evaluate_tiles(demand, progress)
    }

    /// Does the rest of a recipe; false where something is left to compute.
    ///
    /// # Errors
    /// - `Interrupted`: the slice is over.
    fn replay_all(&mut self, mut replaying: Replaying, demand: &Demand<'_>) -> Result<bool> {
        let is_done = match self.replay(&mut replaying) {
            Ok(is_done) => is_done && demand.is_met(),
            Err(pause) => {
                self.stage = Some(Stage::Replay(replaying));
                return Err(pause);
            }
        };
        let (structure, device) = replaying.ended();
        if is_done {
            self.counts[device].flushes_replayed += 1;
            self.devices.iter_mut().flatten().for_each(|device| device.rest());
        } else if let Ok(device) = self.device(device) {
            device.recipes.remove(&structure);
        }
        Ok(is_done)
    }

    /// Evaluates what is asked for, all of which is on the first of these devices, and gives what was done; nothing
    /// where that cannot be said.
    ///
    /// # Errors
    /// Any of a driver.
    pub fn evaluate_captured(
        &mut self,
        demand: &Demand<'_>,
        order: &DeviceOrder,
        capture: Capture,
    ) -> Result<Option<Recipe>> {
        self.turn += 1;
        let below = PendingGraph::of(demand);
        self.decided = Some(Decided::of(demand, &below, &self.devices, order));
        drop(below);
        self.captured = Some(capture);
        let mut progress = self.begun(demand, order);
        let done = self.do_steps(&mut progress);
        let captured = self.captured.take();
        self.lay_aside();
        done.map(|()| captured.map(|capture| capture.recipe().1))
    }

    /// The beginning of an evaluation by its decisions.
    fn begun(&mut self, demand: &Demand<'_>, order: &DeviceOrder) -> Box<TilesProgress> {
        let Decided { fates, together, others, sides } = self.decided.clone().unwrap_or_default();
        for device in self.devices.iter_mut().flatten() {
            device.begin((&fates, &together, &others), demand.next);
        }
        Box::new(TilesProgress {
            homes: ValuePlacement::new(order, &mut self.devices, &sides),
            schedule: Schedule::of(demand.value, demand.range.clone()),
            attempts: Attempts::default(),
            begun: None,
        })
    }

    /// Does all steps that are left, and keeps the recipe of what was done.
    ///
    /// # Errors
    /// - `Interrupted`: the slice is over; the stage is where it stands.
    fn evaluate_tiles(
        &mut self,
        demand: &Demand<'_>,
        mut progress: Box<TilesProgress>,
    ) -> Result<()> {
        if let Err(error) = self.do_steps(&mut progress) {
            if error.kind() == ErrorKind::Interrupted {
                self.stage = Some(Stage::Tiles(progress));
            }
            return Err(error);
        }
        if let Some(capture) = self.captured.take()
            && demand.is_met()
            && let Some(first) = progress.homes.order.devices.first()
            && let Ok(device) = self.device(*first)
        {
            let (structure, recipe) = capture.recipe();
            device.recipes.insert(structure, Arc::new(recipe));
        }
        Ok(())
    }

    fn do_steps(&mut self, progress: &mut TilesProgress) -> Result<()> {
        loop {
            self.slice.check()?;
            if let Some(begun) = progress.begun.take() {
                self.go_on(begun, progress)?;
                continue;
            }
            match progress.schedule.next(&mut self.devices, &progress.homes) {
                Some(Next::Step(next)) => self.follow(*next, progress)?,
                Some(Next::Strips(steps, strips)) => {
                    if !self.follow_strips(steps, &strips, &progress.homes)? {
                        self.capture_no_more();
                        progress.schedule.without_strips();
                        progress.schedule.begin_anew(&mut self.devices, Needs::new(), 0);
                    }
                }
                None if self.look_ahead(progress)? => {}
                None => break,
            }
        }
        self.devices.iter_mut().flatten().for_each(|device| device.rest());
        Ok(())
    }

    /// Finds the next steps; false if none is left to do.
    ///
    /// # Errors
    /// That of a tile which no device computes.
    fn look_ahead(&mut self, progress: &mut TilesProgress) -> Result<bool> {
        let TilesProgress { schedule, homes, .. } = &mut *progress;
        let found = schedule.look_ahead(&mut self.devices, &mut self.again, homes)?;
        for (device, counts) in self.devices.iter().zip(&mut self.counts) {
            counts.nodes_walked += device.as_ref().map_or(0, |device| device.walked.take());
        }
        match found {
            Ok(true) => {}
            Ok(false) if progress.schedule.is_done() => return Ok(false),
            // A block was lost meanwhile.
            Ok(false) => {
                self.capture_no_more();
                progress.schedule.begin_anew(&mut self.devices, Needs::new(), 0);
            }
            Err(Failed { error, value: of, tile, rank }) => {
                self.capture_no_more();
                self.recover(error, (&of, &tile), rank, &mut progress.homes)?;
                progress.schedule.begin_anew(&mut self.devices, Needs::new(), rank);
            }
        }
        Ok(true)
    }

    /// Begins the next step, and does it.
    ///
    /// # Errors
    /// As of `go_on`.
    fn follow(&mut self, next: Ordered, progress: &mut TilesProgress) -> Result<()> {
        let Ordered { value, tile, rank, step, gives } = next;
        // One before it may have given more than it had promised.
        if value.state().computed.covers(tile.range.clone()) {
            let is_there = gives.is_there();
            return self.follow_up((&value, &tile), rank, Ok(StepOutcome::of(is_there)), progress);
        }
        let position = progress.homes.order.devices[rank];
        self.capture(|capture| if rank == 0 { capture.begin(&value) } else { None });
        let commands = self
            .apart(position, |engine| Commands::of(engine.device(position)?, step, &value, &tile));
        match commands {
            Ok(Ok(commands)) => {
                self.go_on(BegunStep { value, tile, rank, commands, gives }, progress)
            }
            Ok(Err(needs)) => {
                self.follow_up((&value, &tile), rank, Ok(StepOutcome::Otherwise(needs)), progress)
            }
            Err(error) => self.follow_up((&value, &tile), rank, Err(error), progress),
        }
    }

    /// Does the commands of a step that are left.
    ///
    /// # Errors
    /// - `Interrupted`: the slice is over; the step stands in the progress. Any other that nothing can be done about.
    fn go_on(&mut self, mut begun: BegunStep, progress: &mut TilesProgress) -> Result<()> {
        let rank = begun.rank;
        let position = progress.homes.order.devices[rank];
        let done = self.apart(position, |engine| engine.perform(&mut begun.commands, position));
        let outcome = match done {
            Err(error) if error.kind() == ErrorKind::Interrupted => {
                progress.begun = Some(begun);
                return Err(error);
            }
            Err(error) => Err(error),
            Ok(Err(needs)) => Ok(StepOutcome::Otherwise(needs)),
            Ok(Ok(())) => {
                self.counts[position].blocks_evaluated += 1;
                self.capture(Capture::end);
                self.stats.driver_fallbacks += u64::from(progress.homes.has_moved(&begun.value));
                if !self.device(position)?.halos.has(&begun.value) {
                    self.slice.keep();
                }
                Ok(StepOutcome::of(begun.gives.is_there()))
            }
        };
        self.follow_up((&begun.value, &begun.tile), rank, outcome, progress)
    }

    /// Does something for which the promises of later steps are not there.
    fn apart<T>(
        &mut self,
        position: usize,
        done: impl FnOnce(&mut Engine) -> Result<T>,
    ) -> Result<T> {
        let promised = std::mem::take(&mut self.device(position)?.promised);
        let done = done(self);
        if let Ok(device) = self.device(position) {
            device.promised = promised;
        }
        done
    }

    /// Goes on after a step, or plans anew what came otherwise.
    ///
    /// # Errors
    /// That of the step, where nothing can be done about it.
    fn follow_up(
        &mut self,
        (of, tile): (&Value, &Tile),
        rank: usize,
        done: Result<StepOutcome>,
        progress: &mut TilesProgress,
    ) -> Result<()> {
        let TilesProgress { schedule, homes, attempts, .. } = progress;
        let needs = match done {
            Ok(StepOutcome::AsPlanned) => {
                attempts.ended(of, tile);
                return Ok(());
            }
            Ok(StepOutcome::Otherwise(needs)) => {
                self.capture_no_more();
                if let Err(error) = attempts.failed(of, tile, &needs) {
                    self.recover(error, (of, tile), rank, homes)?;
                }
                needs
            }
            Err(error) => {
                self.capture_no_more();
                attempts.ended(of, tile);
                self.recover(error, (of, tile), rank, homes)?;
                Needs::new()
            }
        };
        schedule.begin_anew(&mut self.devices, needs, rank);
        Ok(())
    }

    /// Does what there is to do about a tile that failed at a rank, so that it can be tried again: in
    /// smaller pieces, or elsewhere.
    ///
    /// # Errors
    /// The error, with known facts added, when there is nothing to do.
    fn recover(
        &mut self,
        error: Error,
        (value, tile): (&Value, &Tile),
        rank: usize,
        homes: &mut ValuePlacement,
    ) -> Result<()> {
        let position = homes.order.devices[rank];
        let error = match self.cut_smaller(error, tile.range.len(), position) {
            Ok(()) => return Ok(()),
            Err(error) => error,
        };
        let error = match self.device(position) {
            Ok(device) => {
                let error = error.with_default("driver", device.name);
                let reason = || error.to_string();
                device.tracer.event(|| Event::GaveUp(subject(value), device.name, reason()));
                error
            }
            Err(_) => error,
        };
        if error.kind() == ErrorKind::DeviceLost {
            self.lose_device(position);
        }
        let other_may = match error.kind() {
            _ if memory::is_refusal(&error) => false,
            // What a driver cannot do at all is no failure where another shares its work.
            ErrorKind::Unsupported => homes.order.falls || homes.order.shares,
            ErrorKind::Refused | ErrorKind::OutOfMemory | ErrorKind::DeviceLost => {
                homes.order.falls
            }
            _ => false,
        };
        if other_may && homes.move_on(&mut self.devices, value, rank) { Ok(()) } else { Err(error) }
    }

    /// Cuts values smaller on a device that had no room for one launch, so that it can be tried
    /// again; the error, or a worse one, where that is no help.
    fn cut_smaller(&mut self, error: Error, wanted: usize, device: usize) -> Result<()> {
        // Smaller tiles of a value take as much host memory together.
        if error.kind() != ErrorKind::OutOfMemory || memory::is_refusal(&error) {
            return Err(error);
        }
        let (device, stats) = self.device_and_stats(device)?;
        match device.cut_smaller(wanted, stats)? {
            true => Ok(()),
            false => Err(error),
        }
    }
}

/// How a step was done.
enum StepOutcome {
    AsPlanned,
    /// Not, or not all of it: what follows it has to be found anew, and these first.
    Otherwise(Needs),
}

impl StepOutcome {
    /// Of a step that is done, all of whose elements are there, or not.
    fn of(is_there: bool) -> StepOutcome {
        if is_there { StepOutcome::AsPlanned } else { StepOutcome::Otherwise(Needs::new()) }
    }
}
