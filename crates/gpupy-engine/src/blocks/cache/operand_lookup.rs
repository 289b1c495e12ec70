//! Operand lookup: in which block a kernel finds what it reads.
//!
//! Owns [`Placed`] and the choice: the tile of a value, or a gathered view of it. Invariant: operands that kernels will
//! bring, but that are not launched yet, count as present.
//!
//! Not here: how values are cut into tiles (`memory/tiling.rs`), bringing what is missing (`execute/transfer.rs`).

use super::{BlockCache, BlockPart};
use crate::blocks::streams;
use crate::graph::value::Value;
use crate::memory::access;
use crate::memory::limit;
use crate::memory::tiling::{Tile, Tiling};
use crate::thresholds::T;
use gpupy_core::driver::Access;
use gpupy_core::ir::{AccessKind, REDUCE_CHUNK};
use gpupy_core::shape::{contiguous_strides, size_of};
use std::ops::Range;

/// Where a kernel finds an operand: the block's part, and the access within the block.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub part: BlockPart,
    pub access: Access,
}

impl BlockCache {
    /// The tile of a value that an access over a space is, in C order, if it is one.
    pub fn own_tile(&self, value: &Value, walk: &Access, space: &[usize]) -> Option<Tile> {
        let tiling = self.tiling_of(value);
        let tile = tiling.tile(tiling.number_at(walk.offset.max(0) as usize));
        let points = size_of(space);
        let contiguous = points == 1 || access::kind(walk, space) == AccessKind::Contiguous;
        let is_own =
            contiguous && walk.offset == tile.range.start as i64 && points == tile.range.len();
        is_own.then_some(tile)
    }

    /// How values of this shape are cut for this device, except for streams.
    pub fn tiling(&self, shape: &[usize]) -> Tiling {
        Tiling::new(shape, self.tile_len)
    }

    /// How a value is cut for this device.
    pub fn tiling_of(&self, value: &Value) -> Tiling {
        Tiling::new(value.shape(), self.most_of_tile(value))
    }

    /// Whether a tile is one of a value's, by its number: values of one shape may be cut otherwise, and a number is
    /// another tile then.
    pub fn is_tile_of(&self, value: &Value, number: usize, range: &Range<usize>) -> bool {
        // Mostly it is all of the value.
        match value.len() <= self.most_of_tile(value) {
            true => *range == (0..value.len()),
            false => self.tiling_of(value).tile(number).range == *range,
        }
    }

    /// The most elements of a value's tiles on this device.
    pub fn most_of_tile(&self, value: &Value) -> usize {
        self.tile_len.min(streams::most_of_tile(value))
    }

    /// The most elements that one launch for a value should read of one operand: those of a tile, but at least those
    /// that one point of a reduction reads.
    pub fn reach_len(&self, value: &Value) -> usize {
        let most = if value.0.streams { T.streamed_tile } else { usize::MAX };
        let most = limit::step_bytes().map_or(most, |bytes| most.min(bytes / value.dtype().size()));
        self.tile_len.min(most).max(REDUCE_CHUNK)
    }

    /// The positions of a value that a part has.
    pub fn reach_of(&self, value: &Value, part: &BlockPart) -> Range<usize> {
        match part {
            BlockPart::Tile(number) => self.tiling_of(value).tile(*number).range,
            BlockPart::View(view) => access::reach(&view.0, &view.1),
        }
    }

    /// Whether there is a block of a part.
    pub fn has_part(&self, value: &Value, part: &BlockPart) -> bool {
        self.blocks.contains_key(&(value.id(), part.clone()))
    }

    /// The bytes of a part's block.
    pub fn part_bytes(&self, value: &Value, part: &BlockPart) -> u64 {
        let len = match part {
            BlockPart::Tile(number) => self.tiling_of(value).tile(*number).range.len(),
            BlockPart::View(view) => size_of(&view.1),
        };
        (len * value.dtype().size()) as u64
    }

    /// Where a kernel over `space` would find the elements of a computed value: in a tile, or, when
    /// they lie in several tiles or are few of many that are only in host memory, gathered. The kernel reads the value
    /// by so many `accesses`: what they read together is few or many.
    pub fn place(
        &self,
        value: &Value,
        walk: &Access,
        space: &[usize],
        accesses: impl FnOnce() -> usize,
    ) -> Placed {
        let tiling = self.tiling_of(value);
        let reach = access::reach(walk, space);
        // Of an external value, only the wanted elements are read.
        let is_little = value.is_external()
            && reach.len().saturating_mul(4)
                < tiling.tile(tiling.number_at(reach.start)).range.len();
        let numbers = tiling.numbers(reach);
        if numbers.len() == 1 && !is_little {
            let tile = tiling.tile(numbers.start);
            let key = (value.id(), BlockPart::Tile(tile.number));
            let is_few = |points: usize| points.saturating_mul(8) < tile.range.len();
            let is_gathered = !self.caps.host_memory
                && !self.blocks.contains_key(&key)
                && (is_in_part(value, &tile)
                    || is_few(size_of(space))
                        && !self.coming.contains(&key)
                        && value.state().on_host.covers(tile.range.clone())
                        && is_few(size_of(space).saturating_mul(accesses())));
            if !is_gathered {
                let mut within = walk.clone();
                within.offset -= tile.range.start as i64;
                return Placed { part: BlockPart::Tile(tile.number), access: within };
            }
        }
        let strides = contiguous_strides(space);
        Placed {
            part: BlockPart::View(Box::new((walk.clone(), space.into()))),
            access: access::access(0, &strides),
        }
    }

    /// Notes the operands of a kernel that is not launched yet.
    pub fn expect(&mut self, operands: &[(Value, BlockPart)]) {
        if self.caps.host_memory {
            return;
        }
        let tiles = operands.iter().filter(|(_, part)| matches!(part, BlockPart::Tile(_)));
        self.coming.extend(tiles.map(|(value, part)| (value.id(), part.clone())));
    }

    /// Notes that all kernels are launched that will be.
    pub fn expect_no_more(&mut self) {
        self.coming.clear();
    }
}

/// Whether a tile is computed in part: it was another tile when that was computed, as its value was cut otherwise.
fn is_in_part(value: &Value, tile: &Tile) -> bool {
    let state = value.state();
    !state.computed.covers(tile.range.clone())
        && !state.computed.within(tile.range.clone()).is_empty()
}
