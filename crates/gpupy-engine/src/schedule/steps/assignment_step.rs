//! Steps of assignments: which elements of a tile are written, and where.
//!
//! A tile is written in a block, the old one or a new one. It is written in host memory if the view does not follow the
//! value's axes, or if part of the tile is computed already, because values were cut otherwise then.
//!
//! Not here: whether it is done in place, copies of old elements (`commands/assignment_commands.rs`), writing
//! (`execute/`).

use super::on_host::missing;
use super::{PreparedStep, TileStep, before};
use crate::graph::value::{Input, NodeOp, Value, ValueKind};
use crate::memory::access::{self, Coordinates};
use crate::memory::tiling::Tile;
use crate::memory::view::View;
use crate::schedule::destination::RootDestinations;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::kernels::in_place::SelfReads;
use crate::schedule::kernels::partition::Possible;
use crate::schedule::kernels::walk_kernels::WalkKernels;
use crate::schedule::walk::rematerialisation::Rematerialisation;
use crate::schedule::walk::{FusionWalk, Start, lost};
use crate::thresholds::T;
use gpupy_core::Result;
use gpupy_core::driver::Access;
use gpupy_core::ir::{AccessKind, Form};
use gpupy_core::shape::{Shape, size_of};
use smallvec::SmallVec;
use std::ops::Range;

/// The part of the assigned view that lies in a tile: first point and extents.
type Window = (Shape, Shape);

/// How a tile of an assignment's value is made.
pub(crate) enum Assigned {
    InBlock(Box<Written>),
    /// In host memory, where these positions are missing.
    OnHost(Vec<Range<usize>>),
}

/// The elements that are written into a tile's block.
pub(crate) struct Written {
    /// The kernels that give them; nothing where none of them lies in the tile.
    pub kernels: Option<WalkKernels>,
    /// How the walk reads the old value.
    pub reads: SelfReads,
    /// The coordinates that are written, where they are a box.
    pub region: Option<Region>,
    /// Whether all of the tile is written.
    pub covered: bool,
    /// Whether the kernels write all of it, one element after another.
    pub whole: bool,
}

/// The step of a tile of an assignment; or the tiles that have to be computed before it is known.
///
/// # Errors
/// - `Lost`: its operands are not held any more.
/// - `Unsupported`: the device cannot do an operation of the source.
pub(super) fn of_assignment(
    device: &mut OpenDevice,
    again: &mut Rematerialisation,
    value: &Value,
    tile: &Tile,
) -> Result<Possible<PreparedStep>> {
    let prepared = |step, needs| Ok(Ok(PreparedStep { step: TileStep::Assignment(step), needs }));
    let operands = value.state().operands.clone();
    let (ValueKind::Expr { op: NodeOp::Assign(view), inputs }, [Some(old), source]) =
        (&value.0.kind, operands.as_slice())
    else {
        return Err(lost(value.id()));
    };
    let View { offset, shape, strides } = &**view;
    // Of several points that are one element the last one is written, which only host memory does in order.
    let found = (view.is_injective())
        .then(|| access::coordinates(&access::access(*offset, strides), shape, value.shape()))
        .flatten();
    let window = found.as_ref().and_then(|found| window(found, shape, tile));
    let (Some((first, extents)), false) = (window, value.is_begun(tile.range.clone())) else {
        let gaps = value.state().computed.gaps(tile.range.clone());
        let old = gaps.iter().map(|gap| (old.clone(), gap.clone()));
        let source = source.iter().map(|source| (source.clone(), 0..source.len()));
        let needs = missing(device, source.chain(old));
        return prepared(Assigned::OnHost(gaps), needs);
    };
    let points = size_of(&extents);
    let region = found.and_then(|found| region(&found, &first, &extents, tile));
    let covered = points == tile.range.len();
    let mut needs = missing(device, (!covered).then(|| (old.clone(), tile.range.clone())));
    let walk = match points {
        0 => None,
        _ => Some(source_walk(device, &inputs[1], source.as_ref(), shape, &first, &extents)?),
    };
    if let Some(needs) = walk.as_ref().and_then(|walk| again.stored_first(walk, value, device)) {
        return Ok(Err(needs));
    }
    let at = within_tile(view, &first, tile);
    let reads = walk.as_ref().map_or(SelfReads::Nothing, |walk| walk.reads(old, (&at, tile)));
    if let (SelfReads::Elsewhere, Some(source)) = (reads, source)
        && points.saturating_mul(T.assigned_part) <= tile.range.len()
        && !device.is_all_there(source)
    {
        // A small source is computed by itself; then only this assignment holds the old value.
        let reach = access::reach(&inputs[1].access(shape), shape);
        return Ok(Err(vec![(source.clone(), reach)]));
    }
    let contiguous = |walk: &FusionWalk| {
        access::kind(&at, &walk.space) == AccessKind::Contiguous || size_of(&walk.space) == 1
    };
    let whole = covered && at.offset == 0 && walk.as_ref().is_some_and(contiguous);
    let kernels = match walk {
        None => None,
        Some(mut walk) => {
            needs.append(&mut walk.needs);
            match WalkKernels::of(device, walk, RootDestinations::place(Form::Map, at))? {
                Ok(kernels) => Some(kernels),
                Err(more) => return Ok(Err(before(needs, more))),
            }
        }
    };
    let written = Written { kernels, reads, region, covered, whole };
    prepared(Assigned::InBlock(Box::new(written)), needs)
}

