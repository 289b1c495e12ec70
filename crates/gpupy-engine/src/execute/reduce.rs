//! Reductions of more than a block, or of a map that is stored: piece by piece into blocks that the caller holds.
//!
//! Owns the pieces' launches. Invariants: of several reductions each piece is read once, where one kernel does them;
//! a pause loses no piece that was combined.
//!
//! Not here: which pieces there are (`schedule/reduction.rs`), which reductions go together (`schedule/together.rs`).

use crate::execute::evaluate::Engine;
use crate::graph::value::{Input, NodeOp, Value};
use crate::memory::access;
use crate::memory::tiling::{Tile, Tiling};
use crate::memory::view::View;
use crate::schedule::destination::{Destination, Ends};
use crate::schedule::kernels::Kernels;
use crate::schedule::partition::Partition;
use crate::schedule::reduction::{self, Combined, Part, Pieces};
use crate::schedule::walk::{Flow, Needs, Start, Walk, lost};
use gpupy_core::Result;
use gpupy_core::driver::{Access, BlockId};
use gpupy_core::ir::Form;
use gpupy_core::op::Op;
use gpupy_core::shape::contiguous_strides;
use smallvec::{SmallVec, smallvec};
use std::ops::Range;

/// What becomes of reductions that are combined into the same place of a block each.
fn ends(ops: &[Op], place: &Access) -> Ends {
    let places = ops.iter().map(|_| Some(place.clone())).collect();
    Ends { form: Form::Reduce { op: ops[0] }, further: ops[1..].into(), places }
}

impl Engine {
    /// How many of these, from the first, one kernel of a piece does.
    ///
    /// # Errors
    /// As of a walk.
    pub(super) fn reduced_in_one(
        &mut self,
        values: &[Value],
        n: usize,
        tile: &Tile,
        device: usize,
    ) -> Result<usize> {
        let mut count = values.len();
        while count > 1 {
            let combined = Combined::of(&values[..count]);
            let open = self.device(device)?;
            let Some(Part { at, space, dest, .. }) = Pieces::of(open, &values[0], n, tile).next()
            else {
                break;
            };
            let walk = Walk::new(open, &combined.starts()?, at, space)?;
            let Ok(walk) = walk.complete() else { return Ok(1) };
            let ops = combined.ops();
            if Kernels::as_one(self.device(device)?, walk, ends(&ops, &dest)).is_ok() {
                break;
            }
            count /= 2;
        }
        Ok(count)
    }

    /// Reduces what a tile of each of these combines, piece by piece, into their blocks.
    pub(super) fn reduce_in_pieces(
        &mut self,
        values: &[Value],
        n: usize,
        tile: &Tile,
        device: usize,
        blocks: &[BlockId],
    ) -> Result<Flow> {
        let combined = Combined::of(values);
        let (starts, ops) = (combined.starts()?, combined.ops());
        let mut pieces = Pieces::of(self.device(device)?, &values[0], n, tile);
        while let Some(part) = pieces.next() {
            let Part { at, space, dest: access, is_whole: whole, is_first } = part;
            // As in boxes.
            self.slice.hold(!is_first);
            let dest = |block: &BlockId| Destination::Block {
                block: *block,
                access: access.clone(),
                whole,
            };
            if values.len() > 1 {
                let dests: SmallVec<[Destination; 4]> = blocks.iter().map(dest).collect();
                let open = self.device(device)?;
                let walk = match Walk::new(open, &starts, at.clone(), space.clone())?.complete() {
                    Err(needs) => return Ok(Flow::Needs(needs)),
                    Ok(walk) => walk,
                };
                if self.run_together(walk, ends(&ops, &access), &dests, device)?.is_none() {
                    continue;
                }
            }
            for ((start, op), block) in starts.iter().zip(&ops).zip(blocks) {
                let (place, form) = ((at.clone(), space.clone()), Form::Reduce { op: *op });
                if let Flow::Needs(mut needs) =
                    self.run_from(*start, place, form, dest(block), device)?
                {
                    needs.extend(self.needs_of_all(pieces, &starts, &ops, device)?);
                    return Ok(Flow::Needs(needs));
                }
                self.slice.hold(true);
            }
        }
        Ok(Flow::Done)
    }

    /// What pieces need first that are cut as the one before them: asked at once, as what was combined of the others is
    /// lost until all have it.
    fn needs_of_all(
        &mut self,
        pieces: Pieces<'_>,
        starts: &[Start<'_>],
        ops: &[Op],
        device: usize,
    ) -> Result<Needs> {
        let open = self.device(device)?;
        let mut needs = Needs::new();
        for Part { at, space, .. } in pieces {
            for (start, op) in starts.iter().zip(ops) {
                let walk = match Walk::new(open, &[*start], at.clone(), space.clone())?.complete() {
                    Ok(walk) => walk,
                    Err(more) => {
                        needs.extend(more);
                        continue;
                    }
                };
                let form = Form::Reduce { op: *op };
                // What the device refuses is said where it is launched.
                if let Ok(Err(more)) = Partition::new(walk, None).cut(open, form) {
                    needs.extend(more);
                }
            }
        }
        Ok(needs)
    }

    /// Reduces what a tile combines, of a map that is stored piece by piece, into its block.
    pub(super) fn reduce_stored(
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
            let Part { space, dest: access, is_whole: whole, .. } = piece;
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
