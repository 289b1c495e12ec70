//! Filling: blocks that become tiles when all of their elements are written.
//!
//! Owns [`Filling`]: new blocks, or that of an old value, which is changed where it lies. Invariants: a value is marked as
//! computed only when its block is filled; of a filling that fails, nothing is left.
//!
//! Not here: what is written into them (`perform.rs`, `assign.rs`), launches into tiles of their own (`launch.rs`).

use crate::blocks::cache::Part;
use crate::execute::evaluate::Engine;
use crate::graph::value::Value;
use crate::memory::tiling::Tile;
use gpupy_core::driver::{BlockId, BlockSpec};
use gpupy_core::{Error, ErrorKind, Result};
use smallvec::{SmallVec, smallvec};

/// Blocks for the same tile of several values.
pub(super) struct Filling {
    values: SmallVec<[Value; 1]>,
    tile: Tile,
    pub blocks: SmallVec<[BlockId; 4]>,
    how: How,
}

enum How {
    New(SmallVec<[BlockSpec; 4]>),
    /// The block was this value's.
    Old(Value),
}

impl Engine {
    /// New blocks for a tile of these values.
    ///
    /// # Errors
    /// As of allocation.
    pub(super) fn fill_new(
        &mut self,
        values: &[Value],
        tile: &Tile,
        device: usize,
    ) -> Result<Filling> {
        let (open, stats) = self.device_and_stats(device)?;
        let specs = values.iter().map(|value| open.spec(value, &tile.range));
        let specs = specs.collect::<Result<SmallVec<[BlockSpec; 4]>>>()?;
        let mut blocks: SmallVec<[BlockId; 4]> = SmallVec::new();
        for spec in &specs {
            match open.alloc(*spec, stats) {
                Ok(block) => blocks.push(block),
                Err(error) => {
                    blocks.into_iter().for_each(|block| open.driver.block_free(block));
                    return Err(error);
                }
            }
        }
        self.capture(|capture| capture.open(values, tile, &blocks));
        Ok(Filling { values: values.into(), tile: tile.clone(), blocks, how: How::New(specs) })
    }

    /// The block of a tile of an old value, which nothing else needs, for another value.
    ///
    /// # Errors
    /// As of bringing an operand.
    pub(super) fn fill_old(
        &mut self,
        value: &Value,
        old: Value,
        tile: &Tile,
        device: usize,
    ) -> Result<Filling> {
        let part = Part::Tile(tile.number);
        let block = self.operand_block(device, &old, &part)?;
        self.device(device)?.pin(old.id(), &part);
        self.capture(|capture| capture.open_old(value, &old, tile, block));
        let (values, blocks) = (smallvec![value.clone()], smallvec![block]);
        Ok(Filling { values, tile: tile.clone(), blocks, how: How::Old(old) })
    }

    /// The blocks are filled: they are tiles now.
    ///
    /// # Errors
    /// - `DeviceLost`: the device is no longer open.
    pub(super) fn filled(&mut self, filling: Filling, device: usize) -> Result<()> {
        let Filling { values, tile, blocks, how } = filling;
        self.capture(|capture| capture.close(&values, &tile));
        let (open, stats) = self.device_and_stats(device)?;
        match how {
            How::New(specs) => {
                for ((value, block), spec) in values.iter().zip(blocks).zip(specs) {
                    let part = Part::Tile(tile.number);
                    open.insert(value, part, (block, spec), tile.range.clone());
                    value.mark_computed(tile.range.clone());
                }
            }
            How::Old(old) => {
                stats.in_place += 1;
                open.unpin(old.id(), &Part::Tile(tile.number));
                for value in &values {
                    open.hand_over(&old, value, &tile);
                    let mut state = old.state();
                    if !state.on_host.covers(tile.range.clone()) {
                        state.computed.remove(tile.range.clone());
                    }
                    drop(state);
                    value.mark_computed(tile.range.clone());
                }
            }
        }
        Ok(())
    }

    /// The blocks are not filled, because of an error or of what is needed first.
    pub(super) fn not_filled(&mut self, filling: Filling, error: Option<&Error>, device: usize) {
        let Filling { tile, blocks, how, .. } = filling;
        let open = self.device(device).ok();
        match (how, open) {
            (How::New(_), Some(open)) => {
                blocks.into_iter().for_each(|block| open.driver.block_free(block));
            }
            (How::Old(old), open) => {
                if let Some(open) = open {
                    open.unpin(old.id(), &Part::Tile(tile.number));
                }
                if error.is_some_and(|error| error.kind() == ErrorKind::DeviceLost) {
                    // Nobody knows how far it came.
                    old.state().on_host.remove(tile.range.clone());
                    old.mark_lost(tile.range);
                }
            }
            (How::New(_), None) => {}
        }
    }
}
