//! Commands of reductions that read more than a block, or a stored map: part by part into the blocks of their results.
//!
//! Invariant: several reductions that one kernel computes read each part once.
//!
//! Not here: the parts (`schedule/steps/reduction_tile.rs`), which reductions go together
//! (`schedule/passes/reduction_groups.rs`).

use super::open_walk::{OpenWalk, WalkSource};
use crate::graph::value::{Input, NodeOp, Value};
use crate::memory::access;
use crate::memory::tiling::{Tile, Tiling};
use crate::memory::view::View;
use crate::schedule::destination::Destination;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::kernels::partition::Possible;
use crate::schedule::kernels::walk_kernels::WalkKernels;
use crate::schedule::steps::reduction_tile::{self, Combined, ReductionPart, ReductionPieces};
use crate::schedule::walk::{Needs, lost};
use gpupy_core::Result;
use gpupy_core::driver::Access;
use gpupy_core::ir::Form;
use gpupy_core::op::Op;
use gpupy_core::shape::{Shape, contiguous_strides};
use smallvec::{SmallVec, smallvec};
use std::ops::Range;

/// How a part of several reductions is done.
pub(super) enum Reduced {
    /// By one kernel, into all of their blocks.
    InOne(Box<WalkKernels>, SmallVec<[Destination; 1]>),
    OneByOne(Vec<OpenWalk>),
}

/// The rest of the tiles of one reduction, or of several that combine the same points.
pub(super) struct ReductionProgress {
    values: SmallVec<[Value; 4]>,
    pieces: ReductionPieces,
}

impl ReductionProgress {
    /// All of the same tile of these, each of so many elements.
    pub fn of(
        device: &OpenDevice,
        values: SmallVec<[Value; 4]>,
        n: usize,
        tile: &Tile,
    ) -> ReductionProgress {
        ReductionProgress { pieces: ReductionPieces::of(device, &values[0], n, tile), values }
    }

    /// The next part; nothing behind the last.
    ///
    /// # Errors
    /// As of a walk.
    pub fn part(&mut self, device: &mut OpenDevice) -> Result<Option<Reduced>> {
        let Some(part) = self.pieces.next() else { return Ok(None) };
        let kernels = match self.values.len() {
            0 | 1 => None,
            _ => Combined::of(&self.values).kernels(device, &part)?,
        };
        Ok(Some(match kernels {
            Some(kernels) => {
                let dest = |number| Destination::Open { number, whole: part.is_whole };
                Reduced::InOne(Box::new(kernels), (0..self.values.len()).map(dest).collect())
            }
            None => Reduced::OneByOne(self.one_by_one(&part)?),
        }))
    }

    /// The walks that do a part of each.
    fn one_by_one(&self, part: &ReductionPart) -> Result<Vec<OpenWalk>> {
        let combined = Combined::of(&self.values);
        let starts = combined.starts()?;
        let walk = |(number, (start, op)): (usize, (&_, Op))| OpenWalk {
            from: WalkSource::of(start),
            at: part.at.clone(),
            space: part.space.clone(),
            form: Form::Reduce { op },
            number,
            access: part.dest.clone(),
            whole: part.is_whole,
        };
        Ok(starts.iter().zip(combined.ops()).enumerate().map(walk).collect())
    }

    /// The needs of all parts that are left.
    ///
    /// # Errors
    /// As of a walk.
    pub fn needs(&self, device: &mut OpenDevice) -> Result<Needs> {
        let mut needs = Needs::new();
        for part in self.pieces.clone() {
            for walk in self.one_by_one(&part)? {
                needs.extend(walk.needs(device)?);
            }
        }
        Ok(needs)
    }
}

/// A part of a reduction whose map is stored.
pub(super) struct StoredPart {
    /// The part of the map, with its one tile.
    pub row: Value,
    pub tile: Tile,
    /// The walks that compute it.
    pub walks: Vec<OpenWalk>,
    /// The walk that combines it.
    pub combined: OpenWalk,
}

/// The rest of the tile of a reduction of a map that is stored piece by piece.
pub(super) struct Storing {
    operand: Value,
    op: Op,
    pieces: ReductionPieces,
}

impl Storing {
    /// A whole tile of a reduction of `n` elements; or, where pieces cannot be stored, the need of all of the map.
    ///
    /// # Errors
    /// - `Lost`: the map is not held any more.
    pub fn of(
        device: &OpenDevice,
        value: &Value,
        (op, n): (Op, usize),
        tile: &Tile,
    ) -> Result<Possible<Storing>> {
        let operand = value.state().operands.first().cloned().flatten();
        let operand = operand.ok_or_else(|| lost(value.id()))?;
        Ok(match ReductionPieces::stored(device, value, n, &operand, tile) {
            Some(pieces) => Ok(Storing { operand, op, pieces }),
            None => Err(all_of(&operand)),
        })
    }

    /// The need of all of the map, where pieces of it cannot be stored after all.
    pub fn all_of_it(&self) -> Needs {
        all_of(&self.operand)
    }

    /// The next part; nothing behind the last.
    pub fn part(&mut self) -> Option<StoredPart> {
        let piece = self.pieces.next()?;
        let (row, tile) = self.row(piece.row());
        let walks = self.walks(piece.row());
        let ReductionPart { space, dest: access, is_whole: whole, .. } = piece;
        let at = access::access(0, &contiguous_strides(&space));
        let (from, form) = (WalkSource::Value(row.clone()), Form::Reduce { op: self.op });
        let combined = OpenWalk { from, at, space, form, number: 0, access, whole };
        Some(StoredPart { row, tile, walks, combined })
    }

    /// A value of these positions of the map, with its one tile.
    fn row(&self, range: Range<usize>) -> (Value, Tile) {
        let (len, of) = (range.len(), &self.operand);
        let view =
            View { offset: range.start as isize, shape: smallvec![len], strides: smallvec![1] };
        let copied = smallvec![(Input::new(of.id(), &view), Some(of.clone()))];
        let place = (of.order().0 + 1, 0);
        let row = Value::within(place, of.dtype(), view.shape, NodeOp::Apply(Op::Cast), copied);
        (row, Tiling::new(&[len], len).tile(0))
    }

    /// The walks that compute these positions.
    fn walks(&self, range: Range<usize>) -> Vec<OpenWalk> {
        let boxes = reduction_tile::boxes(self.operand.shape(), range.clone());
        let whole = boxes.len() == 1;
        let walk = |(at, space): (Access, Shape)| {
            let mut access = at.clone();
            access.offset -= range.start as i64;
            let from = WalkSource::Value(self.operand.clone());
            OpenWalk { from, at, space, form: Form::Map, number: 0, access, whole }
        };
        boxes.into_iter().map(walk).collect()
    }
}

fn all_of(value: &Value) -> Needs {
    vec![(value.clone(), 0..value.len())]
}
