//! Where a kernel's results go.

use crate::graph::value::Value;
use crate::memory::tiling::Tile;
use gpupy_core::driver::{Access, BlockId};

/// Where the last piece of a walk goes.
pub(crate) enum Destination {
    /// A new block, which becomes this tile of the value.
    Tile { value: Value, tile: Tile },
    /// Part of a block that the caller holds.
    Block { block: BlockId, access: Access, whole: bool },
}
