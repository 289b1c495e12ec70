//! The commands of a step, found one at a time, as each may depend on the handles that a value has by then.
//!
//! Owns [`Commands`]: a work list, in which a walk, or a part of a reduction, stands for its kernels until it is their
//! turn. A program that a device refuses is noted among its refusals; the step is then planned anew, in smaller
//! kernels.
//!
//! Not here: which kernels a walk has (`schedule/kernels/walk_kernels.rs`).

use super::assignment_commands::Writing;
use super::open_walk::OpenWalk;
use super::reduction_commands::{Reduced, ReductionProgress, StoredPart, Storing};
use super::{Command, HostStep, LaunchCommand};
use crate::explain::trace::{Event, subject};
use crate::graph::value::Value;
use crate::memory::tiling::Tile;
use crate::schedule::destination::Destination;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::kernels::partition::{KernelPiece, Possible};
use crate::schedule::kernels::release::ReleasedTiles;
use crate::schedule::kernels::walk_kernels::WalkKernels;
use crate::schedule::program::kernel::KernelCode;
use crate::schedule::replay::capture::Capture;
use crate::schedule::steps::{Assigned, LibraryStep, TileStep};
use crate::schedule::walk::Needs;
use crate::schedule::walk::rematerialisation::Passes;
use gpupy_core::ir::Form;
use gpupy_core::{Error, ErrorKind, Result, memory};
use smallvec::{SmallVec, smallvec};
use std::collections::VecDeque;
use std::sync::Arc;

/// The pending work of a step.
pub(super) enum PendingWork {
    Ready(Command),
    /// The kernels of a walk, into these destinations.
    Kernels(Box<WalkKernels>, SmallVec<[Destination; 1]>),
    /// A walk over a space into an open block.
    Walk(OpenWalk),
    /// The rest of a reduction that is done piece by piece.
    Reducing(ReductionProgress),
    /// A reduction of a map that is stored piece by piece.
    Storing(Storing),
    Whole(LibraryStep),
}

/// The kernels that are being launched.
struct Running {
    kernels: Box<WalkKernels>,
    dests: SmallVec<[Destination; 1]>,
    passes: Option<Passes>,
    /// The piece that was given out last.
    piece: Option<(KernelPiece, Arc<KernelCode>)>,
    /// Tiles that nothing else of the walk needs now.
    gone: ReleasedTiles,
}

/// The remedy for a failed command.
pub(crate) enum Remedy {
    /// Nothing here.
    Nothing,
    /// The step is found anew: it will be done otherwise.
    Anew,
    /// The next command does the same otherwise.
    GoOn,
}

/// The commands of a step.
pub(crate) struct Commands {
    /// The work list, the next item first.
    work: VecDeque<PendingWork>,
    running: Option<Running>,
    /// A form whose kernel was given out last.
    whole: Option<LibraryStep>,
    value: Value,
    tile: Tile,
}

impl Commands {
    /// The commands of the step that computes a tile of a value; or the tiles that have to be computed before it.
    ///
    /// # Errors
    /// - `Lost`: the combined or changed value is not held any more.
    pub fn of(
        device: &mut OpenDevice,
        step: TileStep,
        value: &Value,
        tile: &Tile,
    ) -> Result<Possible<Commands>> {
        let dest = |(value, tile)| Destination::Tile { value, tile };
        let own = || smallvec![dest((value.clone(), tile.clone()))];
        let open =
            |values: SmallVec<[Value; 1]>| PendingWork::Ready(Command::Open(values, tile.clone()));
        let close = || PendingWork::Ready(Command::Close);
        let on_host = |step| {
            let (value, tile) = (value.clone(), tile.clone());
            VecDeque::from([PendingWork::Ready(Command::OnHost { step, value, tile })])
        };
        let work = match step {
            TileStep::Nothing => VecDeque::new(),
            TileStep::Kernels(kernels) => VecDeque::from([PendingWork::Kernels(kernels, own())]),
            TileStep::Beside { tiles, kernels } => VecDeque::from([PendingWork::Kernels(
                kernels,
                tiles.into_iter().map(dest).collect(),
            )]),
            TileStep::Boxes(boxes) => {
                let boxes = boxes.into_iter().map(|kernels| {
                    let dest = Destination::Open { number: 0, whole: false };
                    let dests = smallvec![dest; kernels.partition.walk.roots.len()];
                    PendingWork::Kernels(Box::new(kernels), dests)
                });
                let opened = std::iter::once(open(smallvec![value.clone()]));
                opened.chain(boxes).chain([close()]).collect()
            }
            TileStep::Reductions(values, n) => {
                let opened = open(values.iter().cloned().collect());
                let reducing =
                    PendingWork::Reducing(ReductionProgress::of(device, values, n, tile));
                VecDeque::from([opened, reducing, close()])
            }
            TileStep::StoredReduction(op, n) => match Storing::of(device, value, (op, n), tile)? {
                Ok(storing) => {
                    let storing = PendingWork::Storing(storing);
                    VecDeque::from([open(smallvec![value.clone()]), storing, close()])
                }
                Err(needs) => return Ok(Err(needs)),
            },
            TileStep::Assignment(Assigned::InBlock(written)) => {
                let Writing { opened, copies, kernels } =
                    Writing::of(device, *written, value, tile)?;
                let kernels =
                    kernels.map(|(kernels, dest)| PendingWork::Kernels(kernels, smallvec![dest]));
                let copies = copies.into_iter().map(PendingWork::Walk);
                std::iter::once(PendingWork::Ready(opened))
                    .chain(copies)
                    .chain(kernels)
                    .chain([close()])
                    .collect()
            }
            TileStep::Assignment(Assigned::OnHost(gaps)) => on_host(HostStep::Assign(gaps)),
            TileStep::Whole(step) => VecDeque::from([PendingWork::Whole(step)]),
            TileStep::Scatter => on_host(HostStep::Scatter),
            TileStep::WhereTrue => on_host(HostStep::WhereTrue),
            TileStep::Gathering(at) => on_host(HostStep::Gather(at)),
        };
        let (value, tile) = (value.clone(), tile.clone());
        Ok(Ok(Commands { work, running: None, whole: None, value, tile }))
    }

