//! The ways to begin a walk: over a space, over boxes, over a tile of a value.
//!
//! Not here: how it goes on (`walker.rs`).

use super::walker::{JoinHandling, Walker};
use super::{CutWalk, FusionWalk, PlacedStart, Start};
use crate::graph::value::Value;
use crate::memory::access;
use crate::memory::tiling::Tile;
use crate::schedule::engine_device::OpenDevice;
use gpupy_core::Result;
use gpupy_core::driver::Access;
use gpupy_core::shape::Shape;
use smallvec::SmallVec;

/// Starts that are needed at the same access.
fn everywhere<'a>(starts: &[Start<'a>], at: &Access) -> SmallVec<[PlacedStart<'a>; 4]> {
    starts.iter().map(|start| (*start, at.clone())).collect()
}

impl FusionWalk {
    /// The walk from values (or scalars) needed at an access over `space`.
    ///
    /// # Errors
    /// - `Lost`: a value was lost with its device, and cannot be computed again.
    /// - `Unsupported`: the device cannot do an operation that lies on the way.
    pub fn new(
        device: &OpenDevice,
        starts: &[Start<'_>],
        at: Access,
        space: Shape,
    ) -> Result<FusionWalk> {
        let starts = everywhere(starts, &at);
        let (walker, roots) = Walker::walked(device, &starts, space, JoinHandling::First)?;
        Ok(walker.ended(roots))
    }

    /// The walk of a value over several boxes of the same extents, a root for each of these accesses; `None` where a
    /// box has to be cut.
    ///
    /// # Errors
    /// As `new`.
    pub fn of_boxes(
        device: &OpenDevice,
        value: &Value,
        at: impl Iterator<Item = Access>,
        space: Shape,
    ) -> Result<Option<FusionWalk>> {
        let starts: Vec<PlacedStart<'_>> = at.map(|at| (Start::Itself(value), at)).collect();
        let (walker, roots) = Walker::walked(device, &starts, space, JoinHandling::CutAgain)?;
        let is_whole = walker.cut.is_none() && walker.ends.is_empty();
        Ok(is_whole.then(|| walker.ended(roots)))
    }

    /// The walk over a tile of a value, as of `up_to_cuts`. Where a value below has its axes split, as what is repeated
    /// or folded has, and would be computed first for that alone, the points are walked over with axes split so.
    ///
    /// # Errors
    /// As `new`.
    pub fn of_tile(device: &OpenDevice, value: &Value, tile: &Tile) -> Result<CutWalk> {
        let starts = [Start::Itself(value)];
        let (at, space) = access::space_of_tile(value.shape(), tile);
        let walked =
            |at, space| Walker::cut(device, &everywhere(&starts, &at), space, JoinHandling::Cut);
        let (mut found, mut finer) = walked(at, space)?;
        while let Some(space) = finer.take() {
            let at = access::from(tile.range.start, &space);
            let (again, next) = walked(at, space)?;
            if matches!(&again, Ok((_, cuts)) if cuts.is_empty()) {
                (found, finer) = (again, next);
            }
        }
        Ok(found)
    }

    /// The walk over as much of the space, part of a tile, as reads one part of each joined value, and the cuts that
    /// leave that much, in their order; or where it has to be cut before there is one.
    ///
    /// # Errors
    /// As `new`.
    pub fn up_to_cuts(
        device: &OpenDevice,
        starts: &[Start<'_>],
        at: Access,
        space: Shape,
    ) -> Result<CutWalk> {
        let starts = everywhere(starts, &at);
        Ok(Walker::cut(device, &starts, space, JoinHandling::CutAgain)?.0)
    }
}
