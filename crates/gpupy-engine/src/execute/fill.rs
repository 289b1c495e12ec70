//! Filling: old elements around those that are written into a new block.
//!
//! Owns [`Region`] and the copies. A step of a simulation writes nearly all of an array, so what is
//! copied is its edges rather than all. Invariant: every element of the tile outside the region is
//! copied; of those inside, some may be.
//!
//! Not here: when a block is written in place instead (`assign.rs`).

use crate::execute::evaluate::Engine;
use crate::memory::access::{self, Coordinates};
use crate::memory::tiling::Tile;
use crate::schedule::destination::Destination;
use crate::schedule::walk::{Flow, Start};
use gpupy_core::Result;
use gpupy_core::driver::BlockId;
use gpupy_core::ir::Form;
use gpupy_core::shape::{Shape, contiguous_strides, size_of};
use smallvec::SmallVec;
use std::ops::Range;

/// Coordinates of a value along each of its axes.
pub(crate) type Region = SmallVec<[Range<usize>; 4]>;

/// The least elements of a tile of which parts are copied: a launch for each costs as much as to copy so
/// many.
const LEAST: usize = 1 << 15;

/// The coordinates that the points of a view from `first` on have in a tile, if they are all points of
/// a box. `None` also where the tile is small.
pub(crate) fn region(
    coordinates: &Coordinates,
    first: &[usize],
    extents: &[usize],
    tile: &Tile,
) -> Option<Region> {
    let points = size_of(extents);
    if points == 0 || tile.range.len() < LEAST {
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

impl Engine {
    /// Copies a tile of a value of this shape (or its constant) into a block, but for a region.
    pub fn fill_around(
        &mut self,
        start: Start<'_>,
        shape: &[usize],
        (tile, region): (&Tile, Option<&Region>),
        device: usize,
        block: BlockId,
    ) -> Result<Flow> {
        let Some(region) = region else {
            let space: Shape = [tile.range.len()].into_iter().collect();
            let from = access::access(tile.range.start as isize, &[1]);
            let dest = Destination::Block { block, access: access::access(0, &[1]), whole: true };
            return self.run_from(start, (from, space), Form::Map, dest, device);
        };
        let strides = contiguous_strides(shape);
        for part in around(tile, region) {
            let places =
                strides.iter().zip(&part).map(|(stride, range)| stride * range.start as isize);
            let from = access::access(places.sum(), &strides);
            let mut to = from.clone();
            to.offset -= tile.range.start as i64;
            let space = part.iter().map(Range::len).collect();
            let dest = Destination::Block { block, access: to, whole: false };
            let flow = self.run_from(start, (from, space), Form::Map, dest, device)?;
            if let Flow::Needs(_) = flow {
                return Ok(flow);
            }
        }
        Ok(Flow::Done)
    }
}

/// Boxes that are a tile without a region of it: along each axis what lies before and behind the region,
/// as wide as the region along the axes before.
fn around(tile: &Tile, region: &Region) -> Vec<Region> {
    let whole =
        tile.origin.iter().zip(&tile.shape).map(|(origin, extent)| *origin..origin + extent);
    let mut rest: Region = whole.collect();
    let mut parts = Vec::new();
    for (axis, inside) in region.iter().enumerate() {
        for outside in [rest[axis].start..inside.start, inside.end..rest[axis].end] {
            if !outside.is_empty() {
                let mut part = rest.clone();
                part[axis] = outside;
                parts.push(part);
            }
        }
        rest[axis] = inside.clone();
    }
    parts
}
