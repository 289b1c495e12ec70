//! Draws to be planned, and why some cannot be.
//!
//! Owns [`DrawRequest`], [`DrawTarget`] and [`DrawDeclined`]. Not here: plans (`draw_plan.rs`).

use super::texture_layout::TextureLayout;
use gpupy_core::driver::Access;
use gpupy_core::ir::Program;

/// Where one draw writes.
#[derive(Clone, Debug)]
pub struct DrawTarget<'a> {
    /// The texture; with several destinations they all have this layout.
    pub layout: TextureLayout,
    /// The elements.
    pub access: &'a Access,
    /// True when the launch writes all of the block, in order.
    pub whole: bool,
}

/// One draw to be planned.
#[derive(Clone, Debug)]
pub struct DrawRequest<'a> {
    /// The code.
    pub program: &'a Program,
    /// The launch's shape.
    pub shape: &'a [usize],
    /// The numbers of the accesses.
    pub accesses: &'a [Access],
    /// The textures of the operands.
    pub operands: &'a [TextureLayout],
    /// The scalar parameters.
    pub params: &'a [u64],
    /// The destinations that this draw writes; several only when all are written whole.
    pub stores: &'a [u32],
    /// Where it writes them.
    pub target: DrawTarget<'a>,
    /// True to make literals of the parameters.
    pub specialise: bool,
}

/// Why a draw cannot be planned as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrawDeclined {
    /// The destination's strides interleave, so that places do not tell coordinates. Launches for
    /// each point of one axis have fewer of them.
    Tangled,
    /// The destination's rows are padded, and it is written across their ends.
    Padded,
}
