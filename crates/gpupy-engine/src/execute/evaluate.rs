//! Evaluation: tiles of values, one after another, on a device.
//!
//! Owns [`Engine`]: the open devices and the counts. What a tile needs first goes on a stack, so
//! graphs of any depth take a loop. Invariants: a value is marked as computed only after its block
//! is in the cache; a failed launch leaves every value as it was.
//!
//! Not here: choosing drivers (`ladder.rs`) and between them (`placement.rs`), walks through a device
//! (`pieces.rs`), launching (`launch.rs`), writing into existing blocks (`assign.rs`), transfers
//! (`transfer.rs`).

use crate::execute::slice::Slice;
use crate::explain::stats::Stats;
use crate::explain::trace::{Event, subject};
use crate::explain::tracer::Tracer;
use crate::graph::value::{Kind, Value};
use crate::memory::tiling::Tile;
use crate::schedule::again::Again;
use crate::schedule::device::Device;
use crate::schedule::flush::{Demand, Flush};
use crate::schedule::fuse::Fates;
use crate::schedule::halo::Halos;
use crate::schedule::placement::{Homes, Order};
use crate::schedule::steps::Step;
use crate::schedule::together::Together;
use crate::schedule::walk::Flow;
use crate::schedule::ways::Steps;
use gpupy_core::driver::Capabilities;
use gpupy_core::memory;
use gpupy_core::{Error, ErrorKind, Result};
use std::ops::Range;
use std::sync::Arc;

/// The open devices, and what was done.
pub(crate) struct Engine {
    /// By position in the registry.
    pub devices: Vec<Option<Device>>,
    /// What each did, also before it was closed or lost.
    pub counts: Vec<Stats>,
    /// What belongs to no device.
    pub stats: Stats,
    pub slice: Slice,
    /// What may be stored because it would be computed again.
    pub again: Again,
    /// Who is told what is done in host memory.
    pub tracer: Tracer,
    /// What the present evaluation decided on when it began.
    pub decided: Option<Decided>,
}

/// What is decided once for an evaluation: what becomes of its values, and which reductions go together.
type Decided = (Arc<Fates>, Arc<Together>);

/// What a paused evaluation goes on with: what it decided, and what there is on each device.
pub(crate) struct Aside {
    decided: Option<Decided>,
    devices: Vec<(Halos, Steps)>,
}

impl Engine {
    /// Makes places for as many drivers.
    pub fn resize(&mut self, drivers: usize) {
        self.devices.resize_with(drivers, || None);
        self.counts.resize_with(drivers, Stats::default);
    }

    pub fn device(&mut self, position: usize) -> Result<&mut Device> {
        self.device_and_stats(position).map(|(device, _)| device)
    }

    /// Closes a device that is gone: what was only there has to be computed again.
    pub fn lose_device(&mut self, position: usize) {
        if let Some(mut device) = self.devices.get_mut(position).and_then(Option::take) {
            device.lose_all();
        }
    }

    /// An open device, and what it did.
    pub fn device_and_stats(&mut self, position: usize) -> Result<(&mut Device, &mut Stats)> {
        let device = self.devices.get_mut(position).and_then(Option::as_mut);
        device.zip(self.counts.get_mut(position)).ok_or_else(closed)
    }

    /// Evaluates the tiles that are asked for on these devices, each where it lives.
    ///
    /// # Errors
    /// - `Interrupted`: the slice is over. What was computed is kept; what no value outside holds, until the
    ///   next evaluation ends, unless it is laid aside.
    pub fn evaluate(&mut self, demand: &Demand<'_>, order: &Order) -> Result<()> {
        let done = self.evaluate_tiles(demand, order);
        if !done.as_ref().is_err_and(|error| error.kind() == ErrorKind::Interrupted) {
            self.lay_aside();
        }
        done
    }