    /// Whether more is left than to note what was done.
    pub fn has_work(&self) -> bool {
        let is_running = |running: &Running| running.kernels.has_next();
        !self.work.is_empty() || self.running.as_ref().is_some_and(is_running)
    }

    /// The next command, once those before are done; nothing behind the last. Or the tiles that have to be computed
    /// before it.
    ///
    /// # Errors
    /// As of a walk and of kernels.
    pub fn next(&mut self, device: &mut OpenDevice) -> Result<Possible<Option<Command>>> {
        self.whole = None;
        loop {
            if let Some(running) = &mut self.running {
                if let Some(command) = running.next(device) {
                    return Ok(Ok(Some(command)));
                }
                let is_replay = running.kernels.is_replay;
                if let Some(passes) = self.running.take().and_then(|running| running.passes) {
                    return Ok(Ok(Some(Command::Walked { is_replay, passes })));
                }
            }
            match self.work.pop_front() {
                None => return Ok(Ok(None)),
                Some(PendingWork::Ready(command)) => return Ok(Ok(Some(command))),
                Some(PendingWork::Kernels(kernels, dests)) => {
                    self.running = Some(Running::of(device, kernels, dests));
                }
                Some(PendingWork::Walk(walk)) => match walk.kernels(device)? {
                    Ok(kernels) => self.running = Some(Running::of(device, kernels, walk.dests())),
                    Err(needs) => return Ok(Err(self.with_the_rest(device, needs)?)),
                },
                Some(PendingWork::Reducing(mut reducing)) => {
                    if let Some(part) = reducing.part(device)? {
                        self.work.push_front(PendingWork::Reducing(reducing));
                        match part {
                            Reduced::InOne(kernels, dests) => {
                                self.work.push_front(PendingWork::Kernels(kernels, dests));
                            }
                            Reduced::OneByOne(walks) => {
                                self.first(walks.into_iter().map(PendingWork::Walk))
                            }
                        }
                    }
                }
                Some(PendingWork::Storing(mut storing)) => {
                    if let Some(StoredPart { row, tile, walks, combined }) = storing.part() {
                        let opened = PendingWork::Ready(Command::Open(smallvec![row], tile));
                        let behind = [
                            PendingWork::Ready(Command::Close),
                            PendingWork::Walk(combined),
                            PendingWork::Storing(storing),
                        ];
                        self.first(behind.into_iter());
                        self.first(walks.into_iter().map(PendingWork::Walk));
                        self.work.push_front(opened);
                    }
                }
                Some(PendingWork::Whole(step)) => {
                    if step.is_on_host {
                        return Ok(Ok(Some(self.whole_on_host(step))));
                    }
                    let kernel = step.kernel(device, &self.value);
                    device.driver.check_ir(&kernel.program)?;
                    let (value, tile) = (self.value.clone(), self.tile.clone());
                    let dests = smallvec![Destination::Tile { value, tile }];
                    self.whole = Some(step);
                    let launch = LaunchCommand { kernel, dests, taken: None, computes: Vec::new() };
                    return Ok(Ok(Some(Command::Launch(Box::new(launch)))));
                }
            }
        }
    }

