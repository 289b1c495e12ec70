//! Tiles of reduction steps: the points that they read, how they are cut where these are more than a block, and when
//! their map is computed apart.
//!
//! A map that is no affine function of one long row, such as a broadcast whose rows are no whole chunks, is computed in
//! its own shape, and stored. A long map is stored one piece at a time: each piece is combined as soon as it is stored,
//! so the map takes the memory of a piece. Invariants: pieces are whole chunks of the canonical tree, so that bits are
//! the same; the needs of all pieces are known before one is computed.
//!
//! Not here: how a reduction is made of steps (`record/reduction_recording.rs`), their launches
//! (`commands/reduction_commands.rs`).

use crate::graph::value::{Input, Value, ValueKind};
use crate::memory::access;
use crate::memory::tiling::{Tile, Tiling};
use crate::schedule::cost;
use crate::schedule::destination::RootDestinations;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::kernels::horizontal_fusion;
use crate::schedule::kernels::walk_kernels::WalkKernels;
use crate::schedule::walk::rematerialisation::Rematerialisation;
use crate::schedule::walk::{FusionWalk, Needs, Start, lost};
use gpupy_core::Result;
use gpupy_core::driver::Access;
use gpupy_core::ir::{AccessKind, Form, REDUCE_CHUNK};
use gpupy_core::op::Op;
use gpupy_core::shape::{MAX_RANK, Shape, contiguous_strides, size_of};
use smallvec::SmallVec;
use std::ops::Range;

/// The pieces of a reduction's tile that read no more than a block, should it have to be gathered.
#[derive(Clone)]
pub(crate) struct ReductionPieces {
    value: Value,
    n: usize,
    tile: Tile,
    cut: ReductionCut,
    next: usize,
}

/// How a tile of a reduction is cut into pieces.
#[derive(Clone)]
enum ReductionCut {
    /// In C order.
    InOrder(Tiling),
    /// So many chunks of all rows at once, the rows cut so, and then the next chunks: as the elements lie that are
    /// read, where those of one row lie far apart.
    Across(usize, Tiling),
}

impl ReductionCut {
    /// That of the tile of a step whose pieces read at most so many elements.
    fn of(value: &Value, n: usize, tile: &Tile, most: usize) -> ReductionCut {
        // A short row is one chunk, of fewer elements.
        let chunks = most / n.clamp(1, REDUCE_CHUNK);
        let Some((_, rows)) = tile.shape.split_last() else {
            return ReductionCut::InOrder(Tiling::new(&tile.shape, chunks));
        };
        let lies_across = || match &value.0.kind {
            ValueKind::Expr { inputs, .. } => {
                let (at, space) = reduced_tile(&inputs[0], value.shape(), tile, n);
                let (along, across) =
                    (at.strides.last(), at.strides.iter().zip(&space).rev().skip(1));
                let widest = across.map(|(stride, extent)| stride.abs() * *extent as i64).max();
                along.is_some_and(|along| *along != 0 && along.abs() >= widest.unwrap_or(i64::MAX))
            }
            _ => false,
        };
        if !value.0.streams || !lies_across() {
            return ReductionCut::InOrder(Tiling::new(&tile.shape, chunks));
        }
        let together = (chunks / size_of(rows).max(1)).max(1);
        ReductionCut::Across(together, Tiling::new(rows, chunks / together))
    }

    /// The piece at a place of the tile, where the places of all pieces follow each other, and its number of points.
    fn piece(&self, tile: &Tile, next: usize) -> (Shape, Shape) {
        match self {
            ReductionCut::InOrder(tiling) => {
                let piece = tiling.tile(tiling.number_at(next));
                (piece.origin, piece.shape)
            }
            ReductionCut::Across(together, tiling) => {
                let (count, rows) = match tile.shape.split_last() {
                    Some((count, rows)) => (*count, size_of(rows)),
                    None => (1, 1),
                };
                let first = next / (together * rows) * together;
                let width = (*together).min(count - first);
                let piece = tiling.tile(tiling.number_at((next - first * rows) / width));
                let (mut origin, mut shape) = (piece.origin, piece.shape);
                origin.push(first);
                shape.push(width);
                (origin, shape)
            }
        }
    }
}

/// Part of a reduction's tile.
pub(crate) struct ReductionPart {
    /// How it reads the operand.
    pub at: Access,
    pub space: Shape,
    /// Where it goes in the tile.
    pub dest: Access,
    pub is_whole: bool,
    pub is_first: bool,
}

