//! Rehearsal: a flush is compiled, and its commands are told instead of done.
//!
//! Each command is told with the values that it reads and writes, with the memory that it takes and the values that
//! end with it, as when it is done. Invariants: nothing is launched, moved or stored, and no value changes; what is
//! told is what a run behind it does, as far as a flush is compiled before it runs: windows of a long flush behind the
//! first are compiled when those before them were run, and are only counted.
//!
//! Not here: running the commands (`run_commands.rs`), the text (`explain/`).

use super::evaluate::Engine;
use super::launch::told;
use super::progress::Running;
use crate::blocks::cache::BlockPart;
use crate::explain::trace::{Event, Freed, StepAction, subject};
use crate::explain::tracer::Doing;
use crate::graph::value::{Value, ValueId};
use crate::memory::tiling::Tile;
use crate::schedule::compiled::command::{
    BufferId, Command, HostCommand, KernelCommand, LaunchTarget, StepBegin,
};
use crate::schedule::compiled::compilation::WindowEnd;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::passes::demand::Demand;
use crate::schedule::passes::pending_graph::PendingGraph;
use crate::schedule::passes::placement::DeviceOrder;
use crate::schedule::program::kernel::Kernel;
use gpupy_core::Result;
use gpupy_core::driver::Evaluated;
use rustc_hash::FxHashSet;
use std::sync::Arc;
use std::time::Duration;

/// Blocks that are being filled.
struct Filled {
    values: Vec<Value>,
    tile: Tile,
    old: Option<Value>,
    mark: Option<usize>,
}

/// What is told of a rehearsal so far.
#[derive(Default)]
struct Rehearsed {
    open: Vec<Filled>,
    /// The parts of values that came to a device, or were made there.
    there: FxHashSet<(ValueId, BlockPart)>,
    /// The values of these parts.
    known: FxHashSet<ValueId>,
}

impl Engine {
    /// Compiles what is asked for, and tells a listener what would be done on these devices.
    ///
    /// # Errors
    /// - `DeviceLost`: a device is no longer open.
    pub fn rehearse(&mut self, demand: &Demand<'_>, order: &DeviceOrder) -> Result<()> {
        let (mut windows, below) = self.cut(demand, order);
        let mut told = Rehearsed::default();
        let more = windows.left();
        let done = match windows.present().and_then(Demand::first_of) {
            Some(next) => {
                self.rehearse_window(&Demand { is_window: true, ..next }, None, order, &mut told)
            }
            None => self.rehearse_window(demand, below, order, &mut told),
        };
        self.forget_flush();
        // Values that are wanted next are asked for one after another, where the first one's flush has them not.
        let are_told = demand.next.iter().all(|next| told.is_known(next));
        if more > 0 || !are_told {
            self.tracer.event(|| Event::Later(more));
        }
        done
    }

    fn rehearse_window(
        &mut self,
        demand: &Demand<'_>,
        below: Option<PendingGraph>,
        order: &DeviceOrder,
        told: &mut Rehearsed,
    ) -> Result<()> {
        let mut progress = self.begun(demand, below, order, false);
        if let Some(running) = progress.running.take() {
            self.tell_commands(&running, order, told);
            return Ok(());
        }
        while let Some(compilation) = &mut progress.compilation {
            let end = compilation.window(&mut self.devices, &mut self.again, &progress.homes);
            let flush = Arc::new(compilation.recorder.take(&[]));
            let running = Running::of(flush, compilation.recorder.values.clone(), false);
            self.tell_commands(&running, order, told);
            match end? {
                WindowEnd::Full => {}
                WindowEnd::All => break,
                // What is left depends on what was done, or on a remedy.
                WindowEnd::Anew { .. } | WindowEnd::WithoutStrips | WindowEnd::Failed(_) => {
                    self.tracer.event(|| Event::Later(0));
                    break;
                }
            }
        }
        Ok(())
    }

    fn tell_commands(&mut self, running: &Running, order: &DeviceOrder, all: &mut Rehearsed) {
        let mut begun: Option<&StepBegin> = None;
        let commands = &running.flush.commands;
        for (place, command) in commands.iter().enumerate() {
            if let Command::Step(begin) = command {
                begun = Some(begin);
            }
            let rank = begun.map_or(0, |begin| begin.rank);
            let Some(Some(device)) = order.devices.get(rank).and_then(|at| self.devices.get(*at))
            else {
                return;
            };
            all.command(device, running, begun, command);
            let taken = taken_of(command, running);
            for number in running.flush.dead.get(place + 1).into_iter().flatten() {
                if let Some(Some(value)) = running.values.get(*number as usize)
                    && taken != Some(value.id())
                    && all.is_known(value)
                {
                    device.tracer.freed(|| Freed::Value(subject(value)));
                }
            }
        }
    }
}

/// The value whose memory a command takes.
fn taken_of(command: &Command, running: &Running) -> Option<ValueId> {
    let old = match command {
        Command::Kernel(kernel) => kernel.operands.get(kernel.taken.as_ref()?.0)?,
        Command::OpenOld { old, .. } => old,
        _ => return None,
    };
    running.of_buffer(*old).map(|(value, _)| value.id())
}

