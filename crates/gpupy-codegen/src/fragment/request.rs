//! Requests for planned draws, and the reasons to decline one.
//!
//! Owns [`DrawRequest`], [`DrawTarget`] and [`DrawDeclined`]. Not here: plans (`draw_plan.rs`).

use super::texture_layout::TextureLayout;
use gpupy_core::driver::Access;
use gpupy_core::ir::Program;

/// The target of one draw.
#[derive(Clone, Debug)]
pub struct DrawTarget<'a> {
    /// The layout of the texture, or of all textures if there are several destinations.
    pub layout: TextureLayout,
    /// The access of the written elements.
    pub access: &'a Access,
    /// True if the launch writes the whole block in C order.
    pub whole: bool,
}

/// One draw to be planned.
#[derive(Clone, Debug)]
pub struct DrawRequest<'a> {
    /// The program of the shader.
    pub program: &'a Program,
    /// The launch's shape.
    pub shape: &'a [usize],
    /// Offset and strides of each access.
    pub accesses: &'a [Access],
    /// The layouts of the operands' textures.
    pub operands: &'a [TextureLayout],
    /// The scalar parameters.
    pub params: &'a [u64],
    /// The destinations that this draw writes. There are several only if all are written whole.
    pub stores: &'a [u32],
    /// The target of all stores.
    pub target: DrawTarget<'a>,
    /// True to make literals of the parameters.
    pub specialise: bool,
}

/// Why a draw cannot be planned as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrawDeclined {
    /// The destination's strides interleave, so that places do not determine coordinates. A launch for each point of
    /// one axis has fewer strides.
    Tangled,
    /// The destination's rows are padded, and the access crosses their ends.
    Padded,
}
