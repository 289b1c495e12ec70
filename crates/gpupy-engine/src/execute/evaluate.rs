//! Evaluation: what is asked for is compiled, and run, window by window.
//!
//! Owns [`Engine`]: the open devices and the counts. Where a command fails, or something came between, what is left is
//! compiled anew under tighter limits. Invariants: a value is marked as computed only after its block is in the cache;
//! a failed launch leaves every value as it was.
//!
//! Not here: choosing drivers (`driver_selection.rs`) and between them (`placement.rs`), where an evaluation stands
//! (`progress/`), compiling (`schedule/compiled/`), the commands (`run_commands.rs`).

use crate::blocks::streams::Residents;
use crate::execute::progress::attempts::Attempts;
use crate::execute::progress::time_slice::TimeSlice;
use crate::execute::progress::{Aside, Progress, RunEnd, Running};
use crate::explain::not_kept::NotKept;
use crate::explain::stats::Stats;
use crate::explain::trace::{Event, subject};
use crate::explain::tracer::Tracer;
use crate::graph::value::Value;
use crate::memory::tiling::Tile;
use crate::schedule::compiled::compilation::{Compilation, WindowEnd};
use crate::schedule::compiled::compiled_flush::CompiledFlush;
use crate::schedule::compiled::flush_key;
use crate::schedule::compiled::flush_recorder::FlushRecorder;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::passes::decided::Decided;
use crate::schedule::passes::demand::Demand;
use crate::schedule::passes::flush_windows::FlushWindows;
use crate::schedule::passes::pending_graph::PendingGraph;
use crate::schedule::passes::placement::{DeviceOrder, ValuePlacement};
use crate::schedule::steps::ordering::{Failed, Schedule, closed};
use crate::schedule::walk::Needs;
use crate::schedule::walk::rematerialisation::Rematerialisation;
use crate::thresholds::T;
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
    /// Where the present evaluation stands, after a pause.
    pub progress: Option<Box<Progress>>,
    /// The windows that are left of it.
    pub windows: Option<FlushWindows>,
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
    /// - `Interrupted`: the slice is over. Nothing is lost if the evaluation is laid aside and taken up again.
    pub fn evaluate(&mut self, demand: &Demand<'_>, order: &DeviceOrder) -> Result<()> {
        let mut below = None;
        let mut windows = self.windows.take().unwrap_or_else(|| {
            let (windows, all) = self.cut(demand, order);
            below = all;
            windows
        });
        let mut done = Ok(());
        while done.is_ok()
            && let Some(next) = windows.present().and_then(Demand::first_of)
        {
            done = self.evaluate_window(&Demand { is_window: true, ..next }, None, order);
            if done.is_ok() {
                windows.computed();
            }
        }
        let may_end = demand.in_windows && windows.are_any;
        let done = if may_end {
            done
        } else {
            done.and_then(|()| self.evaluate_window(demand, below, order))
        };
        let is_paused = |error: &Error| error.kind() == ErrorKind::Interrupted;
        self.windows = done.as_ref().err().is_some_and(is_paused).then_some(windows);
        done
    }

    /// The windows of a flush that none is begun of; without any, the graph that was looked at.
    pub(super) fn cut(
        &self,
        demand: &Demand<'_>,
        order: &DeviceOrder,
    ) -> (FlushWindows, Option<PendingGraph>) {
        let first = order.devices.first().and_then(|first| self.devices.get(*first)?.as_ref());
        let Some(device) = first else { return (FlushWindows::default(), None) };
        let below = PendingGraph::of(demand);
        let windows = FlushWindows::of(demand, &below, device);
        let below = (!windows.are_any).then_some(below);
        (windows, below)
    }

    /// Evaluates one window of a flush, whose graph may be known.
    fn evaluate_window(
        &mut self,
        demand: &Demand<'_>,
        below: Option<PendingGraph>,
        order: &DeviceOrder,
    ) -> Result<()> {
        let first = order.devices.first();
        let mut progress = match self.progress.take() {
            Some(progress) if progress.homes.order.devices.first() == first => progress,
            _ => self.begun(demand, below, order, false),
        };
        let done = self.go_on(&mut progress, demand);
        match &done {
            Err(error) if error.kind() == ErrorKind::Interrupted => self.progress = Some(progress),
            _ => self.forget_flush(),
        }
        done
    }

    /// Evaluates what is asked for, all of which is on the first of these devices, and gives what was done; nothing
    /// where that is no one window of commands.
    ///
    /// # Errors
    /// Any of a driver.
    pub fn evaluate_exactly(
        &mut self,
        demand: &Demand<'_>,
        order: &DeviceOrder,
    ) -> Result<Option<Arc<CompiledFlush>>> {
        let mut progress = self.begun(demand, None, order, true);
        let done = self.go_on(&mut progress, demand);
        self.forget_flush();
        done.map(|()| progress.whole)
    }

    /// Lays aside where the present evaluation stands, so that others may evaluate.
    pub fn lay_aside(&mut self) -> Aside {
        let devices = self.devices.iter_mut().map(Option::as_mut);
        let facts = devices.map(|device| device.map(|d| std::mem::take(&mut d.flush)));
        let facts = facts.map(Option::unwrap_or_default).collect();
        Aside { facts, progress: self.progress.take(), windows: self.windows.take() }
    }

    /// Takes up again what was laid aside.
    pub fn take_up(&mut self, aside: Aside) {
        self.progress = aside.progress;
        self.windows = aside.windows;
        for (device, facts) in self.devices.iter_mut().zip(aside.facts) {
            if let Some(device) = device {
                device.flush = facts;
            }
        }
    }

    /// The evaluation is done, or failed.
    pub(super) fn forget_flush(&mut self) {
        for device in self.devices.iter_mut().flatten() {
            device.forget_flush();
            device.rest();
        }
    }

    /// The beginning of an evaluation, whose graph may be known: what a flush of the same structure did, if it is.
    pub(super) fn begun(
        &mut self,
        demand: &Demand<'_>,
        below: Option<PendingGraph>,
        order: &DeviceOrder,
        is_exact: bool,
    ) -> Box<Progress> {
        for (device, stats) in self.devices.iter_mut().zip(&mut self.counts) {
            if let Some(device) = device {
                device.begin_evaluation();
                device.try_more_room(stats);
            }
        }
        self.again.begin();
        let mut progress = Box::new(Progress {
            homes: ValuePlacement::new(order),
            attempts: Attempts::default(),
            running: None,
            compilation: None,
            first: (Needs::new(), 0),
            structure: Err(NotKept::NotWanted),
            whole: None,
            in_strips: true,
            is_exact,
            compiled: 0,
            untaken: 0,
            idle: 0,
            in_vain: 0,
            is_all: false,
        });
        let below = below.unwrap_or_else(|| PendingGraph::of(demand));
        let below = self.beside(demand, below, order);
        if let Some(first) = order.devices.first()
            && let Ok(device) = self.device(*first)
        {
            progress.structure = flush_key::structure(demand, &below, device);
            if let Ok(structure) = &progress.structure
                && !is_exact
                && let Some(flush) = device.known_flush(structure)
                && flush.is_for(&below)
                && self.can_store_again(&flush, &below)
            {
                let values = flush.values(below);
                progress.running = Some(Running::of(flush, values, true));
                return progress;
            }
        }
        self.compile(&mut progress, demand, below);
        progress
    }

    /// Whether there is room for what a flush stores because it was computed before.
    fn can_store_again(&mut self, flush: &CompiledFlush, below: &PendingGraph) -> bool {
        let first = below.leaves.len();
        flush.bought.iter().all(|(number, tiles)| {
            let value = (*number as usize).checked_sub(first).and_then(|at| below.values.get(at));
            value.is_some_and(|value| self.again.take(value, tiles))
        })
    }

    /// What is pending below a demand, with what is beside it.
    fn beside(
        &self,
        demand: &Demand<'_>,
        mut below: PendingGraph,
        order: &DeviceOrder,
    ) -> PendingGraph {
        let first = order.devices.first().and_then(|first| self.devices.get(*first)?.as_ref());
        below.see_others(demand, first.map_or(1, |device| device.caps.max_reductions));
        below
    }

    /// Begins to compile what is left.
    fn compile(&mut self, progress: &mut Progress, demand: &Demand<'_>, below: PendingGraph) {
        let order = &progress.homes.order;
        let Decided { fates, together, others, sides } =
            Decided::of(demand, &below, &self.devices, order);
        for device in self.devices.iter_mut().flatten() {
            device.begin((&fates, &together, &others), demand.next);
        }
        progress.homes.place_again(&mut self.devices, &sides);
        let may_take = progress.untaken < T.takes_tried;
        let has_slots = progress.structure.is_ok() && !progress.is_exact;
        let recorder = FlushRecorder::of(demand, below, (may_take, has_slots));
        let mut schedule = Schedule::of(demand.roots(), progress.in_strips);
        let (needs, rank) = std::mem::take(&mut progress.first);
        schedule.want(needs, rank);
        progress.compilation = Some(Box::new(Compilation::of(schedule, recorder)));
        progress.is_all = false;
        progress.compiled += 1;
    }

    /// Compiles and runs what is left.
    ///
    /// # Errors
    /// - `Interrupted`: the slice is over. Otherwise that of a tile which no device computes.
    fn go_on(&mut self, progress: &mut Progress, demand: &Demand<'_>) -> Result<()> {
        loop {
            if let Some(running) = &mut progress.running {
                let end = self.run(running, &progress.homes.order)?;
                self.ended(progress, demand, end)?;
            }
            if progress.compilation.is_none() {
                if demand.is_met() {
                    return Ok(());
                }
                if progress.in_vain > T.attempts_in_vain || progress.idle > T.idle_attempts {
                    return Err(Error::new(ErrorKind::Lost, "evaluate")
                        .says("what was computed is gone again and again")
                        .with("value", demand.value.id()));
                }
                let below = PendingGraph::of(demand);
                let below = self.beside(demand, below, &progress.homes.order);
                self.compile(progress, demand, below);
            }
            self.compile_window(progress)?;
        }
    }

    /// Goes on behind a window that was run, or was not.
    ///
    /// # Errors
    /// That of a command, where nothing can be done about it.
    fn ended(&mut self, progress: &mut Progress, demand: &Demand<'_>, end: RunEnd) -> Result<()> {
        let Some(Running { flush, values, is_replay, has_worked, .. }) = progress.running.take()
        else {
            return Ok(());
        };
        progress.idle = match has_worked {
            true => 0,
            false => progress.idle + usize::from(!flush.commands.is_empty()),
        };
        let first = progress.homes.order.devices.first().copied();
        match end {
            RunEnd::Done => {
                if let Some(compilation) = &mut progress.compilation {
                    compilation.recorder.values = values;
                    return Ok(());
                }
                if !demand.is_met() {
                    progress.in_vain += usize::from(progress.is_all);
                    return Ok(());
                }
                let Some(first) = first.filter(|_| !progress.is_exact) else { return Ok(()) };
                let Ok((device, counts)) = self.device_and_stats(first) else { return Ok(()) };
                match &progress.structure {
                    Ok(_) if is_replay => counts.flushes_replayed += 1,
                    Ok(structure) => {
                        if !device.flushes.insert(structure.clone(), flush) {
                            counts.flushes_not_kept.note(NotKept::TooLong);
                        }
                    }
                    Err(reason) => counts.flushes_not_kept.note(*reason),
                }
                Ok(())
            }
            RunEnd::Otherwise | RunEnd::Failed { .. } if is_replay => {
                if let RunEnd::Failed { error, rank, .. } = end
                    && error.kind() == ErrorKind::DeviceLost
                {
                    self.lose_device(progress.homes.order.devices[rank]);
                }
                if let (Ok(structure), Some(first)) = (&progress.structure, first)
                    && let Ok(device) = self.device(first)
                {
                    device.flushes.remove(structure);
                }
                // What is left of it has another structure.
                if has_worked {
                    progress.is_not_kept(NotKept::CompiledAnew);
                }
                Ok(())
            }
            RunEnd::Otherwise => {
                progress.begin_anew();
                progress.untaken += 1;
                Ok(())
            }
            RunEnd::Failed { error, value, tile, rank } => {
                progress.begin_anew();
                progress.in_strips &= !flush.has_strips();
                if flush.has_strips() && error.kind() != ErrorKind::DeviceLost {
                    return Ok(());
                }
                progress.attempts.ended(&value, &tile);
                self.recover(error, (&value, &tile), rank, &mut progress.homes)
            }
        }
    }

    /// Compiles the next window.
    ///
    /// # Errors
    /// That of a tile which no device computes.
    fn compile_window(&mut self, progress: &mut Progress) -> Result<()> {
        let Some(compilation) = &mut progress.compilation else { return Ok(()) };
        let end = compilation.window(&mut self.devices, &mut self.again, &progress.homes);
        for (device, counts) in self.devices.iter().zip(&mut self.counts) {
            counts.nodes_walked += device.as_ref().map_or(0, |device| device.walked.take());
        }
        let recorder = &mut compilation.recorder;
        let not_kept = recorder.not_kept.or(self.again.is_full.then_some(NotKept::NoRoom));
        let flush = Arc::new(recorder.take(&self.again.taken));
        let values = std::mem::take(&mut recorder.values);
        let is_empty = flush.commands.is_empty();
        progress.running = Some(Running::of(flush.clone(), values, false));
        match end? {
            WindowEnd::Full => {
                progress.is_not_kept(NotKept::TooLong);
                return Ok(());
            }
            WindowEnd::All => {
                progress.compilation = None;
                progress.is_all = true;
                progress.whole = (not_kept.is_none() && flush.made.is_empty()).then_some(flush);
                if let Some(reason) = not_kept {
                    progress.is_not_kept(reason);
                }
                if progress.compiled > 1 {
                    progress.is_not_kept(NotKept::CompiledAnew);
                }
                self.devices.iter_mut().flatten().for_each(OpenDevice::forget_flush);
                return Ok(());
            }
            WindowEnd::WithoutStrips => progress.in_strips = false,
            WindowEnd::Anew { value, tile, rank, needs } => {
                let failed = progress.attempts.failed(&value, &tile, &needs);
                progress.first = (needs, rank);
                if let Err(error) = failed {
                    self.recover(error, (&value, &tile), rank, &mut progress.homes)?;
                }
            }
            // What was compiled is done first, as a remedy changes what it was compiled for.
            WindowEnd::Failed(_) if !is_empty => {}
            WindowEnd::Failed(failed) => {
                let Failed { error, value, tile, rank } = *failed;
                progress.attempts.ended(&value, &tile);
                self.recover(error, (&value, &tile), rank, &mut progress.homes)?;
            }
        }
        progress.compilation = None;
        progress.is_not_kept(NotKept::CompiledAnew);
        self.devices.iter_mut().flatten().for_each(OpenDevice::forget_all_but_steps);
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
            true => {
                // What found no room may find some for smaller tiles.
                device.refusals.begin();
                Ok(())
            }
            false => Err(error),
        }
    }
}
