//! Boxes (index-set splitting): a tile evaluated part by part, where its walk meets the ends of joined values.
//!
//! Owns the cutting. A walk goes over as many points as it can; the others are walked over afterwards; all boxes go
//! into one block. Usually one box is everything but the edges, and all boxes are one program. Boxes of the same
//! extents, as of components that are put side by side, are one launch with a destination for each. Invariant: all
//! boxes are known before one is launched, so that their needs are computed before.
//!
//! Not here: where a walk is cut (`graph/join.rs`), launches (`commands/list.rs`).

use super::{PreparedStep, TileStep, before};
use crate::graph::value::{NodeOp, Value, ValueKind};
use crate::memory::access;
use crate::memory::tiling::Tile;
use crate::schedule::destination::RootDestinations;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::kernels::partition::Possible;
use crate::schedule::kernels::walk_kernels::WalkKernels;
use crate::schedule::walk::rematerialisation::Rematerialisation;
use crate::schedule::walk::{CutWalk, FusionWalk, JoinCut, Needs, Start};
use crate::thresholds::T;
use gpupy_core::Result;
use gpupy_core::driver::Access;
use gpupy_core::ir::Form;
use gpupy_core::shape::{Shape, contiguous_strides};
use smallvec::SmallVec;
use std::collections::VecDeque;

/// A box with the walk of its points.
struct WalkedBox {
    walk: FusionWalk,
    /// Its points in the value.
    at: Access,
    /// Its place in the tile.
    place: Access,
}

/// Some points of a tile: their walk over the value, their place in the tile, their extents.
type BoxPiece = (Access, Access, Shape);

/// The step of a tile whose boxes have walks of their own, or the values that would be recomputed and are stored first;
/// `found` is the walk of the first box.
///
/// # Errors
/// As of a walk.
pub(super) fn of_tile(
    device: &mut OpenDevice,
    again: &mut Rematerialisation,
    value: &Value,
    tile: &Tile,
    found: CutWalk,
) -> Result<Possible<PreparedStep>> {
    let is_join = matches!(value.0.kind, ValueKind::Expr { op: NodeOp::Join(_), .. });
    let (walk, space) = access::space_of_tile(value.shape(), tile);
    let whole = access::access(0, &contiguous_strides(&space));
    let mut open: Vec<BoxPiece> = vec![(walk, whole.clone(), space.clone())];
    let mut found = Some(found);
    let (mut walks, mut stored) = (Vec::new(), Needs::new());
    while let Some(piece) = open.pop() {
        let much = !is_join && open.len() + walks.len() >= T.most_boxes;
        let found = match found.take() {
            Some(found) => found,
            None => {
                let (start, at, space) = ([Start::Itself(value)], piece.0.clone(), piece.2.clone());
                if much {
                    let rest = FusionWalk::new(device, &start, at, space)?;
                    if !rest.needs.is_empty() {
                        // With the joins computed, there are no more so many boxes.
                        return Ok(Err(rest.needs));
                    }
                    Ok((rest, Vec::new()))
                } else {
                    FusionWalk::up_to_cuts(device, &start, at, space)?
                }
            }
        };
        match found {
            Ok((walk, cuts)) => {
                let cut_off = |piece, cut| {
                    let [behind, before] = halves(piece, cut);
                    open.push(behind);
                    before
                };
                let (at, place, _) = cuts.into_iter().fold(piece, cut_off);
                stored.extend(again.stored_first(&walk, value, device).into_iter().flatten());
                walks.push(WalkedBox { walk, at, place });
            }
            Err(cut) => open.extend(halves(piece, cut)),
        }
    }
    if !stored.is_empty() {
        return Ok(Err(stored));
    }
    let mut walks: VecDeque<_> = walks.into();
    let apart: Needs = walks.iter().flat_map(|own| own.walk.needs.iter().cloned()).collect();
    let (mut boxes, mut needs) = (Vec::with_capacity(walks.len()), Needs::new());
    while let Some(first) = walks.pop_front() {
        let alike = walks.iter().take_while(|other| first.walk.space == other.walk.space);
        let count = alike.take(device.caps.max_dests - 1).count();
        if let Some(found) = together(device, value, &first, &walks, (count, &apart))? {
            boxes.push(found.kernels);
            needs.extend(found.needs);
            walks.drain(..found.others);
            continue;
        }
        let WalkedBox { mut walk, place, .. } = first;
        needs.append(&mut walk.needs);
        match WalkKernels::of(device, walk, RootDestinations::place(Form::Map, place))? {
            Ok(kernels) => boxes.push(kernels),
            Err(more) => return Ok(Err(before(needs, more))),
        }
    }
    Ok(Ok(PreparedStep { step: TileStep::Boxes(boxes), needs }))
}

/// Boxes of one kernel.
struct BoxesTogether {
    kernels: WalkKernels,
    /// How many there are behind the first.
    others: usize,
    /// The tiles to compute first: fewer than those of the boxes apart, where it computes what several of them need.
    needs: Needs,
}

/// The one kernel of a box and of as many others behind it as a device takes, up to so many, each a destination in the
/// tile's block. It computes once what several of them need. `None` where each box has a kernel of its own, as together
/// they would need more first than apart.
///
/// # Errors
/// As of a walk.
fn together(
    device: &mut OpenDevice,
    value: &Value,
    first: &WalkedBox,
    behind: &VecDeque<WalkedBox>,
    (mut others, apart): (usize, &Needs),
) -> Result<Option<BoxesTogether>> {
    while others > 0 {
        let all = || std::iter::once(first).chain(behind.iter().take(others));
        let space = first.walk.space.clone();
        let at = all().map(|own| own.at.clone());
        if let Some(mut walk) = FusionWalk::of_boxes(device, value, at, space)?
            && walk.needs_no_more_than(apart)
        {
            let needs = std::mem::take(&mut walk.needs);
            let places = all().map(|own| Some(own.place.clone())).collect();
            let ends = RootDestinations { form: Form::Map, further: SmallVec::new(), places };
            if let Ok(kernels) = WalkKernels::of_all(device, walk, ends) {
                return Ok(Some(BoxesTogether { kernels, others, needs }));
            }
        }
        others /= 2;
    }
    Ok(None)
}

/// The points before and from `at` on along an axis.
fn halves((walk, place, space): BoxPiece, (axis, at): JoinCut) -> [BoxPiece; 2] {
    let (mut first, mut second) = (space.clone(), space);
    first[axis] = at;
    second[axis] -= at;
    let mut rest = (walk.clone(), place.clone());
    rest.0.offset += rest.0.strides[axis] * at as i64;
    rest.1.offset += rest.1.strides[axis] * at as i64;
    [(rest.0, rest.1, second), (walk, place, first)]
}