    /// Does this before the rest.
    fn first(&mut self, work: impl DoubleEndedIterator<Item = PendingWork>) {
        work.rev().for_each(|work| self.work.push_front(work));
    }

    /// The needs of a part of a reduction and of all later parts. They are found together, as the partial results of
    /// earlier parts are lost when the step waits.
    fn with_the_rest(&self, device: &mut OpenDevice, mut needs: Needs) -> Result<Needs> {
        for work in &self.work {
            match work {
                PendingWork::Storing(storing) => return Ok(storing.all_of_it()),
                PendingWork::Reducing(reducing) => needs.extend(reducing.needs(device)?),
                PendingWork::Walk(walk) if matches!(walk.form, Form::Reduce { .. }) => {
                    needs.extend(walk.needs(device)?);
                }
                _ => {}
            }
        }
        Ok(needs)
    }

    fn whole_on_host(&self, step: LibraryStep) -> Command {
        let (value, tile) = (self.value.clone(), self.tile.clone());
        Command::OnHost { step: HostStep::Whole(step), value, tile }
    }

    /// Notes the launch that was given out last, into the block of an operand where one is named; `None` where it is
    /// not known how it was planned.
    pub fn note(
        &self,
        capture: &mut Capture,
        launch: &LaunchCommand,
        taken: Option<usize>,
    ) -> Option<()> {
        let of = match &self.running {
            Some(Running { kernels, .. }) => Some((&kernels.partition.walk, kernels.planned()?)),
            None => None,
        };
        capture.launch(of, &launch.kernel, &launch.dests, taken)
    }

    /// The remedy after the last command has failed.
    pub fn failed(&mut self, device: &mut OpenDevice, error: &Error) -> Remedy {
        let is_cramped = error.kind() == ErrorKind::OutOfMemory && !memory::is_refusal(error);
        if let Some(step) = self.whole.take() {
            if !is_cramped {
                return Remedy::Nothing;
            }
            let on_host = PendingWork::Ready(self.whole_on_host(step));
            self.work.push_front(on_host);
            return Remedy::GoOn;
        }
        match &mut self.running {
            Some(running) => running.failed(device, error),
            None => Remedy::Nothing,
        }
    }

    /// Drops the commands that are left; expanded operations are found by the next walk that comes to them, which is
    /// cut as this one was.
    pub fn give_up(&mut self, device: &mut OpenDevice) {
        self.work.clear();
        if let Some(running) = self.running.take() {
            device.steps.keep(&running.kernels.partition.walk);
            device.last_cut = running.kernels.last_cut;
        }
    }
}

impl Running {
    fn of(
        device: &mut OpenDevice,
        kernels: Box<WalkKernels>,
        dests: SmallVec<[Destination; 1]>,
    ) -> Running {
        let passes = Some(Passes::of(&kernels.partition.walk, device));
        device.steps.leave_to(&kernels.partition.walk);
        Running { kernels, dests, passes, piece: None, gone: ReleasedTiles::new() }
    }

    /// The next command; nothing when all kernels are launched.
    fn next(&mut self, device: &mut OpenDevice) -> Option<Command> {
        if let Some((piece, _)) = self.piece.take() {
            self.gone = self.kernels.launched(device, &piece);
            self.gone.reverse();
        }
        if let Some((value, tile)) = self.gone.pop() {
            return Some(Command::Lose(value, tile));
        }
        let (piece, kernel) = self.kernels.next()?;
        let partition = &mut self.kernels.partition;
        let own = piece.node.map(|node| &partition.walk.nodes[node as usize]).and_then(|node| {
            let tile = device.own_tile(&node.value, &node.access, &partition.walk.space)?;
            device.tracer.event(|| Event::Cut(subject(&node.value)));
            Some(Destination::Tile { value: node.value.clone(), tile })
        });
        let dests = own.map_or_else(|| self.dests.clone(), |own| smallvec![own]);
        let computes = match device.tracer.listens() {
            true => partition.values_of(&piece),
            false => Vec::new(),
        };
        let taken = partition.operand_to_take(device, &piece, &kernel, &dests);
        self.piece = Some((piece, kernel.code.clone()));
        Some(Command::Launch(Box::new(LaunchCommand { kernel, dests, taken, computes })))
    }

    /// The remedy for a failed kernel of one walk.
    fn failed(&mut self, device: &mut OpenDevice, error: &Error) -> Remedy {
        let Some((piece, code)) = &self.piece else { return Remedy::Nothing };
        if self.kernels.may_read_less(device, code, error) {
            return Remedy::Anew;
        }
        if !self.kernels.may_be_done_otherwise(piece, error) {
            return Remedy::Nothing;
        }
        self.kernels.forget(device);
        device.refusals.note(code, error);
        Remedy::Anew
    }
}
