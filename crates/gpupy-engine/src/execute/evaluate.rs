//! Evaluation: tiles of values, one after another, on a device.
//!
//! Owns [`Engine`]: the open devices and the counts. Tiles that another tile needs first go on a stack, so graphs of
//! any depth take a loop. Invariants: a value is marked as computed only after its block is in the cache; a failed
//! launch leaves every value as it was.
//!
//! Not here: choosing drivers (`driver_selection.rs`) and between them (`placement.rs`), the commands of a step
//! (`perform.rs`), launching (`launch.rs`), transfers (`transfer.rs`).

use crate::blocks::streams::Residents;
use crate::execute::attempts::Attempts;
use crate::execute::time_slice::TimeSlice;
use crate::explain::stats::Stats;
use crate::explain::trace::{Event, subject};
use crate::explain::tracer::Tracer;
use crate::graph::value::Value;
use crate::memory::tiling::Tile;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::lowering::operation_lowering::LoweredSteps;
use crate::schedule::passes::decided::Decided;
use crate::schedule::passes::flush::Demand;
use crate::schedule::passes::pending_graph::PendingGraph;
use crate::schedule::passes::placement::{DeviceOrder, ValuePlacement};
use crate::schedule::replay::capture::Capture;
use crate::schedule::replay::flush_structure;
use crate::schedule::replay::recipe::Recipe;
use crate::schedule::steps::GivenElements;
use crate::schedule::steps::ordering::{Failed, Next, Ordered, Schedule, closed};
use crate::schedule::walk::Needs;
use crate::schedule::walk::halo::Halos;
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
}

/// The state of a paused evaluation: its decisions, and its facts on each device.
pub(crate) struct Aside {
    decided: Option<Decided>,
    devices: Vec<(Halos, LoweredSteps)>,
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
    /// - `Interrupted`: the slice is over. What was computed is kept; what no value outside holds, until the
    ///   next evaluation ends, unless it is laid aside.
    pub fn evaluate(&mut self, demand: &Demand<'_>, order: &DeviceOrder) -> Result<()> {
        let done = self.evaluate_anyhow(demand, order);
        self.captured = None;
        if !done.as_ref().is_err_and(|error| error.kind() == ErrorKind::Interrupted) {
            self.lay_aside();
        }
        done
    }

    /// What an evaluation that pauses goes on with and nothing else holds: what it decided, and for each device its
    /// halos and the steps of what is expanded there. Others may evaluate meanwhile; whatever they do, what was
    /// decided gives the same elements.
    pub fn lay_aside(&mut self) -> Aside {
        let devices = self.devices.iter_mut().map(Option::as_mut);
        let devices = devices.map(|device| device.map(OpenDevice::lay_aside).unwrap_or_default());
        Aside { decided: self.decided.take(), devices: devices.collect() }
    }

    /// Takes up again what was laid aside, where the device is still open.
    pub fn take_up(&mut self, aside: Aside) {
        self.decided = aside.decided;
        for (device, (halos, steps)) in self.devices.iter_mut().zip(aside.devices) {
            if let Some(device) = device {
                (device.halos, device.steps) = (halos, steps);
            }
        }
    }

    /// Does what an evaluation of the same structure did, or finds out what there is to do.
    fn evaluate_anyhow(&mut self, demand: &Demand<'_>, order: &DeviceOrder) -> Result<()> {
        if self.decided.is_some() {
            // After a pause.
            return self.evaluate_tiles(demand, order);
        }
        for (device, stats) in self.devices.iter_mut().zip(&mut self.counts) {
            if let Some(device) = device {
                device.try_more_room(stats);
            }
        }
        let mut below = PendingGraph::of(demand.wanted());
        let first = order.devices.first().copied().unwrap_or_default();
        let mut structure = match self.device(first) {
            Ok(device) => flush_structure::structure(demand, &below, device),
            Err(_) => None,
        };
        if let Some(known) = &structure
            && let Ok(device) = self.device(first)
            && let Some(recipe) = device.recipes.find(known)
            // A listener is told of planning, too.
            && !device.tracer.listens()
        {
            device.begin_anew();
            if self.replay(&recipe, below, first)? && demand.is_met() {
                self.counts[first].flushes_replayed += 1;
                self.devices.iter_mut().flatten().for_each(|device| device.rest());
                return Ok(());
            }
            if let Ok(device) = self.device(first) {
                device.recipes.remove(known);
            }
            structure = None;
            below = PendingGraph::of(demand.wanted());
        }
        self.decided = Some(Decided::of(demand, &below, &self.devices, order));
        self.captured = structure.map(|structure| Capture::of(structure, demand, below));
        self.evaluate_tiles(demand, order)?;
        if let Some(capture) = self.captured.take()
            && let Ok(device) = self.device(first)
        {
            let (structure, recipe) = capture.recipe();
            device.recipes.insert(structure, Arc::new(recipe));
        }
        Ok(())
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
        let below = PendingGraph::of(demand.wanted());
        self.decided = Some(Decided::of(demand, &below, &self.devices, order));
        drop(below);
        self.captured = Some(capture);
        let done = self.evaluate_tiles(demand, order);
        let captured = self.captured.take();
        self.lay_aside();
        done.map(|()| captured.map(|capture| capture.recipe().1))
    }

