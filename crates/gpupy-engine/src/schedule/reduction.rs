//! Tiles of reduction steps: what they read, and how they are cut where that is more than a block.
//!
//! Not here: how a reduction is made of steps (`record/reduced.rs`), launches (`execute/perform.rs`).

use crate::graph::value::{Input, Kind, Value};
use crate::memory::access;
use crate::memory::tiling::{Tile, Tiling};
use crate::schedule::again::Again;
use crate::schedule::device::Device;
use crate::schedule::walk::{Needs, Start, Walk};
use gpupy_core::Result;
use gpupy_core::driver::Access;
use gpupy_core::ir::REDUCE_CHUNK;
use gpupy_core::shape::{MAX_RANK, Shape, contiguous_strides};

/// The pieces of a reduction's tile that read no more than a block, should it have to be gathered.
pub(crate) struct Pieces<'v> {
    value: &'v Value,
    n: usize,
    tile: &'v Tile,
    tiling: Tiling,
    next: usize,
}

/// Part of a reduction's tile.
pub(crate) struct Part {
    /// How it reads the operand.
    pub at: Access,
    pub space: Shape,
    /// Where it goes in the tile.
    pub dest: Access,
    pub is_whole: bool,
    pub is_first: bool,
}

impl<'v> Pieces<'v> {
    /// Those of a tile of a reduction step that combines so many elements.
    pub fn of(device: &Device, value: &'v Value, n: usize, tile: &'v Tile) -> Pieces<'v> {
        let tiling = Tiling::new(&tile.shape, device.reach_len() / REDUCE_CHUNK);
        Pieces { value, n, tile, tiling, next: 0 }
    }
}

impl Iterator for Pieces<'_> {
    type Item = Part;

    fn next(&mut self) -> Option<Part> {
        let Kind::Expr { inputs, .. } = &self.value.0.kind else { return None };
        if self.next == self.tile.range.len() {
            return None;
        }
        let is_first = self.next == 0;
        let mut piece = self.tiling.tile(self.tiling.number_at(self.next));
        let is_whole = piece.range.len() == self.tile.range.len();
        let dest = access::of_tile(&self.tile.shape, &piece);
        self.next = piece.range.end;
        // The piece's coordinates in the value, not in the tile.
        piece.origin.iter_mut().zip(&self.tile.origin).for_each(|(o, first)| *o += first);
        let (at, space) = reduced_tile(&inputs[0], self.value.shape(), &piece, self.n);
        Some(Part { at, space, dest, is_whole, is_first })
    }
}

/// What the pieces of a reduction's tile need first: that of the first that needs anything.
///
/// # Errors
/// As of a walk.
pub(crate) fn needs(
    device: &Device,
    again: &mut Again,
    (value, n): (&Value, usize),
    start: Start<'_>,
    tile: &Tile,
) -> Result<Option<Needs>> {
    for Part { at, space, .. } in Pieces::of(device, value, n, tile) {
        let needs = match Walk::new(device, &[start], at, space)? {
            Ok(walk) => again.stored_first(&walk, value, device),
            Err(needs) => Some(needs),
        };
        if needs.is_some() {
            return Ok(needs);
        }
    }
    Ok(None)
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
