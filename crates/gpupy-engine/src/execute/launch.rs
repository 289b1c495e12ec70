//! Launching: a kernel becomes one call of a driver.
//!
//! Owns the way from a kernel to its blocks. Operands are found or brought, and pinned while they are used.
//! Destinations are allocated, and become tiles of their values when the launch succeeded. Invariant: a failed launch
//! leaves every value as it was, and no block behind.
//!
//! Not here: which kernels there are (`schedule/compiled/`), their code (`kernel.rs`).

use crate::blocks::cache::BlockPart;
use crate::execute::evaluate::Engine;
use crate::explain::stats::Stats;
use crate::explain::trace::{KernelEvent, StepAction, StepWork, subject};
use crate::explain::tracer::Doing;
use crate::graph::value::{NodeOp, Value, ValueId, ValueKind};
use crate::memory::tiling::Tile;
use crate::schedule::cost::operations;
use crate::schedule::destination::Destination;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::kernels::in_place::TakenOperand;
use crate::schedule::program::kernel::Kernel;
use gpupy_core::driver::{BlockId, Dest, Evaluated, Launch};
use gpupy_core::op::Op;
use gpupy_core::shape::size_of;
use gpupy_core::{DType, ErrorKind, Result};
use smallvec::SmallVec;
use std::time::{Duration, Instant};

/// A kernel that is to be launched.
pub(super) struct Launching {
    pub kernel: Kernel,
    /// Where its results go.
    pub dests: SmallVec<[Destination; 1]>,
    /// The operand whose block it writes into.
    pub taken: Option<TakenOperand>,
    /// The values that it computes, for a listener.
    pub computes: Vec<ValueId>,
}

impl Engine {
    /// Launches a kernel into its destinations, which may be among these open blocks, or into the block of an operand.
    pub(super) fn launch(
        &mut self,
        position: usize,
        Launching { kernel, dests, taken, computes }: Launching,
        open: &[BlockId],
    ) -> Result<()> {
        let (kernel, dests) = (&kernel, &dests[..]);
        let old = taken.as_ref().map(|taken| &kernel.operands[taken.operand].0);
        let in_place_of = old.filter(|_| self.tracer.listens()).map(subject);
        let mut pinned: Vec<(ValueId, BlockPart)> = Vec::new();
        let mut blocks: Vec<BlockId> = Vec::new();
        let mut launched = self.launch_pinned(
            position,
            (kernel, dests, open),
            taken.as_ref(),
            &mut pinned,
            &mut blocks,
        );
        if let (Ok(_), None) = (&launched, &taken) {
            let waited = self.await_queue(position, kernel, &blocks);
            launched = launched.and_then(|done| waited.map(|()| done));
        }
        if launched.as_ref().is_err_and(|error| error.kind() == ErrorKind::Poisoned) {
            self.discard_unreadable(position, &pinned)?;
        }
        let device = self.device(position)?;
        for (value, part) in &pinned {
            device.unpin(*value, part);
        }
        device.forget_views(&kernel.operands);
        self.residents.advance();
        let device = self.device(position)?;
        let in_place = taken.is_some();
        if let Some(taken) = taken {
            taken.end(device, launched.as_ref().err());
            blocks.clear();
        }
        for (dest, block) in dests.iter().zip(blocks) {
            let Destination::Tile { value, tile } = dest else { continue };
            // A block that was evaluated has its memory.
            if launched.is_ok()
                && let Ok(spec) = device.spec(value, &tile.range)
            {
                let part = BlockPart::Tile(tile.number);
                let block = (block, spec);
                device.insert(value, part.clone(), block, tile.range.clone());
                device.follow(value.id(), &part, &pinned);
                value.mark_computed(tile.range.clone());
            } else {
                device.driver.block_free(block);
            }
        }
        if device.was_short() {
            let bytes = kernel.bytes(device);
            device.went_over(bytes);
        }
        let (name, description) = (device.name, device.caps.device.clone());
        let (done, time) =
            launched.map_err(|e| e.with_default("driver", name).with("device", description))?;
        let stats = &mut self.counts[position];
        stats.kernels_compiled += u64::from(done.compiled);
        stats.kernels_specialised += u64::from(done.specialised);
        stats.launches += u64::from(done.launches);
        stats.in_place += u64::from(in_place);
        stats.instructions += kernel.program.operation_count() as u64;
        let device = self.device(position)?;
        device.tracer.step(|| {
            let written = dests.iter().filter_map(|dest| match dest {
                Destination::Tile { value, tile } => Some((value, tile)),
                Destination::Open { .. } => None,
            });
            let written = written.collect();
            told(device, kernel, written, computes, (done, time)).in_place_of(in_place_of)
        });
        Ok(())
    }

    /// Waits for a launch where much is queued.
    fn await_queue(&mut self, position: usize, kernel: &Kernel, blocks: &[BlockId]) -> Result<()> {
        let (operations, points) = (kernel.program.operation_count(), size_of(&kernel.space));
        if self.slice.queue(operations, points)
            && let Some(block) = blocks.first()
        {
            let began = Instant::now();
            self.device(position)?.driver.block_read(*block, 0, &mut [])?;
            self.slice.waited(began.elapsed());
        }
        Ok(())
    }