    fn evaluate_tiles(&mut self, demand: &Demand<'_>, order: &DeviceOrder) -> Result<()> {
        let value = demand.value;
        let Decided { fates, together, others, sides } = self.decided.clone().unwrap_or_default();
        for device in self.devices.iter_mut().flatten() {
            device.begin((&fates, &together, &others), demand.next);
        }
        let mut homes = ValuePlacement::new(order, &mut self.devices, &sides);
        let mut schedule = Schedule::of(value, demand.range.clone());
        let mut attempts = Attempts::default();
        loop {
            let found = schedule.look_ahead(&mut self.devices, &mut self.again, &homes)?;
            match found {
                Ok(true) => {}
                Ok(false) if schedule.is_done() => break,
                // A block was lost meanwhile.
                Ok(false) => {
                    self.capture_no_more();
                    schedule.begin_anew(&mut self.devices, Needs::new(), 0);
                }
                Err(Failed { error, value: of, tile, rank }) => {
                    self.capture_no_more();
                    self.recover(error, (&of, &tile), rank, &mut homes)?;
                    schedule.begin_anew(&mut self.devices, Needs::new(), rank);
                }
            }
            while let Some(next) = schedule.next(&mut self.devices, &homes) {
                let next = match next {
                    Next::Step(next) => next,
                    Next::Strips(steps, strips) => {
                        if !self.follow_strips(steps, &strips, &homes)? {
                            self.capture_no_more();
                            schedule.without_strips();
                            schedule.begin_anew(&mut self.devices, Needs::new(), 0);
                        }
                        continue;
                    }
                };
                let (of, tile, rank) = (next.value.clone(), next.tile.clone(), next.rank);
                let done = self.follow(*next, &homes);
                if !matches!(done, Ok(StepOutcome::AsPlanned)) {
                    self.capture_no_more();
                }
                match done {
                    Ok(StepOutcome::AsPlanned) => attempts.ended(&of, &tile),
                    Ok(StepOutcome::Otherwise(needs)) => {
                        if let Err(error) = attempts.failed(&of, &tile, &needs) {
                            self.recover(error, (&of, &tile), rank, &mut homes)?;
                        }
                        schedule.begin_anew(&mut self.devices, needs, rank);
                    }
                    Err(error) if error.kind() == ErrorKind::Interrupted => return Err(error),
                    Err(error) => {
                        attempts.ended(&of, &tile);
                        self.recover(error, (&of, &tile), rank, &mut homes)?;
                        schedule.begin_anew(&mut self.devices, Needs::new(), rank);
                    }
                }
            }
        }
        self.devices.iter_mut().flatten().for_each(|device| device.rest());
        Ok(())
    }

    /// Does the next step.
    ///
    /// # Errors
    /// - `Interrupted`: the slice is over.
    fn follow(&mut self, next: Ordered, homes: &ValuePlacement<'_>) -> Result<StepOutcome> {
        let Ordered { value, tile, rank, step, gives } = next;
        let as_planned = |gives: GivenElements| match gives.is_there() {
            true => StepOutcome::AsPlanned,
            false => StepOutcome::Otherwise(Needs::new()),
        };
        // One before it may have given more than it had promised.
        if value.state().computed.covers(tile.range.clone()) {
            return Ok(as_planned(gives));
        }
        self.slice.check()?;
        let position = homes.order.devices[rank];
        // What steps behind it give is not there for walks that are made while it is done.
        let promised = std::mem::take(&mut self.device(position)?.promised);
        self.capture(|capture| if rank == 0 { capture.begin(&value) } else { None });
        let done = self.perform(step, &value, &tile, position);
        if let Ok(device) = self.device(position) {
            device.promised = promised;
        }
        if let Err(needs) = done? {
            return Ok(StepOutcome::Otherwise(needs));
        }
        self.counts[position].blocks_evaluated += 1;
        self.capture(Capture::end);
        self.stats.driver_fallbacks += u64::from(homes.has_moved(&value));
        if !self.device(position)?.halos.has(&value) {
            self.slice.keep();
        }
        Ok(as_planned(gives))
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
        homes: &mut ValuePlacement<'_>,
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
