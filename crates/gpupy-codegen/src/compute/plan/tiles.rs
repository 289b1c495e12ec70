//! Tiled matrix products: a workgroup computes one tile of the result, each invocation four by four elements of it.
//! Tiles of the operands go through workgroup memory.
//!
//! Owns `TiledMatmul`, and [`slices`]: a product with too many terms for one dispatch becomes several, each of which
//! adds its sums to the result so far. The invocations of a workgroup form rows of 16.
//!
//! Not here: the plan (`matmul.rs`), the text (`text/matmul.rs`), operands larger than a block (the engine).

use crate::analysis::axis_coalescing::AffineWalk;
use crate::analysis::kernel_arguments::ArgumentWords;
use crate::compute::kernel_features::KernelFeatures;
use crate::emit::loop_bounds::{LoopHead, MOST_STEPS};
use gpupy_core::driver::{Access, Launch};
use gpupy_core::ir::{Form, REDUCE_CHUNK};

/// Invocations in a row of a workgroup; each has four columns.
pub(crate) const COLUMNS: u32 = 16;
/// The extent of an operand's tile along the summed axis.
pub(crate) const DEPTH: u32 = 16;

/// Terms that are summed one after another, then the sums of such chunks: as in a reduction, and far fewer than
/// [`PRODUCT_CHUNK`](gpupy_core::ir::PRODUCT_CHUNK), as errors grow with the length of a sum.
pub(crate) const CHUNK: usize = REDUCE_CHUNK;

/// The loop over the chunks of a dispatch's terms.
pub(crate) fn chunks(terms: u64) -> LoopHead<'static> {
    let most = terms.div_ceil(CHUNK as u64);
    LoopHead { step: CHUNK as u32, ..LoopHead::below("first", "terms", most) }
}

/// The loop over the tiles of a chunk.
pub(crate) const TILES: LoopHead<'static> = LoopHead {
    counter: "base",
    from: "first",
    below: "until",
    step: DEPTH,
    most: CHUNK as u64 / DEPTH as u64,
};
/// The loop over the terms of a tile.
pub(crate) const TERMS: LoopHead<'static> = LoopHead::below("z", "16", DEPTH as u64);

/// The number of elements that each invocation of a workgroup loads of a tile of `elements`.
pub(crate) fn brought(elements: u32, group: u32) -> u64 {
    elements.div_ceil(group).into()
}

/// The most terms of a dispatch, in whole chunks, so that its loops together do not exceed the most steps.
pub(crate) fn most_terms(device: &KernelFeatures) -> usize {
    let chunk = TILES.most * (1 + TERMS.most + 1
        + brought(DEPTH * rows(device), device.group) + 1
        + brought(4 * COLUMNS * DEPTH, device.group) + 1)
        // The chunk itself, and the end of its loop.
        + 2;
    CHUNK * ((MOST_STEPS - 1) / chunk) as usize
}

/// The slices of a product with more terms than one dispatch takes: the shape and accesses of each. All but the first
/// add to the results.
pub fn slices(
    device: &KernelFeatures,
    launch: &Launch<'_>,
) -> Option<Vec<(Vec<usize>, Vec<Access>)>> {
    let (most, (terms, rest)) = (most_terms(device), launch.shape.split_last()?);
    if launch.program.form != Form::MatMul || *terms <= most {
        return None;
    }
    let slice = |first: usize| {
        let shape = rest.iter().copied().chain([most.min(terms - first)]).collect();
        let access = |access: &Access| {
            let along = access.strides.last().copied().unwrap_or_default();
            let offset = access.offset + first as i64 * along;
            Access { offset, strides: access.strides.clone() }
        };
        (shape, launch.accesses.iter().map(access).collect())
    };
    Some((0..*terms).step_by(most).map(slice).collect())
}

/// The argument words of a matrix product.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TiledMatmul {
    /// The words of the numbers of rows, columns and terms.
    pub extents: [u16; 3],
    /// The words of the numbers of tiles along rows and along columns.
    pub tiles: [u16; 2],
    /// The word that is not 0 if results are added to the old elements.
    pub adds: u16,
    /// The words of the extents of the stack of matrices.
    pub stack: Vec<u16>,
    pub left: Matrix,
    pub right: Matrix,
    pub result: Matrix,
}

/// The words that address the elements of matrices.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Matrix {
    pub offset: u16,
    /// Strides of the two axes.
    pub steps: [u16; 2],
    pub stack: Vec<u16>,
}

impl Matrix {
    pub fn new(words: &mut ArgumentWords, walk: &AffineWalk, axes: [usize; 2]) -> Matrix {
        let last = walk.strides.len() - 3;
        let stack = &walk.strides[..last];
        Matrix {
            offset: words.int(walk.offset),
            steps: axes.map(|axis| words.int(walk.strides[last + axis])),
            stack: stack.iter().map(|stride| words.int(*stride)).collect(),
        }
    }
}

/// Rows of a tile.
pub(crate) fn rows(device: &KernelFeatures) -> u32 {
    4 * device.group / COLUMNS
}
