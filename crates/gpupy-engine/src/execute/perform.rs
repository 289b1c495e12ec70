//! Steps are done: each computes one tile of a value.
//!
//! Owns what is done beside walks through a device: walks into parts of a block that becomes the tile. Invariant: of a
//! step that fails, nothing is left.
//!
//! Not here: which step computes a tile (`schedule/steps/`), walks (`pieces.rs`), assignments (`assign.rs`) and what
//! is done in host memory.

use crate::execute::evaluate::Engine;
use crate::graph::value::Value;
use crate::memory::tiling::Tile;
use crate::schedule::destination::{Destination, Ends};
use crate::schedule::steps::Step;
use crate::schedule::walk::Flow;
use gpupy_core::Result;
use gpupy_core::driver::BlockId;
use smallvec::smallvec;

impl Engine {
    /// Does the step that computes a tile, or tells what it needs first.
    ///
    /// # Errors
    /// Any error of the driver; what was computed before stays.
    pub fn perform(
        &mut self,
        step: Step,
        value: &Value,
        tile: &Tile,
        device: usize,
    ) -> Result<Flow> {
        let dest = |value: &Value| Destination::Tile { value: value.clone(), tile: tile.clone() };
        match step {
            Step::Nothing => Ok(Flow::Done),
            Step::Kernels(kernels) => self.run(*kernels, &[dest(value)], device),
            Step::Beside { tiles, together, alone, form, further } => {
                let dest_of = |(value, tile)| Destination::Tile { value, tile };
                let dests: Vec<Destination> = tiles.into_iter().map(dest_of).collect();
                let (mut walk, mut count) = (together, dests.len());
                while count > 1 {
                    let further = further.get(..count - 1).unwrap_or_default();
                    let places = smallvec![None; count];
                    let ends = Ends { form, further: further.into(), places };
                    match self.run_together(walk, ends, &dests[..count], device)? {
                        None => return Ok(Flow::Done),
                        // As many as one kernel has room for.
                        Some(rest) => (walk, count) = (rest, count / 2),
                    }
                    walk.roots.truncate(count);
                }
                let alone = alone.unwrap_or(walk);
                self.run_walk(alone, Ends::tile(form), dest(value), device)
            }
            Step::Boxes(boxes) => self.fill_block(value, tile, device, |engine, block| {
                for (number, (kernels, access)) in boxes.into_iter().enumerate() {
                    // What is in the block would be lost in a pause.
                    engine.slice.hold(number > 0);
                    let dest = Destination::Block { block, access, whole: false };
                    if let Flow::Needs(needs) = engine.run(kernels, &[dest], device)? {
                        return Ok(Flow::Needs(needs));
                    }
                }
                Ok(Flow::Done)
            }),
            Step::Reductions(values, n) => {
                let values = &values[..self.reduced_in_one(&values, n, tile, device)?];
                self.fill_blocks(values, tile, device, |engine, blocks| {
                    engine.reduce_in_pieces(values, n, tile, device, blocks)
                })
            }
            Step::StoredReduction(op, n) => {
                self.fill_block(value, tile, device, |engine, block| {
                    engine.reduce_stored(value, (op, n), tile, device, block)
                })
            }
            Step::Assignment(step) => self.assign(value, step, tile, device),
            Step::Whole(step) => self.whole(value, &step, tile, device).map(|()| Flow::Done),
            Step::Scatter => {
                self.capture_no_more();
                self.scatter(value, device).map(|()| Flow::Done)
            }
            Step::WhereTrue => {
                self.capture_no_more();
                self.where_true(value).map(|()| Flow::Done)
            }
            Step::Gathering(at) => {
                self.capture_no_more();
                self.gather_on_host(value, &at, tile).map(|()| Flow::Done)
            }
        }
    }

    /// Fills a block, which becomes a tile of the value when that succeeds.
    pub(super) fn fill_block(
        &mut self,
        value: &Value,
        tile: &Tile,
        device: usize,
        fill: impl FnOnce(&mut Engine, BlockId) -> Result<Flow>,
    ) -> Result<Flow> {
        let value = std::slice::from_ref(value);
        self.fill_blocks(value, tile, device, |engine, blocks| fill(engine, blocks[0]))
    }

    /// Fills a block for each of these values, which become the same tile of each when that succeeds.
    fn fill_blocks(
        &mut self,
        values: &[Value],
        tile: &Tile,
        device: usize,
        fill: impl FnOnce(&mut Engine, &[BlockId]) -> Result<Flow>,
    ) -> Result<Flow> {
        let filling = self.fill_new(values, tile, device)?;
        // A row that is filled on the way to another block must not let a pause lose that.
        let (held, kept) = (self.slice.held(), self.slice.kept());
        let mark = self.tracer.mark();
        let done = fill(self, &filling.blocks);
        self.slice.hold(held);
        match &done {
            Ok(Flow::Done) => {
                self.filled(filling, device)?;
                self.tracer.filled(mark, values, &tile.range, None);
            }
            Ok(Flow::Needs(_)) => {
                // What was computed for it on the way goes with the block.
                self.slice.take_back(kept);
                self.not_filled(filling, None, device);
            }
            Err(error) => self.not_filled(filling, Some(error), device),
        }
        done
    }
}
