//! Walked boxes: the boxes of a tile, each with the walk of its points and its place.
//!
//! Not here: where a tile is cut (`boxes.rs`), which boxes are copied as one (`box_copies.rs`).

use crate::schedule::walk::FusionWalk;
use gpupy_core::driver::Access;

/// A box with the walk of its points.
pub(super) struct WalkedBox {
    pub walk: FusionWalk,
    /// Its points in the value; `None` of a copy, whose walk starts elsewhere.
    pub at: Option<Access>,
    /// Its place in the tile.
    pub place: Access,
}

impl WalkedBox {
    /// Whether both are boxes of the value, of the same extents.
    pub fn is_alike(&self, other: &WalkedBox) -> bool {
        self.at.is_some() && other.at.is_some() && self.walk.space == other.walk.space
    }
}
