//! The commands of a step, told one after another.
//!
//! Owns [`Commands`]: a work list, in which a walk, or a part of a reduction, stands for its kernels until it is their
//! turn.
//!
//! Not here: which kernels a walk has (`schedule/kernels/walk_kernels.rs`).

use super::assignment_commands::Writing;
use super::open_walk::OpenWalk;
use super::reduction_commands::{Reduced, ReductionProgress, StoredPart, Storing};
use super::{HostStep, LaunchCommand, OpenedBlock};
use crate::explain::trace::{Event, subject};
use crate::graph::value::Value;
use crate::memory::tiling::Tile;
use crate::schedule::compiled::flush_recorder::FlushRecorder;
use crate::schedule::destination::Destination;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::kernels::partition::Possible;
use crate::schedule::kernels::walk_kernels::WalkKernels;
use crate::schedule::program::kernel::{Kernel, KernelPiece};
use crate::schedule::steps::{Assigned, LibraryStep, TileStep};
use crate::schedule::walk::Needs;
use crate::schedule::walk::rematerialisation::Passes;
use gpupy_core::Result;
use gpupy_core::ir::Form;
use smallvec::{SmallVec, smallvec};
use std::collections::VecDeque;

/// The pending work of a step.
pub(super) enum PendingWork {
    Open(OpenedBlock, Tile),
    Close,
    OnHost(HostStep),
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

/// The commands of a step.
pub(crate) struct Commands {
    /// The work list, the next item first.
    work: VecDeque<PendingWork>,
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
        recorder: &FlushRecorder,
        step: TileStep,
        value: &Value,
        tile: &Tile,
    ) -> Result<Possible<Commands>> {
        let dest = |(value, tile)| Destination::Tile { value, tile };
        let own = || smallvec![dest((value.clone(), tile.clone()))];
        let open = |values: SmallVec<[Value; 1]>| {
            PendingWork::Open(OpenedBlock::New(values), tile.clone())
        };
        let close = || PendingWork::Close;
        let on_host = |step| VecDeque::from([PendingWork::OnHost(step)]);
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
                    Writing::of(device, recorder, *written, value, tile)?;
                let kernels =
                    kernels.map(|(kernels, dest)| PendingWork::Kernels(kernels, smallvec![dest]));
                let copies = copies.into_iter().map(PendingWork::Walk);
                std::iter::once(PendingWork::Open(opened, tile.clone()))
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
        Ok(Ok(Commands { work, value, tile }))
    }

    /// Tells all commands, each as if those before were done; or the tiles that have to be computed before one.
    ///
    /// # Errors
    /// As of a walk and of kernels.
    pub fn record(
        mut self,
        device: &mut OpenDevice,
        recorder: &mut FlushRecorder,
    ) -> Result<Possible<()>> {
        while let Some(work) = self.work.pop_front() {
            match work {
                PendingWork::Open(opened, tile) => recorder.open(opened, tile),
                PendingWork::Close => recorder.close(device),
                PendingWork::OnHost(step) => {
                    recorder.on_host(device, step, &self.value, &self.tile);
                }
                PendingWork::Kernels(kernels, dests) => {
                    record_kernels(device, recorder, *kernels, &dests);
                }
                PendingWork::Walk(walk) => match walk.kernels(device)? {
                    Ok(kernels) => record_kernels(device, recorder, *kernels, &walk.dests()),
                    Err(needs) => return Ok(Err(self.with_the_rest(device, needs)?)),
                },
                PendingWork::Reducing(mut reducing) => {
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
                PendingWork::Storing(mut storing) => {
                    if let Some(StoredPart { row, tile, walks, combined }) = storing.part() {
                        let behind = [
                            PendingWork::Close,
                            PendingWork::Walk(combined),
                            PendingWork::Storing(storing),
                        ];
                        self.first(behind.into_iter());
                        self.first(walks.into_iter().map(PendingWork::Walk));
                        let opened = OpenedBlock::New(smallvec![row]);
                        self.work.push_front(PendingWork::Open(opened, tile));
                    }
                }
                PendingWork::Whole(step) if step.is_on_host => {
                    let step = HostStep::Library(step);
                    recorder.on_host(device, step, &self.value, &self.tile);
                }
                PendingWork::Whole(step) => {
                    let kernel = step.kernel(device, &self.value);
                    device.driver.check_ir(&kernel.program)?;
                    let (value, tile) = (self.value.clone(), self.tile.clone());
                    let dests = smallvec![Destination::Tile { value, tile }];
                    let launch =
                        LaunchCommand { on_host: Some(step), ..LaunchCommand::of(kernel, dests) };
                    recorder.launch(device, launch);
                }
            }
        }
        Ok(Ok(()))
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
}

/// Tells the kernels of a walk, one after another.
fn record_kernels(
    device: &mut OpenDevice,
    recorder: &mut FlushRecorder,
    mut kernels: WalkKernels,
    dests: &[Destination],
) {
    let passes = Passes::of(&kernels.partition.walk, device);
    device.flush.steps.leave_to(&kernels.partition.walk);
    while let Some((piece, kernel)) = kernels.next() {
        let walk = &kernels.partition.walk;
        let stored = piece.stores.iter().map(|node| &walk.nodes[*node as usize]);
        let stored = stored.filter_map(|node| {
            let tile = device.own_tile(&node.value, &node.access, &walk.space)?;
            device.tracer.event(|| Event::Cut(subject(&node.value)));
            Some((node.value.clone(), tile))
        });
        let stored: SmallVec<[(Value, Tile); 1]> = stored.collect();
        let own = stored.iter().cloned().map(|(value, tile)| Destination::Tile { value, tile });
        let dests = if stored.is_empty() { dests.into() } else { own.collect() };
        recorder.launch(device, kernel_of(device, &kernels, &piece, kernel, dests));
        for (value, tile) in stored {
            if recorder.is_complete(&value) {
                // Its operands may be gone for steps that would compute it once more.
                device.flush.promised.insert(value.id(), tile.range);
            }
        }
        for (value, tile) in kernels.launched(device, &piece) {
            recorder.free(&value, &tile);
        }
    }
    recorder.walked(passes);
}

/// The command for a kernel of these.
pub(crate) fn kernel_of<'k>(
    device: &OpenDevice,
    kernels: &'k WalkKernels,
    piece: &KernelPiece,
    kernel: Kernel,
    dests: SmallVec<[Destination; 1]>,
) -> LaunchCommand<'k> {
    let walk = &kernels.partition.walk;
    let computes = match device.tracer.listens() {
        true => kernels.partition.values_of(piece),
        false => Vec::new(),
    };
    let (recut, rest) = (Some(kernels.recut(device, piece)), Some(kernels));
    LaunchCommand { computes, walk: Some(walk), recut, rest, ..LaunchCommand::of(kernel, dests) }
}
