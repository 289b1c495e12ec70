//! Ordering (topological scheduling): the steps of a flush, one after another, before the first of them is done.
//!
//! Owns [`Schedule`]. The steps that another step needs come before it: the step waits while they are found, and then
//! follows them; so each is found once. A tile that a step will compute is promised from then on, and counts as present
//! for steps that are found later. There is no recursion. Invariants: each step of a list reads computed tiles or
//! results of earlier steps; tiles come depth first, so that a chain over a large array takes the memory of few tiles;
//! the list is no longer than the steps that are done soon.
//!
//! Not here: which step computes a tile (`steps/`), its commands (`compiled/compilation.rs`).

use crate::graph::value::{Value, ValueKind};
use crate::memory::tiling::Tile;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::kernels::{horizontal_fusion, in_place};
use crate::schedule::passes::placement::ValuePlacement;
use crate::schedule::steps::row_kernel::RowKernel;
use crate::schedule::steps::strip_mining::Strips;
use crate::schedule::steps::{GivenElements, PreparedStep, TileStep};
use crate::schedule::walk::Needs;
use crate::schedule::walk::rematerialisation::Rematerialisation;
use crate::thresholds::T;
use gpupy_core::{Error, ErrorKind, Result};
use smallvec::smallvec;
use std::collections::VecDeque;
use std::ops::Range;

/// A step in its place: it computes a tile of a value on a device.
pub(crate) struct Ordered {
    pub value: Value,
    pub tile: Tile,
    /// The rank of the device.
    pub rank: usize,
    pub step: TileStep,
    /// The elements that are computed when it is done.
    pub gives: GivenElements,
}

impl Ordered {
    /// Its kernel and the results, if the step is one kernel for new tiles.
    fn row_kernel(&self) -> Option<RowKernel<'_>> {
        let (kernels, tiles) = match &self.step {
            TileStep::Kernels(kernels) => (kernels, smallvec![(&self.value, &self.tile)]),
            TileStep::Beside { tiles, kernels } => {
                (kernels, tiles.iter().map(|(value, tile)| (value, tile)).collect())
            }
            _ => return None,
        };
        let is_new = |(value, tile): &(&Value, &Tile)| {
            let all = tile.range.clone();
            value.state().computed.gaps(all.clone()).as_slice() == [all]
        };
        let kernel = kernels.sole().filter(|_| tiles.iter().all(is_new))?;
        Some(RowKernel { kernel, tiles })
    }
}

/// The next action.
pub(crate) enum Next {
    Step(Box<Ordered>),
    /// Steps of one kernel each, strip by strip.
    Strips(Vec<Ordered>, Strips),
}

/// A wanted tile, for a step or for the flush.
struct WantedTile {
    value: Value,
    range: Range<usize>,
    /// The rank that asks for it.
    asking: usize,
    /// The number of the step that needs it: steps have several needs.
    reader: usize,
    /// The step of one of its tiles, which follows the wanted tiles above it.
    waiting: Option<Ordered>,
}

/// No step was found for a tile.
pub(crate) struct Failed {
    pub error: Error,
    pub value: Value,
    pub tile: Tile,
    pub rank: usize,
}

/// The steps that compute the wanted values.
pub(crate) struct Schedule {
    roots: Needs,
    /// The wanted tiles without a known step: a stack, in which a need lies above the step that needs it.
    wanted: Vec<WantedTile>,
    /// How many steps needed some.
    readers: usize,
    /// The steps that are known and not done.
    steps: VecDeque<Ordered>,
    /// The nodes of their walks, and of those that wait.
    nodes: usize,
    /// Whether steps are done strip by strip, where that pays.
    in_strips: bool,
}

impl Schedule {
    /// The schedule of positions of values, the last one first, on a device of rank 0; no step is known yet. Steps may
    /// be done strip by strip, or not.
    pub fn of(roots: Needs, in_strips: bool) -> Schedule {
        let (wanted, steps) = Default::default();
        let mut schedule = Schedule { roots, wanted, readers: 0, steps, nodes: 0, in_strips };
        schedule.want(schedule.roots.clone(), 0);
        schedule
    }

