//! Steps are done: each computes one tile of a value.
//!
//! Owns what is done beside walks through a device: walks into parts of a block that becomes the tile. Invariant: of a
//! step that fails, nothing is left.
//!
//! Not here: which step computes a tile (`schedule/steps.rs`), walks (`pieces.rs`), assignments (`assign.rs`) and what
//! is done in host memory.

use crate::blocks::cache::Part;
use crate::execute::evaluate::Engine;
use crate::graph::value::{Input, Kind, NodeOp, Value};
use crate::memory::access;
use crate::memory::tiling::{Tile, Tiling};
use crate::memory::view::View;
use crate::schedule::destination::Destination;
use crate::schedule::reduction::{self, Pieces};
use crate::schedule::steps::Step;
use crate::schedule::walk::{Flow, Start, lost};
use gpupy_core::Result;
use gpupy_core::driver::BlockId;
use gpupy_core::ir::Form;
use gpupy_core::op::Op;
use gpupy_core::shape::contiguous_strides;
use smallvec::smallvec;
use std::ops::Range;

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
            Step::Walk(walk, form) => self.run(walk, form, dest(value), device),
            Step::Beside { tiles, together, alone } => {
                let dest_of = |(value, tile)| Destination::Tile { value, tile };
                let dests: Vec<Destination> = tiles.into_iter().map(dest_of).collect();
                let Some(mut rest) = self.run_together(together, &dests, device)? else {
                    return Ok(Flow::Done);
                };
                rest.roots.truncate(1);
                self.run(alone.unwrap_or(rest), Form::Map, dest(value), device)
            }
            Step::Boxes(walks) => self.fill_block(value, tile, device, |engine, block| {
                for (number, (walk, access)) in walks.into_iter().enumerate() {
                    // What is in the block would be lost in a pause.
                    engine.slice.hold(number > 0);
                    let dest = Destination::Block { block, access, whole: false };
                    if let Flow::Needs(needs) = engine.run(walk, Form::Map, dest, device)? {
                        return Ok(Flow::Needs(needs));
                    }
                }
                Ok(Flow::Done)
            }),
            Step::Reduction(op, n) => self.fill_block(value, tile, device, |engine, block| {
                engine.reduce_in_pieces(value, (op, n), tile, device, block)
            }),
            Step::StoredReduction(op, n) => {
                self.fill_block(value, tile, device, |engine, block| {
                    engine.reduce_stored(value, (op, n), tile, device, block)
                })
            }
            Step::Assignment => self.assign(value, tile, device),
            Step::Whole(whole) => self.whole(value, whole, tile, device),
            Step::Scatter => self.scatter(value, device),
            Step::WhereTrue => self.where_true(value),
            Step::Gathering => self.gather_on_host(value, tile),
        }
    }

    /// Fills a block, which becomes a tile of the value when that succeeds.
    fn fill_block(
        &mut self,
        value: &Value,
        tile: &Tile,
        device: usize,
        fill: impl FnOnce(&mut Engine, BlockId) -> Result<Flow>,
    ) -> Result<Flow> {
        let (open, stats) = self.device_and_stats(device)?;
        let spec = open.spec(value, &tile.range)?;
        let block = open.alloc(spec, stats)?;
        // A row that is filled on the way to another block must not let a pause lose that.
        let (held, kept) = (self.slice.held(), self.slice.kept());
        let done = fill(self, block);
        self.slice.hold(held);
        if let Ok(Flow::Needs(_)) = done {
            // What was computed for it on the way goes with the block.
            self.slice.take_back(kept);
        }
        let open = self.device(device)?;
        if let Ok(Flow::Done) = done {
            open.insert(value, Part::Tile(tile.number), (block, spec), tile.range.clone());
            value.mark_computed(tile.range.clone());
        } else {
            open.driver.block_free(block);
        }
        done
    }

    /// Reduces what a tile combines, piece by piece, into its block.
    fn reduce_in_pieces(
        &mut self,
        value: &Value,
        (op, n): (Op, usize),
        tile: &Tile,
        device: usize,
        block: BlockId,
    ) -> Result<Flow> {
        let Kind::Expr { inputs, .. } = &value.0.kind else { return Err(lost(value.id())) };
        let operand = value.state().operands.first().cloned().flatten();
        let start = Start::input(&inputs[0], operand.as_ref())?;
        for part in Pieces::of(self.device(device)?, value, n, tile) {
            let reduction::Part { at, space, dest: access, is_whole: whole, is_first } = part;
            // As in boxes.
            self.slice.hold(!is_first);
            let dest = Destination::Block { block, access, whole };
            let flow = self.run_from(start, (at, space), Form::Reduce { op }, dest, device)?;
            if let Flow::Needs(_) = flow {
                return Ok(flow);
            }
        }
        Ok(Flow::Done)
    }

    /// Reduces what a tile combines, of a map that is stored piece by piece, into its block.
    fn reduce_stored(
        &mut self,
        value: &Value,
        (op, n): (Op, usize),
        tile: &Tile,
        device: usize,
        block: BlockId,
    ) -> Result<Flow> {
        let operand = value.state().operands.first().cloned().flatten();
        let operand = operand.ok_or_else(|| lost(value.id()))?;
        let all_of_it = || Ok(Flow::Needs(vec![(operand.clone(), 0..operand.len())]));
        let pieces = Pieces::stored(self.device(device)?, value, n, &operand, tile);
        let Some(pieces) = pieces else { return all_of_it() };
        // A pause would lose a row that is stored, and what it was computed from is let go when it is.
        self.slice.hold(true);
        for piece in pieces {
            // What pieces did not say before: all of the map is stored.
            let row = self.stored_row(&operand, piece.row(), device)?;
            let Some(row) = row else { return all_of_it() };
            let reduction::Part { space, dest: access, is_whole: whole, .. } = piece;
            let at = access::access(0, &contiguous_strides(&space));
            let (start, dest) = (Start::Value(&row), Destination::Block { block, access, whole });
            let flow = self.run_from(start, (at, space), Form::Reduce { op }, dest, device)?;
            if let Flow::Needs(_) = flow {
                return Ok(flow);
            }
        }
        Ok(Flow::Done)
    }

    /// These elements of a value, computed into a row of their own; `None` where more than a kernel is needed for it.
    fn stored_row(
        &mut self,
        of: &Value,
        range: Range<usize>,
        device: usize,
    ) -> Result<Option<Value>> {
        let len = range.len();
        let view =
            View { offset: range.start as isize, shape: smallvec![len], strides: smallvec![1] };
        let copied = smallvec![(Input::new(of.id(), &view), Some(of.clone()))];
        let place = (of.order().0 + 1, 0);
        let row = Value::within(place, of.dtype(), view.shape, NodeOp::Apply(Op::Cast), copied);
        let boxes = reduction::boxes(of.shape(), range.clone());
        let tile = Tiling::new(&[len], len).tile(0);
        let filled = self.fill_block(&row, &tile, device, |engine, block| {
            for (at, space) in &boxes {
                let mut access = at.clone();
                access.offset -= range.start as i64;
                let dest = Destination::Block { block, access, whole: boxes.len() == 1 };
                let (start, at) = (Start::Value(of), (at.clone(), space.clone()));
                let flow = engine.run_from(start, at, Form::Map, dest, device)?;
                if let Flow::Needs(_) = flow {
                    return Ok(flow);
                }
            }
            Ok(Flow::Done)
        })?;
        Ok(matches!(filled, Flow::Done).then_some(row))
    }
}