impl ReductionPieces {
    /// Those of a tile of a reduction step that combines so many elements.
    pub fn of(device: &OpenDevice, value: &Value, n: usize, tile: &Tile) -> ReductionPieces {
        let cut = ReductionCut::of(value, n, tile, device.reach_len(value));
        let (value, tile) = (value.clone(), tile.clone());
        ReductionPieces { value, n, tile, cut, next: 0 }
    }

    /// Those whose map is stored, one at a time; `None` where all of the map is to be stored: it is short, or no rows
    /// of the operand in their order.
    pub fn stored(
        device: &OpenDevice,
        value: &Value,
        n: usize,
        operand: &Value,
        tile: &Tile,
    ) -> Option<ReductionPieces> {
        let ValueKind::Expr { inputs, .. } = &value.0.kind else { return None };
        let (at, space) = reduced_tile(&inputs[0], value.shape(), tile, n);
        let most = cost::stored_piece(&device.caps).min(device.reach_len(value));
        let is_row = access::kind(&at, &space) == AccessKind::Contiguous;
        if size_of(&space) <= 2 * most || !is_row {
            return None;
        }
        let tiling = Tiling::new(&tile.shape, chunks_of_piece(most, n, operand.shape()));
        let (value, tile, cut) = (value.clone(), tile.clone(), ReductionCut::InOrder(tiling));
        Some(ReductionPieces { value, n, tile, cut, next: 0 })
    }
}

impl ReductionPart {
    /// The positions of the operand that are read, where they are a row.
    pub fn row(&self) -> Range<usize> {
        self.at.offset as usize..self.at.offset as usize + size_of(&self.space)
    }
}

impl Iterator for ReductionPieces {
    type Item = ReductionPart;

    fn next(&mut self) -> Option<ReductionPart> {
        let ValueKind::Expr { inputs, .. } = &self.value.0.kind else { return None };
        if self.next == self.tile.range.len() {
            return None;
        }
        let is_first = self.next == 0;
        let (mut origin, shape) = self.cut.piece(&self.tile, self.next);
        let points = size_of(&shape);
        let is_whole = points == self.tile.range.len();
        let strides = contiguous_strides(&self.tile.shape);
        let offset = strides.iter().zip(&origin).map(|(stride, at)| stride * *at as isize).sum();
        let dest = access::access(offset, &strides);
        self.next += points;
        // The piece's coordinates in the value, not in the tile.
        origin.iter_mut().zip(&self.tile.origin).for_each(|(o, first)| *o += first);
        let (at, space) = reduced_box(&inputs[0], self.value.shape(), (origin, shape), self.n);
        Some(ReductionPart { at, space, dest, is_whole, is_first })
    }
}

/// Reductions that are computed together, with their operands.
pub(crate) struct Combined<'v> {
    pub values: &'v [Value],
    operands: SmallVec<[Option<Value>; 4]>,
}

