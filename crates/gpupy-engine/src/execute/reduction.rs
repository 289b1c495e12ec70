//! Tiles of reduction steps: what they read, and how they are cut where that is more than a block.
//!
//! Not here: how a reduction is made of steps (`record/reduced.rs`).

use super::evaluate::Engine;
use crate::blocks::cache::Part;
use crate::graph::value::{Input, Kind, Value};
use crate::memory::access;
use crate::memory::tiling::{Tile, Tiling};
use crate::schedule::destination::Destination;
use crate::schedule::walk::{Flow, Start, Walk};
use gpupy_core::Result;
use gpupy_core::driver::Access;
use gpupy_core::ir::{Form, REDUCE_CHUNK};
use gpupy_core::op::Op;
use gpupy_core::shape::{MAX_RANK, Shape, contiguous_strides};

impl Engine {
    /// Evaluates a tile of a reduction step piece by piece, so that what a piece reads is no more
    /// than a block, should it have to be gathered.
    pub fn reduce_in_pieces(
        &mut self,
        value: &Value,
        (op, n): (Op, usize),
        start: Start<'_>,
        tile: &Tile,
        device: usize,
    ) -> Result<Flow> {
        let Kind::Expr { inputs, .. } = &value.0.kind else { return Ok(Flow::Done) };
        let (open, stats) = self.device_and_stats(device)?;
        let pieces = Tiling::new(&tile.shape, open.reach_len() / REDUCE_CHUNK);
        let spec = open.spec(value, &tile.range)?;
        let block = open.alloc(spec, stats)?;
        let mut piece_at = 0;
        let done = loop {
            if piece_at == tile.range.len() {
                break Ok(Flow::Done);
            }
            let mut piece = pieces.tile(pieces.number_at(piece_at));
            let whole = piece.range.len() == tile.range.len();
            let dest = access::of_tile(&tile.shape, &piece);
            piece_at = piece.range.end;
            // The piece's coordinates in the value, not in the tile.
            piece.origin.iter_mut().zip(&tile.origin).for_each(|(o, first)| *o += first);
            let (at, space) = reduced_tile(&inputs[0], value.shape(), &piece, n);
            // As in boxes.
            self.slice.hold(piece_at > piece.range.len());
            let done = match Walk::new(self.device(device)?, &[start], at, space) {
                Ok(Ok(walk)) => match self.stored_first(&walk, value, device) {
                    Some(needs) => Ok(Flow::Needs(needs)),
                    None => {
                        let dest = Destination::Block { block, access: dest, whole };
                        self.run(walk, Form::Reduce { op }, dest, device)
                    }
                },
                Ok(Err(needs)) => Ok(Flow::Needs(needs)),
                Err(error) => Err(error),
            };
            if !matches!(done, Ok(Flow::Done)) {
                break done;
            }
        };
        self.slice.hold(false);
        let open = self.device(device)?;
        if let Ok(Flow::Done) = done {
            open.insert(value, Part::Tile(tile.number), (block, spec), tile.range.clone());
            value.mark_computed(tile.range.clone());
        } else {
            open.driver.block_free(block);
        }
        done
    }
}

/// The input space of a tile of a reduction step of this shape, and the operand's access over it.
pub(crate) fn reduced_tile(
    input: &Input,
    shape: &[usize],
    tile: &Tile,
    n: usize,
) -> (Access, Shape) {
    let mut space = tile.shape.clone();
    let mut first = tile.origin.clone();
    if let (Some(extent), Some(start)) = (space.last_mut(), first.last_mut()) {
        *start *= REDUCE_CHUNK;
        *extent = (*extent * REDUCE_CHUNK).min(n - *start);
    }
    let operand: Shape = shape.iter().rev().skip(1).rev().copied().chain([n]).collect();
    let mut at = input.access(&operand);
    for (stride, start) in at.strides.iter().zip(&first) {
        at.offset += stride * *start as i64;
    }
    (at, space)
}

/// The walk of a reduction over a value of this shape with the value's own axes in place of one long
/// row, where no chunk goes beyond the end of one of its rows: so what needs coordinates has them.
pub(crate) fn in_rows(at: &Access, space: &[usize], shape: &[usize]) -> Option<(Access, Shape)> {
    let ((n, others), width) = (space.split_last()?, shape.last()?);
    let goes_on = at.strides.last() == Some(&1);
    if !goes_on || !width.is_multiple_of(REDUCE_CHUNK) || n <= width {
        return None;
    }
    let (mut rest, mut extents) = (*n, Shape::new());
    for extent in shape.iter().rev().filter(|extent| **extent > 1) {
        let part = rest.min(*extent);
        if !rest.is_multiple_of(part) {
            return None;
        }
        extents.insert(0, part);
        rest /= part;
        if rest == 1 {
            break;
        }
    }
    if rest > 1 || others.len() + extents.len() > MAX_RANK {
        return None;
    }
    let (_, strides) = at.strides.split_last()?;
    let inner = contiguous_strides(&extents).into_iter().map(|stride| stride as i64);
    let strides = strides.iter().copied().chain(inner).collect();
    let space = others.iter().copied().chain(extents).collect();
    Some((Access { offset: at.offset, strides }, space))
}
