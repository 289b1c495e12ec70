//! Filling: old elements around those that are written into a new block.
//!
//! Owns the copies. A step of a simulation writes nearly all of an array, so what is
//! copied is its edges rather than all. Invariant: every element of the tile outside the region is
//! copied; of those inside, some may be.
//!
//! Not here: which region is written (`schedule/steps/assigned.rs`), when a block is written in place instead (`assign.rs`).

use crate::execute::evaluate::Engine;
use crate::memory::access;
use crate::memory::tiling::Tile;
use crate::schedule::destination::Destination;
use crate::schedule::steps::Region;
use crate::schedule::walk::{Flow, Start};
use gpupy_core::Result;
use gpupy_core::driver::BlockId;
use gpupy_core::ir::Form;
use gpupy_core::shape::{Shape, contiguous_strides};
use std::ops::Range;

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
