//! Kernels that may be launched for some rows at a time.
//!
//! Owns [`RowKernel`] and [`loads`]. Not here: which of them share strips (`strip_mining.rs`).

use crate::graph::value::{Value, ValueId};
use crate::memory::tiling::Tile;
use crate::schedule::program::kernel::Kernel;
use gpupy_core::ir::Inst;
use gpupy_core::op::Op;
use smallvec::SmallVec;

/// A kernel that is launched alone, and the tiles that it gives, one for each destination.
pub(crate) struct RowKernel<'k> {
    pub kernel: &'k Kernel,
    pub tiles: SmallVec<[(&'k Value, &'k Tile); 2]>,
}

impl RowKernel<'_> {
    /// The tile of a value that it gives.
    pub fn tile_of(&self, value: ValueId) -> Option<&Tile> {
        self.tiles.iter().find(|(given, _)| given.id() == value).map(|(_, tile)| *tile)
    }
}

/// The instructions that read an operand.
pub(super) fn loads(kernel: &Kernel, operand: usize) -> impl Iterator<Item = &Inst> {
    kernel.program.insts.iter().filter(move |inst| {
        matches!(inst.op, Op::Load | Op::Gather) && inst.args[0] as usize == operand
    })
}