    /// Forgets the steps that are no commands yet: they are found once more, beside what the commands compute.
    pub fn find_again(&mut self, devices: &mut [Option<OpenDevice>]) {
        self.wanted.clear();
        self.steps.clear();
        self.nodes = 0;
        devices.iter_mut().flatten().for_each(|device| device.flush.promise_recorded());
        self.want(self.roots.clone(), 0);
    }

    /// The next action.
    pub fn next(&mut self, devices: &[Option<OpenDevice>], homes: &ValuePlacement) -> Option<Next> {
        if let Some(strips) = self.strips(devices, homes) {
            let steps: Vec<Ordered> = self.steps.drain(..strips.kernels()).collect();
            self.nodes -= steps.iter().map(|next| next.step.nodes()).sum::<usize>();
            return Some(Next::Strips(steps, strips));
        }
        let next = self.steps.pop_front()?;
        self.nodes -= next.step.nodes();
        Some(Next::Step(Box::new(next)))
    }

    /// The strips in which the next steps are done, if that pays.
    fn strips(&self, devices: &[Option<OpenDevice>], homes: &ValuePlacement) -> Option<Strips> {
        let rank = self.steps.front().filter(|_| self.in_strips)?.rank;
        let device = devices.get(homes.order.devices[rank])?.as_ref()?;
        let alike = self.steps.iter().take_while(|next| next.rank == rank);
        // A step that can write in place should do so: new memory costs more than reading twice.
        let is_unheld = |value| device.flush.fates.is_unheld(value);
        let is_new = |given: &RowKernel<'_>| match &given.tiles[..] {
            [(value, _)] => !in_place::may_take(&device.caps, given.kernel, value, is_unheld),
            _ => true,
        };
        // Steps that are not known yet may read anything, as may the other values that are asked for.
        let is_known = self.wanted.is_empty() && device.flush.next.is_empty();
        let is_last = |value: &Value, kernels| {
            let mut others = self.steps.iter().skip(kernels);
            is_known
                && (device.flush.fates.is_unheld(value.id()) || device.flush.fates.passes(value))
                && !others.any(|other| other.step.may_read(value.id()))
        };
        Strips::of(&device.caps, alike.map_while(Ordered::row_kernel).take_while(is_new), is_last)
    }

    /// Finds the next steps, a number of them at most; true where there are any.
    ///
    /// # Errors
    /// - `DeviceLost`: a device is no longer open.
    ///
    /// Where there is no step for a tile, the device's error.
    pub fn look_ahead(
        &mut self,
        devices: &mut [Option<OpenDevice>],
        again: &mut Rematerialisation,
        homes: &ValuePlacement,
    ) -> Result<std::result::Result<bool, Failed>> {
        while let Some(top) = self.wanted.last_mut() {
            if self.steps.len() >= T.ordered_steps
                || self.nodes > T.ordered_nodes && !self.steps.is_empty()
            {
                break;
            }
            if let Some(ready) = top.waiting.take() {
                self.nodes -= ready.step.nodes();
                let position = homes.order.devices[ready.rank];
                let device = devices.get(position).and_then(Option::as_ref);
                // A step found meanwhile may compute a tile of this one: then this one is found once more.
                if device.is_some_and(|device| !ready.step.is_outdated(device)) {
                    self.follow(devices, ready);
                }
                continue;
            }
            let rank = standing(devices, homes, homes.rank(&top.value, top.asking));
            let fellows = self.fellows(homes, rank);
            let Some(top) = self.wanted.last_mut() else { break };
            let position = homes.order.devices[rank];
            let device = devices.get_mut(position).and_then(Option::as_mut).ok_or_else(closed)?;
            let Some(tile) = next_pending(device, &top.value, top.range.clone()) else {
                self.wanted.pop();
                continue;
            };
            let value = top.value.clone();
            if horizontal_fusion::is_possible(device) {
                device.flush.fellows = fellows;
            }
            let found = TileStep::of(device, again, &value, &tile);
            device.flush.fellows.clear();
            match found {
                Err(error) => return Ok(Err(Failed { error, value, tile, rank })),
                Ok(Ok(PreparedStep { step, needs })) => {
                    let gives = step.gives(device, &value, &tile);
                    let ordered = Ordered { value, tile, rank, step, gives };
                    if needs.is_empty() {
                        self.follow(devices, ordered);
                        continue;
                    }
                    // A step that waits far below would hold much memory: it is dropped, and found once more later.
                    if self.nodes <= T.ordered_nodes {
                        self.nodes += ordered.step.nodes();
                        top.waiting = Some(ordered);
                    }
                    self.want(needs, rank);
                }
                Ok(Err(needs)) => self.want(needs, rank),
            }
        }
        Ok(Ok(!self.steps.is_empty()))
    }

    /// The other needs of the step that needs the tile on top, as far as the same device computes them, and their
    /// elements together are few: what is computed before it is read takes memory.
    fn fellows(&self, homes: &ValuePlacement, rank: usize) -> Vec<Value> {
        let Some((top, below)) = self.wanted.split_last() else { return Vec::new() };
        let mut fellows: Vec<Value> = Vec::new();
        let mut bytes = top.value.byte_len();
        let others = below.iter().rev().take_while(|other| other.reader == top.reader);
        for other in others.take(T.fellows_looked_at) {
            let value = &other.value;
            let all = bytes.saturating_add(value.byte_len());
            // A value that is read in several places is as many needs.
            let is_known = |known: &Value| known.id() == value.id();
            if all > T.fellow_bytes
                || homes.rank(value, other.asking) != rank
                || std::iter::once(&top.value).chain(&fellows).any(is_known)
            {
                continue;
            }
            bytes = all;
            fellows.push(value.clone());
            if fellows.len() == T.most_fellows {
                break;
            }
        }
        fellows
    }

    /// Wants values first, the last one before the others.
    pub fn want(&mut self, needs: Needs, asking: usize) {
        self.readers += 1;
        let reader = self.readers;
        let wanted = |(value, range)| WantedTile { value, range, asking, reader, waiting: None };
        self.wanted.extend(needs.into_iter().map(wanted));
    }

    /// Puts a step behind the others, and promises what it gives.
    fn follow(&mut self, devices: &mut [Option<OpenDevice>], ordered: Ordered) {
        for (value, range) in ordered.gives.of_values() {
            for device in devices.iter_mut().flatten() {
                device.flush.promised.insert(value, range.clone());
            }
        }
        self.nodes += ordered.step.nodes();
        self.steps.push_back(ordered);
    }
}

/// The first rank from this one on whose device is open, where the next may help; a device may
/// have been lost since.
fn standing(devices: &[Option<OpenDevice>], homes: &ValuePlacement, rank: usize) -> usize {
    let order = &homes.order;
    let is_open = |rank: &usize| matches!(devices.get(order.devices[*rank]), Some(Some(_)));
    let mut ranks = (rank..order.devices.len()).chain(0..rank);
    if order.falls { ranks.find(is_open).unwrap_or(rank) } else { rank }
}

/// The tile of a device in which the first position of `range` lies that is not there.
fn next_pending(device: &OpenDevice, value: &Value, range: Range<usize>) -> Option<Tile> {
    if !matches!(value.0.kind, ValueKind::Expr { .. }) || range.is_empty() {
        return None;
    }
    let first = device.flush.promised.first_gap(value.id(), &value.state().computed, range)?;
    let tiling = device.tiling_of(value);
    Some(tiling.tile(tiling.number_at(first)))
}

/// The error of a device that is gone.
pub(crate) fn closed() -> Error {
    Error::new(ErrorKind::DeviceLost, "evaluate").says("the device is no longer open")
}
