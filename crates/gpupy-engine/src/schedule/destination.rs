//! Where a kernel's results go.

use crate::graph::value::Value;
use crate::memory::tiling::Tile;
use crate::schedule::kernels::Ends;
use gpupy_core::driver::{Access, BlockId};
use gpupy_core::ir::Form;

/// Where the last piece of a walk goes.
pub(crate) enum Destination {
    /// A new block, which becomes this tile of the value.
    Tile { value: Value, tile: Tile },
    /// Part of a block that the caller holds.
    Block { block: BlockId, access: Access, whole: bool },
}

impl Destination {
    /// What becomes of the root of a walk that goes there.
    pub fn ends(&self, form: Form) -> Ends {
        match self {
            Destination::Tile { .. } => Ends::tile(form),
            Destination::Block { access, .. } => Ends::place(form, access.clone()),
        }
    }
}
