//! Tiles of matrix products: a group computes one of the result, of which each invocation keeps four by four
//! elements, and brings the operands in tiles through its memory.
//!
//! Owns `TiledMatmul`, and [`slices`]: a dispatch takes so many terms that no loop is too long, and adds its sums
//! to what the one before gave. The invocations of a group stand in rows of 16.
//!
//! Not here: the plan (`matmul.rs`), the text (`text/matmul.rs`), how operands larger than a block are cut (the core).

use crate::analysis::axis_coalescing::AffineWalk;
use crate::analysis::kernel_arguments::ArgumentWords;
use crate::compute::kernel_features::KernelFeatures;
use crate::emit::loop_bounds::{LoopHead, MOST_STEPS};
use gpupy_core::driver::{Access, Launch};
use gpupy_core::ir::{Form, PRODUCT_CHUNK};

/// Invocations in a row of a group; each has four columns.
pub(crate) const COLUMNS: u32 = 16;
/// Steps along the summed axis that a tile of an operand holds.
pub(crate) const DEPTH: u32 = 16;

/// The loop over the chunks of a dispatch's terms.
pub(crate) fn chunks(terms: u64) -> LoopHead<'static> {
    let most = terms.div_ceil(PRODUCT_CHUNK as u64);
    LoopHead { step: PRODUCT_CHUNK as u32, ..LoopHead::below("first", "terms", most) }
}

/// The loop over the tiles of a chunk.
pub(crate) const TILES: LoopHead<'static> = LoopHead {
    counter: "base",
    from: "first",
    below: "until",
    step: DEPTH,
    most: PRODUCT_CHUNK as u64 / DEPTH as u64,
};
/// The loop over the terms of a tile.
pub(crate) const TERMS: LoopHead<'static> = LoopHead::below("z", "16", DEPTH as u64);

/// How often each invocation of a group brings an element of a tile of so many.
pub(crate) fn brought(elements: u32, group: u32) -> u64 {
    elements.div_ceil(group).into()
}

/// The most terms of a dispatch, whole chunks: all its loops together are no longer than a device takes.
pub(crate) fn most_terms(device: &KernelFeatures) -> usize {
    let chunk = TILES.most * (1 + TERMS.most + 1
        + brought(DEPTH * rows(device), device.group) + 1
        + brought(4 * COLUMNS * DEPTH, device.group) + 1)
        // The chunk itself, and the end of its loop.
        + 2;
    PRODUCT_CHUNK * ((MOST_STEPS - 1) / chunk) as usize
}

/// The parts of a product that has more terms than one dispatch takes: the shape and the accesses of each.
/// All but the first add to the results.
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

/// The numbers of a matrix product.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TiledMatmul {
    /// The words of how many rows and columns the results have, and how many products a sum.
    pub extents: [u16; 3],
    /// The words of how many tiles there are from row to row and from column to column.
    pub tiles: [u16; 2],
    /// The word that is not 0 where results are added to what is there.
    pub adds: u16,
    /// The word of each axis of the stack of matrices.
    pub stack: Vec<u16>,
    pub left: Matrix,
    pub right: Matrix,
    pub result: Matrix,
}

/// Where the elements of matrices are: words.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Matrix {
    pub offset: u16,
    /// Steps of the two axes.
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