impl<'v> Combined<'v> {
    /// These reductions, none of which is computed.
    pub fn of(values: &'v [Value]) -> Combined<'v> {
        let operand = |value: &Value| value.state().operands.first().cloned().flatten();
        Combined { values, operands: values.iter().map(operand).collect() }
    }

    /// Where the walk of each starts.
    ///
    /// # Errors
    /// - `Lost`: an operand is not held any more.
    pub fn starts(&self) -> Result<SmallVec<[Start<'_>; 4]>> {
        let all = self.values.iter().zip(&self.operands).map(|(value, operand)| {
            let ValueKind::Expr { inputs, .. } = &value.0.kind else {
                return Err(lost(value.id()));
            };
            Start::input(&inputs[0], operand.as_ref())
        });
        all.collect()
    }

    /// The one kernel that combines a part of each, if a device does all of them in one.
    ///
    /// # Errors
    /// As of a walk.
    pub fn kernels(
        &self,
        device: &mut OpenDevice,
        part: &ReductionPart,
    ) -> Result<Option<WalkKernels>> {
        let (at, space) = (part.at.clone(), part.space.clone());
        let Ok(walk) = FusionWalk::new(device, &self.starts()?, at, space)?.complete() else {
            return Ok(None);
        };
        let ops = self.ops();
        let places = ops.iter().map(|_| Some(part.dest.clone())).collect();
        let form = Form::Reduce { op: ops[0] };
        let ends = RootDestinations { form, further: ops[1..].into(), places };
        Ok(WalkKernels::of_all(device, walk, ends).ok())
    }

    /// The operation of each.
    pub fn ops(&self) -> SmallVec<[Op; 4]> {
        self.values.iter().filter_map(Value::reduces).collect()
    }
}

/// The needs of the pieces of a reduction's tile, and of those that start beside it: the needs of the first piece that
/// has any, and whether they keep the map from being part of the kernel. Pieces that needed nothing are not looked at
/// again.
///
/// # Errors
/// As of a walk.
pub(crate) fn needs(
    device: &mut OpenDevice,
    again: &mut Rematerialisation,
    (value, n): (&Value, usize),
    starts: &[Start<'_>],
    tile: &Tile,
) -> Result<Option<(Needs, bool)>> {
    let combined = starts.iter().filter_map(|start| match start {
        Start::Itself(value) | Start::Value(value) => Some(value.id()),
        Start::Scalar(_) => None,
    });
    // What combines several is another walk than that of each.
    let of = (value.id(), tile.range.start, combined.collect());
    let mut pieces = ReductionPieces::of(device, value, n, tile);
    pieces.next = device.flush.complete_pieces.known(&of);
    let mut needs = None;
    let mut complete = pieces.next;
    while let Some(ReductionPart { at, space, .. }) = pieces.next() {
        needs = match FusionWalk::new(device, starts, at, space)?.complete() {
            Ok(walk) => again.stored_first(&walk, value, device).map(|needs| (needs, false)),
            Err(needs) => Some((needs, true)),
        };
        if needs.is_some() {
            break;
        }
        complete = pieces.next;
    }
    device.flush.complete_pieces.note(of, complete);
    Ok(needs)
}

/// The needs of storing the operand of a reduction's tile piece by piece; or all of the operand, where it cannot be
/// stored so.
///
/// # Errors
/// As of a walk.
pub(crate) fn needs_of_stored(
    device: &OpenDevice,
    again: &mut Rematerialisation,
    (value, n): (&Value, usize),
    operand: &Value,
    tile: &Tile,
    reach: &Range<usize>,
) -> Result<Option<Needs>> {
    if let Some(needs) = needs_of_its_own(device, operand, reach)? {
        return Ok(Some(needs));
    }
    if operand.is_begun(reach.clone()) {
        // A pause came while all of it was stored.
        return Ok(Some(vec![(operand.clone(), reach.clone())]));
    }
    let Some(pieces) = ReductionPieces::stored(device, value, n, operand, tile) else {
        return Ok(Some(vec![(operand.clone(), reach.clone())]));
    };
    let mut needs = Needs::new();
    for piece in pieces {
        for (at, space) in boxes(operand.shape(), piece.row()) {
            match FusionWalk::new(device, &[Start::Value(operand)], at, space)?.complete() {
                Err(more) => needs.extend(more),
                Ok(walk) => {
                    if piece.is_first
                        && let Some((shared, _)) =
                            horizontal_fusion::costly_for_others(&walk, device, value, &[])
                    {
                        needs.push((shared.clone(), 0..shared.len()));
                    }
                    needs.extend(again.stored_first(&walk, operand, device).into_iter().flatten());
                }
            }
        }
    }
    Ok((!needs.is_empty()).then_some(needs))
}

/// The needs of a walk over the first tile of a value, in the value's own shape. If it has to be cut at the parts of a
/// joined value, and the first part has needs, the joined value is needed: the others may have some, too.
fn needs_of_its_own(
    device: &OpenDevice,
    value: &Value,
    reach: &Range<usize>,
) -> Result<Option<Needs>> {
    let tiling = device.tiling_of(value);
    let tile = tiling.tile(tiling.number_at(reach.start));
    let (at, space) = access::space_of_tile(value.shape(), &tile);
    let (start, (whole, points)) = ([Start::Value(value)], (at.clone(), space.clone()));
    let needs = match FusionWalk::up_to_cuts(device, &start, at, space)? {
        Ok((walk, cuts)) if cuts.is_empty() || walk.needs.is_empty() => walk.needs,
        Ok(_) => FusionWalk::new(device, &start, whole, points)?.needs,
        Err(_) => Needs::new(),
    };
    Ok((!needs.is_empty()).then_some(needs))
}

/// The chunks of a piece of at most so many elements, of rows of `n` that are combined; where they can, they end where
/// rows of the operand do.
fn chunks_of_piece(most: usize, n: usize, operand: &[usize]) -> usize {
    let chunks = most / n.clamp(1, REDUCE_CHUNK);
    let width = operand.last().copied().unwrap_or(1).max(1);
    let shared = 1 << width.trailing_zeros().min(REDUCE_CHUNK.trailing_zeros());
    let rows = width / shared;
    if rows <= chunks { chunks - chunks % rows } else { chunks.max(1) }
}

/// Boxes of coordinates that are together these positions of a value in C order, one after another: their walks.
pub(crate) fn boxes(shape: &[usize], range: Range<usize>) -> Vec<(Access, Shape)> {
    let strides = contiguous_strides(shape);
    let mut found = Vec::new();
    let mut at = range.start;
    while at < range.end {
        let fits = |axis: &usize| {
            let step = strides[*axis] as usize;
            at.is_multiple_of(step) && at + step <= range.end
        };
        let Some(axis) = (0..shape.len()).find(fits) else { break };
        let step = strides[axis] as usize;
        let count = ((range.end - at) / step).min(shape[axis] - at / step % shape[axis]);
        let extent = |own: usize| match own {
            _ if own < axis => 1,
            _ if own == axis => count,
            _ => shape[own],
        };
        found.push((access::access(at as isize, &strides), (0..shape.len()).map(extent).collect()));
        at += count * step;
    }
    found
}

/// The input space of a tile of a reduction step of this shape, and the operand's access over it.
pub(crate) fn reduced_tile(
    input: &Input,
    shape: &[usize],
    tile: &Tile,
    n: usize,
) -> (Access, Shape) {
    reduced_box(input, shape, (tile.origin.clone(), tile.shape.clone()), n)
}

/// Like `reduced_tile`, for a box of coordinates: its first ones, and its extents.
fn reduced_box(
    input: &Input,
    shape: &[usize],
    (mut first, mut space): (Shape, Shape),
    n: usize,
) -> (Access, Shape) {
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

/// The walk of a reduction over a value of this shape with the value's own axes in place of one long row, where no
/// chunk goes beyond the end of one of its rows: so operations that need coordinates have them.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::strided::each_point;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn boxes_are_the_positions_one_after_another(
            shape in prop::collection::vec(1usize..6, 1..5),
            ends in any::<(usize, usize)>(),
        ) {
            let len = size_of(&shape);
            let (start, end) = (ends.0 % len, 1 + ends.1 % len);
            prop_assume!(start < end);
            let mut next = start;
            let found = boxes(&shape, start..end);
            prop_assert!(found.len() < 2 * shape.len());
            for (at, space) in found {
                prop_assert_eq!(at.offset as usize, next);
                prop_assert!(access::kind(&at, &space) != AccessKind::Affine || size_of(&space) == 1);
                // Inside each axis.
                prop_assert!(access::coordinates(&at, &space, &shape).is_some());
                next += size_of(&space);
            }
            prop_assert_eq!(next, end);
        }

        #[test]
        fn pieces_across_are_each_place_once(
            shape in prop::collection::vec(1usize..6, 1..4),
            most in 1usize..40,
            together in 1usize..4,
        ) {
            let tile = Tiling::new(&shape, usize::MAX).tile(0);
            let (_, rows) = shape.split_last().expect("there are axes");
            let cut = ReductionCut::Across(together, Tiling::new(rows, most));
            let strides = contiguous_strides(&shape);
            let (mut seen, mut next) = (vec![0; size_of(&shape)], 0);
            while next < seen.len() {
                let (origin, extents) = cut.piece(&tile, next);
                let at: isize = strides.iter().zip(&origin).map(|(s, o)| s * *o as isize).sum();
                let walk = access::access(at, &strides);
                each_point((walk.offset, &walk.strides), &extents, |at| seen[at as usize] += 1);
                next += size_of(&extents);
            }
            prop_assert_eq!(seen, vec![1; size_of(&shape)]);
        }

        #[test]
        fn pieces_end_with_rows_where_they_can(width in 1usize..5000, n in 1usize..10_000_000) {
            let chunks = chunks_of_piece(1 << 18, n, &[1, width]);
            prop_assert!(chunks * n.min(REDUCE_CHUNK) <= 1 << 18);
            let is_whole = (chunks * REDUCE_CHUNK).is_multiple_of(width);
            prop_assert!(is_whole || width > 1024 || n < REDUCE_CHUNK);
        }
    }
}
