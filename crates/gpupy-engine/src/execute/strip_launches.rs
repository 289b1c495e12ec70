//! Launches strip by strip: all kernels for some rows, then all for the next rows (strip-mining).
//!
//! Invariants: no value is marked as computed before all strips are; strips that fail leave nothing behind.
//!
//! Not here: which kernels and rows form strips (`schedule/steps/strip_mining.rs`).

use crate::blocks::cache::BlockPart;
use crate::execute::evaluate::Engine;
use crate::execute::launch::{evaluated, told};
use crate::graph::value::{Value, ValueId};
use crate::memory::tiling::Tile;
use crate::schedule::program::kernel::Kernel;
use crate::schedule::steps::strip_mining::Strips;
use gpupy_core::Result;
use gpupy_core::driver::{BlockId, BlockSpec, Dest, Evaluated, Launch};
use smallvec::SmallVec;
use std::time::Duration;

/// A kernel of strips, with the tiles that it gives, and the values that it computes, for a listener.
pub(super) struct Striped {
    pub kernel: Kernel,
    pub tiles: SmallVec<[(Value, Tile); 2]>,
    pub computes: Vec<ValueId>,
}

/// A kernel whose strips are launched: its blocks, and its cost so far.
struct Striping {
    operands: SmallVec<[BlockId; 8]>,
    dests: SmallVec<[(BlockId, BlockSpec); 2]>,
    done: Evaluated,
    time: Duration,
}

impl Engine {
    /// Launches kernels strip by strip, each into tiles of its own; those of contracted results are gone afterwards.
    ///
    /// # Errors
    /// Any error of the driver; then none of the tiles is there.
    pub(super) fn launch_strips(
        &mut self,
        position: usize,
        kernels: &[Striped],
        strips: &Strips,
    ) -> Result<()> {
        let (mut pinned, mut begun) = (Vec::new(), Vec::with_capacity(kernels.len()));
        let launched =
            self.launch_pinned_strips(position, kernels, strips, &mut pinned, &mut begun);
        let device = self.device(position)?;
        for (value, part) in &pinned {
            device.unpin(*value, part);
        }
        self.residents.advance();
        let device = self.device(position)?;
        if let Err(error) = launched {
            let dests = begun.iter().flat_map(|striping| &striping.dests);
            dests.for_each(|(block, _)| device.driver.block_free(*block));
            return Err(error.with_default("driver", device.name));
        }
        for (number, (Striped { tiles, .. }, Striping { dests, .. })) in
            kernels.iter().zip(&begun).enumerate()
        {
            for (k, ((value, tile), dest)) in tiles.iter().zip(dests).enumerate() {
                if strips.contracted(number, k, tile).is_some() {
                    device.free(*dest);
                    continue;
                }
                device.insert(value, BlockPart::Tile(tile.number), *dest, tile.range.clone());
                value.mark_computed(tile.range.clone());
            }
        }
        let (device, stats) = self.device_and_stats(position)?;
        for (striped, Striping { done, time, .. }) in kernels.iter().zip(begun) {
            let Striped { kernel, tiles, computes } = striped;
            let written = || tiles.iter().map(|(value, tile)| (value, tile)).collect();
            stats.kernels_compiled += u64::from(done.compiled);
            stats.kernels_specialised += u64::from(done.specialised);
            stats.launches += u64::from(done.launches);
            stats.instructions += (kernel.program.operation_count() * strips.count()) as u64;
            device.tracer.step(|| told(device, kernel, written(), computes.clone(), (done, time)));
        }
        Ok(())
    }

    /// Launches the strips; what was pinned, and the blocks that were allocated, are in the lists, whatever happens.
    /// The blocks are in no cache before: what lies in host memory is read there as soon as it is said to be there.
    fn launch_pinned_strips(
        &mut self,
        position: usize,
        kernels: &[Striped],
        strips: &Strips,
        pinned: &mut Vec<(ValueId, BlockPart)>,
        begun: &mut Vec<Striping>,
    ) -> Result<()> {
        for (number, Striped { kernel, tiles, .. }) in kernels.iter().enumerate() {
            let mut operands = SmallVec::new();
            for (operand, part) in &kernel.operands {
                let results = kernels.iter().zip(&*begun);
                let mut results =
                    results.flat_map(|(own, striping)| own.tiles.iter().zip(&striping.dests));
                if let Some((_, (block, _))) =
                    results.find(|((value, _), _)| value.id() == operand.id())
                {
                    operands.push(*block);
                    continue;
                }
                operands.push(self.operand_block(position, operand, part)?);
                self.device(position)?.pin(operand.id(), part);
                pinned.push((operand.id(), part.clone()));
            }
            let (done, time) = (Evaluated::default(), Duration::ZERO);
            begun.push(Striping { operands, dests: SmallVec::new(), done, time });
            for (k, (value, tile)) in tiles.iter().enumerate() {
                let contracted = strips.contracted(number, k, tile);
                self.make_way(value, contracted.as_ref().unwrap_or(&tile.range))?;
                let (device, stats) = self.device_and_stats(position)?;
                let spec = match contracted {
                    Some(range) => BlockSpec::new(value.dtype(), range.len()),
                    None => device.spec(value, &tile.range)?,
                };
                let dest = (device.alloc(spec, stats)?, spec);
                begun[number].dests.push(dest);
            }
        }
        let (device, stats) = self.device_and_stats(position)?;
        for rows in strips.ranges() {
            for (number, (Striped { kernel, .. }, striping)) in
                kernels.iter().zip(&mut *begun).enumerate()
            {
                let code = strips.code(number, &kernel.code, rows.clone());
                let dests = striping.dests.iter().zip(&code.dests);
                let dests: SmallVec<[Dest; 2]> = dests
                    .map(|((block, _), access)| Dest {
                        block: *block,
                        access: access.clone(),
                        whole: false,
                    })
                    .collect();
                let launch = Launch {
                    program: &kernel.program,
                    fingerprint: kernel.fingerprint(),
                    shape: &code.space,
                    operands: &striping.operands,
                    params: &kernel.params,
                    accesses: &code.accesses,
                    dests: &dests,
                    memory: &[],
                    lend: None,
                    rest: None,
                };
                let (done, time) = evaluated(device, stats, &launch)?;
                striping.time += time;
                striping.done.compiled += done.compiled;
                striping.done.specialised += done.specialised;
                striping.done.launches += done.launches;
                striping.done.code = done.code.or(striping.done.code.take());
            }
        }
        Ok(())
    }
}