    /// Finds operands, allocates destinations, and evaluates; what was pinned and allocated is in
    /// the lists, whatever happens.
    fn launch_pinned(
        &mut self,
        position: usize,
        (kernel, dests, open): (&Kernel, &[Destination], &[BlockId]),
        taken: Option<&TakenOperand>,
        pinned: &mut Vec<(ValueId, BlockPart)>,
        blocks: &mut Vec<BlockId>,
    ) -> Result<(Evaluated, Duration)> {
        let mut operands = Vec::new();
        for (value, part) in &kernel.operands {
            operands.push(self.operand_block(position, value, part)?);
            self.device(position)?.pin(value.id(), part);
            pinned.push((value.id(), part.clone()));
        }
        for dest in dests {
            if let (None, Destination::Tile { value, tile }) = (taken, dest) {
                self.make_way(value, &tile.range)?;
            }
        }
        let (device, stats) = self.device_and_stats(position)?;
        let mut places = Vec::new();
        for (dest, access) in dests.iter().zip(&kernel.dests) {
            let (block, whole) = match dest {
                Destination::Open { number, whole } => (open[*number], *whole),
                Destination::Tile { value, tile } => match taken {
                    Some(taken) => (operands[taken.operand], true),
                    None => {
                        let spec = device.spec(value, &tile.range)?;
                        (device.alloc(spec, stats)?, true)
                    }
                },
            };
            blocks.push(block);
            places.push(Dest { block, access: access.clone(), whole });
        }
        let launch = Launch {
            program: &kernel.program,
            fingerprint: kernel.fingerprint(),
            shape: &kernel.space,
            operands: &operands,
            params: &kernel.params,
            accesses: &kernel.accesses,
            dests: &places,
            memory: &[],
            lend: None,
            rest: None,
        };
        evaluated(device, stats, &launch)
    }
}

/// What one call of the driver did, and its time, if there is a listener. A driver without room gets some by eviction.
pub(super) fn evaluated(
    device: &mut OpenDevice,
    stats: &mut Stats,
    launch: &Launch<'_>,
) -> Result<(Evaluated, Duration)> {
    let began = device.tracer.clock();
    loop {
        match device.driver.eval_ir(launch) {
            Err(error)
                if error.kind() == ErrorKind::OutOfMemory && device.relieve(&error, stats)? => {}
            other => {
                let time = began.map_or(Duration::ZERO, |began| began.elapsed());
                return Ok((other?, time));
            }
        }
    }
}

/// The trace of a kernel that writes these tiles.
pub(super) fn told<'v>(
    device: &OpenDevice,
    kernel: &'v Kernel,
    written: Vec<(&'v Value, &Tile)>,
    mut computes: Vec<ValueId>,
    (done, time): (Evaluated, Duration),
) -> Doing<'v> {
    // A reduction is no node of its own map.
    computes.extend(written.iter().map(|(value, _)| value.id()));
    computes.sort_unstable();
    computes.dedup();
    let program = &kernel.program;
    let reductions: Vec<&str> =
        program.reductions().map(|reduction| reduction.op.info().name).collect();
    let whole = written.iter().find_map(|(value, tile)| match &value.0.kind {
        ValueKind::Expr { op: op @ NodeOp::Whole(whole), .. } => Some((op, *whole, *value, *tile)),
        _ => None,
    });
    let points = size_of(&kernel.space);
    let operations = match whole {
        Some((op, _, value, tile)) => operations(op, value.shape(), tile.range.len()) as u64,
        None => (program.operation_count() + reductions.len()) as u64 * points as u64,
    };
    let event = KernelEvent {
        program: program.to_string(),
        fingerprint: kernel.fingerprint().0,
        space: kernel.space.clone(),
        computes,
        operations: program.operation_count(),
        reductions,
        gathers: program.insts.iter().any(|inst| inst.op == Op::Gather),
        library: whole.map(|(_, whole, ..)| whole.op().info().name),
        compiled: done.compiled + done.specialised,
        launches: done.launches,
        code: done.code,
    };
    let mut doing = Doing::new(StepAction::Kernel(Box::new(event)), device.name);
    for (value, part) in &kernel.operands {
        doing = doing.reads(value, device.reach_of(value, part));
    }
    for (value, tile) in &written {
        doing = doing.writes(value, tile.range.clone());
    }
    // Of a block, a kernel reads what its points see; each point is stored, also in a block that is no tile yet.
    let size = |dtype: &DType| dtype.size() as u64;
    let read = kernel.operands.iter().map(|(value, part)| {
        let seen = device.reach_of(value, part).len().min(points) as u64;
        (seen, seen * size(&value.dtype()))
    });
    let out = size_of(&program.form.out_shape(&kernel.space)) as u64;
    let (loads, loaded) = read.fold((0, 0), |(n, bytes), (k, more)| (n + k, bytes + more));
    let stored: u64 = program.dests.iter().map(size).sum();
    let (stores, bytes) = (out * program.dests.len() as u64, loaded + out * stored);
    doing.work(StepWork { operations, loads, stores, bytes }).took(time)
}