impl Running {
    /// The value of a buffer, and the tile that the flush writes, if it does.
    fn of_buffer(&self, buffer: BufferId) -> Option<(&Value, Option<&Tile>)> {
        let buffer = self.flush.buffers.get(buffer as usize)?;
        let value = self.values.get(buffer.value as usize)?.as_ref()?;
        Some((value, buffer.tile.as_ref()))
    }

    /// The tiles of buffers that are written.
    fn tiles<'r>(
        &'r self,
        buffers: impl IntoIterator<Item = &'r BufferId>,
    ) -> Vec<(&'r Value, &'r Tile)> {
        let tiles = buffers.into_iter().filter_map(|buffer| self.of_buffer(*buffer));
        tiles.filter_map(|(value, tile)| Some((value, tile?))).collect()
    }
}

impl Rehearsed {
    /// Whether something was said of a value: a value that is computed on the way has no memory.
    fn is_known(&self, value: &Value) -> bool {
        value.is_computed() || self.known.contains(&value.id())
    }

    fn command(
        &mut self,
        device: &OpenDevice,
        running: &Running,
        begun: Option<&StepBegin>,
        command: &Command,
    ) {
        let step = begun.and_then(|begin| {
            let value = running.values.get(begin.value as usize)?.as_ref()?;
            Some((value, &begin.tile))
        });
        match command {
            Command::Kernel(kernel) => self.kernel(device, running, kernel),
            Command::Repeat(repeat) => {
                repeat.0.iter().for_each(|kernel| self.kernel(device, running, kernel));
            }
            Command::Open(buffers) => {
                let tiles = running.tiles(buffers);
                let Some((_, tile)) = tiles.first() else { return };
                let values = tiles.iter().map(|(value, _)| (*value).clone()).collect();
                let (tile, mark) = ((*tile).clone(), device.tracer.mark());
                self.open.push(Filled { values, tile, old: None, mark });
            }
            Command::OpenOld { buffer, old, .. } => {
                let old = running.of_buffer(*old).map(|(value, _)| value.clone());
                if let Some((value, tile)) = running.tiles([buffer]).pop() {
                    let (values, mark) = (vec![value.clone()], device.tracer.mark());
                    self.open.push(Filled { values, tile: tile.clone(), old, mark });
                }
            }
            Command::Close => {
                let Some(Filled { values, tile, old, mark }) = self.open.pop() else { return };
                values.iter().for_each(|value| self.made(value, &tile));
                device.tracer.filled(mark, &values, &tile.range, old.as_ref());
            }
            Command::OnHost(command) => {
                if let Some((value, tile)) = step {
                    let name = match &**command {
                        HostCommand::Assign(_) => "assign",
                        HostCommand::Library(library) => library.whole.op().info().name,
                        HostCommand::Scatter => "scatter",
                        HostCommand::WhereTrue => "positions",
                        HostCommand::Gather(_) => "gather",
                    };
                    device.tracer.step(|| {
                        let mut doing = Doing::on_host(name);
                        for operand in value.state().operands.iter().flatten() {
                            doing = doing.reads(operand, 0..operand.len());
                        }
                        doing.writes(value, tile.range.clone())
                    });
                    self.made(value, tile);
                }
            }
            Command::Step(_) | Command::Free(_) | Command::Done { .. } => {}
        }
    }

    fn made(&mut self, value: &Value, tile: &Tile) {
        self.is_new(value, BlockPart::Tile(tile.number));
    }

    /// Whether nothing was said of a part before; it is there from now on.
    fn is_new(&mut self, value: &Value, part: BlockPart) -> bool {
        self.known.insert(value.id());
        self.there.insert((value.id(), part))
    }

    fn kernel(&mut self, device: &OpenDevice, running: &Running, command: &KernelCommand) {
        let operands = command.operands.iter().filter_map(|buffer| {
            let part = running.flush.buffers.get(*buffer as usize)?.part.clone();
            Some((running.of_buffer(*buffer)?.0.clone(), part))
        });
        let (code, operands) = (command.code.clone(), operands.collect());
        let kernel = Kernel { code, operands, params: Default::default() };
        for (value, part) in &kernel.operands {
            let is_new = self.is_new(value, part.clone());
            if is_new && !device.caps.host_memory && !device.has_part(value, part) {
                device.tracer.step(|| {
                    let what = StepAction::Upload { gathered: matches!(part, BlockPart::View(_)) };
                    let bytes = device.part_bytes(value, part) as usize;
                    let reach = device.reach_of(value, part);
                    Doing::new(what, device.name).reads(value, reach).moves(bytes)
                });
            }
        }
        let written = match &command.goes {
            LaunchTarget::Tiles(tiles) => running.tiles(tiles),
            LaunchTarget::Open(_) => Vec::new(),
        };
        written.iter().for_each(|(value, tile)| self.made(value, tile));
        let computes = command.computes.iter();
        let computes = computes
            .filter_map(|number| Some(running.values.get(*number as usize)?.as_ref()?.id()))
            .collect();
        let old = command.taken.as_ref().map(|(operand, _)| subject(&kernel.operands[*operand].0));
        let done = Evaluated { launches: 1, ..Evaluated::default() };
        device.tracer.step(|| {
            told(device, &kernel, written, computes, (done, Duration::ZERO)).in_place_of(old)
        });
    }
}