    /// What an evaluation that pauses goes on with and nothing else holds: what it decided, and for each device its halos
    /// and the steps of what is expanded there. Others may evaluate meanwhile; whatever they do, what was decided gives the
    /// same elements.
    pub fn lay_aside(&mut self) -> Aside {
        let devices = self.devices.iter_mut().map(Option::as_mut);
        let devices = devices.map(|device| device.map(Device::lay_aside).unwrap_or_default());
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

    fn evaluate_tiles(&mut self, demand: &Demand<'_>, order: &Order) -> Result<()> {
        let value = demand.value;
        let decided = self.decided.take().unwrap_or_else(|| self.decide(demand, order));
        let (fates, together) = self.decided.insert(decided).clone();
        for device in self.devices.iter_mut().flatten() {
            device.begin(&fates, &together, demand.next);
        }
        let mut homes = Homes::new(order);
        // What is needed first, the last one before the others, with the rank that asks.
        let mut stack: Vec<(Value, Range<usize>, usize)> =
            vec![(value.clone(), demand.range.clone(), 0)];
        while let Some((asked, range, asking)) = stack.last().cloned() {
            let rank = self.standing(order, homes.rank(&asked, asking));
            let position = order.devices[rank];
            let Some(tile) = self.next_pending(&asked, range, position)? else {
                stack.pop();
                continue;
            };
            self.slice.check()?;
            match self.attempt(&asked, &tile, position) {
                Ok(Flow::Done) => {
                    self.counts[position].blocks_evaluated += 1;
                    self.stats.driver_fallbacks += u64::from(homes.has_moved(&asked));
                    if !self.device(position)?.halos.has(&asked) {
                        self.slice.keep();
                    }
                }
                Ok(Flow::Needs(needs)) => {
                    self.device(position)?.tracer.event(|| {
                        Event::Needed(needs.iter().map(|(value, _)| subject(value)).collect())
                    });
                    stack.extend(needs.into_iter().map(|(value, range)| (value, range, rank)));
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => return Err(error),
                Err(error) if error.kind() == ErrorKind::Unsupported => {
                    if !homes.share(&mut self.devices, value) {
                        self.recover(error, (&asked, &tile), rank, &mut homes)?;
                    }
                }
                Err(error) => self.recover(error, (&asked, &tile), rank, &mut homes)?,
            }
        }
        self.devices.iter_mut().flatten().for_each(|device| device.rest());
        Ok(())
    }

    /// What is decided once for what is asked for.
    fn decide(&self, demand: &Demand<'_>, order: &Order) -> Decided {
        // Of a device that is gone the next one does the work.
        let chosen = order.devices.first().and_then(|position| self.devices.get(*position));
        let unknown = Capabilities::default();
        let caps = chosen.and_then(Option::as_ref).map_or(&unknown, |device| &device.caps);
        let mut flush = Flush::of(demand, caps);
        (Arc::new(Fates::of(&mut flush)), Arc::new(flush.together))
    }

    /// The first rank from this one on whose device is open, where the next may help; a device may
    /// have been lost since.
    fn standing(&self, order: &Order, rank: usize) -> usize {
        let is_open =
            |rank: &usize| matches!(self.devices.get(order.devices[*rank]), Some(Some(_)));
        let mut ranks = (rank..order.devices.len()).chain(0..rank);
        if order.falls { ranks.find(is_open).unwrap_or(rank) } else { rank }
    }

    /// Does what there is to do about a tile that failed at a rank, so that it can be tried again: in
    /// smaller pieces, or elsewhere.
    ///
    /// # Errors
    /// The same, with what is known about it, when there is nothing.
    fn recover(
        &mut self,
        error: Error,
        (value, tile): (&Value, &Tile),
        rank: usize,
        homes: &mut Homes<'_>,
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

    /// The tile of a device in which the first position of `range` lies that is not computed.
    fn next_pending(
        &mut self,
        value: &Value,
        range: Range<usize>,
        device: usize,
    ) -> Result<Option<Tile>> {
        if matches!(value.0.kind, Kind::Host(_) | Kind::Constant(_)) || range.is_empty() {
            return Ok(None);
        }
        let Some(first) = value.state().computed.first_gap(range) else { return Ok(None) };
        let tiling = self.device(device)?.tiling(value.shape());
        Ok(Some(tiling.tile(tiling.number_at(first))))
    }

    /// Evaluates one tile, or tells what it needs first.
    fn attempt(&mut self, value: &Value, tile: &Tile, device: usize) -> Result<Flow> {
        let open = self.devices.get(device).and_then(Option::as_ref).ok_or_else(closed)?;
        match Step::of(open, &mut self.again, value, tile)? {
            Ok(step) => self.perform(step, value, tile, device),
            Err(needs) => Ok(Flow::Needs(needs)),
        }
    }
}

/// The error of a device that is gone.
fn closed() -> Error {
    Error::new(ErrorKind::DeviceLost, "evaluate").says("the device is no longer open")
}