/// Coordinates of a value along each of its axes.
pub(crate) type Region = SmallVec<[Range<usize>; 4]>;

/// The coordinates that the points of a view from `first` on have in a tile, if they are all points of
/// a box. `None` also where the tile is small.
fn region(
    coordinates: &Coordinates,
    first: &[usize],
    extents: &[usize],
    tile: &Tile,
) -> Option<Region> {
    let points = size_of(extents);
    if points == 0 || tile.range.len() < T.assigned_least {
        return None;
    }
    let region: Region = coordinates
        .iter()
        .map(|coordinate| {
            let (mut low, mut high) = (coordinate.offset, coordinate.offset);
            for ((stride, first), extent) in coordinate.strides.iter().zip(first).zip(extents) {
                let (near, far) = (*first as i64 * stride, (first + extent - 1) as i64 * stride);
                low += near.min(far);
                high += near.max(far);
            }
            low as usize..high as usize + 1
        })
        .collect();
    // Fewer points leave gaps, and as many may share some only where they leave others.
    let is_box = region.iter().map(Range::len).product::<usize>() == points;
    let moves = |k: usize| coordinates.iter().any(|coordinate| coordinate.strides[k] != 0);
    (is_box && (0..extents.len()).all(|k| extents[k] == 1 || moves(k))).then_some(region)
}

/// The walk over a tile's block that a window of a view is, by the window's points.
fn within_tile(view: &View, first: &[usize], tile: &Tile) -> Access {
    let start = view.offset as i64 - tile.range.start as i64;
    let mut at = Access { offset: start, strides: SmallVec::new() };
    for (stride, start) in view.strides.iter().zip(first) {
        at.offset += *stride as i64 * *start as i64;
        at.strides.push(*stride as i64);
    }
    if at.strides.is_empty() {
        at.strides.push(0);
    }
    at
}

/// The walk that gives the source's elements for a window of the assigned view.
fn source_walk(
    device: &OpenDevice,
    input: &Input,
    source: Option<&Value>,
    shape: &[usize],
    first: &[usize],
    extents: &[usize],
) -> Result<FusionWalk> {
    let mut at = input.access(shape);
    for (stride, start) in at.strides.iter().zip(first) {
        at.offset += stride * *start as i64;
    }
    let mut space: Shape = extents.into();
    if space.is_empty() {
        space.push(1);
        at.strides.push(0);
    }
    FusionWalk::new(device, &[Start::input(input, source)?], at, space)
}

/// The window of a view over coordinates that lies in a tile, or `None` where several axes of the
/// view move along one axis of the value.
fn window(coordinates: &Coordinates, shape: &[usize], tile: &Tile) -> Option<Window> {
    let mut first: Shape = SmallVec::from_elem(0, shape.len());
    let mut extents: Shape = shape.into();
    let mut empty = false;
    for (axis, coordinate) in coordinates.iter().enumerate() {
        let (low, high) = (tile.origin[axis] as i64, (tile.origin[axis] + tile.shape[axis]) as i64);
        let mut movers = (0..shape.len()).filter(|k| shape[*k] != 1 && coordinate.strides[*k] != 0);
        match (movers.next(), movers.next()) {
            (None, _) => empty |= coordinate.offset < low || coordinate.offset >= high,
            (Some(k), None) => {
                let (at, step) = (coordinate.offset, coordinate.strides[k]);
                let inside = |i: &usize| {
                    let c = at + step * *i as i64;
                    c >= low && c < high
                };
                // Coordinates move one way, so the points inside are neighbours.
                let bound = |edge: i64| (edge - at).div_euclid(step).clamp(0, shape[k] as i64);
                let (a, b) = if step > 0 { (low, high) } else { (high, low) };
                let from = (bound(a).max(1) as usize - 1..shape[k]).find(inside);
                let till = (0..=(bound(b) as usize).min(shape[k] - 1)).rev().find(inside);
                match (from, till) {
                    (Some(from), Some(till)) if from <= till => {
                        // An axis of the view may move along several axes of the value.
                        let start = first[k].max(from);
                        let end = (first[k] + extents[k]).min(till + 1);
                        first[k] = start;
                        extents[k] = end.saturating_sub(start);
                    }
                    _ => empty = true,
                }
            }
            (Some(_), Some(_)) => return None,
        }
    }
    if empty {
        extents.iter_mut().for_each(|e| *e = 0);
        if extents.is_empty() {
            // A view of no axes outside the tile: no points, which only an extent can say.
            return Some((first, [0].into_iter().collect()));
        }
    }
    Some((first, extents))
}
