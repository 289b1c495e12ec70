//! Fillings: blocks that become tiles when all of their elements are written.
//!
//! Owns [`Opened`], the stack of fillings that are begun: new blocks, or the block of an old value, which is changed in
//! place. Invariants: a value is marked as computed only when its block is filled; a filling that fails leaves nothing
//! behind.
//!
//! Not here: the launches that fill a block (`run_commands.rs`), launches into tiles of their own (`launch.rs`).

use crate::blocks::cache::BlockPart;
use crate::execute::evaluate::Engine;
use crate::graph::value::Value;
use crate::memory::tiling::Tile;
use gpupy_core::driver::{BlockId, BlockSpec};
use gpupy_core::{Error, ErrorKind, Result};
use smallvec::{SmallVec, smallvec};

/// Fillings that are begun, each on the way to the one before.
#[derive(Default)]
pub(super) struct Opened(SmallVec<[Filling; 1]>);

/// Blocks for the same tile of several values.
struct Filling {
    values: SmallVec<[Value; 1]>,
    tile: Tile,
    blocks: SmallVec<[BlockId; 4]>,
    how: FillSource,
    /// Where the trace was when it was begun.
    mark: Option<usize>,
}

enum FillSource {
    New(SmallVec<[BlockSpec; 4]>),
    /// The block was this value's.
    Old(Value),
}

impl Opened {
    /// Whether none is begun.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The blocks of the one that was begun last.
    pub fn blocks(&self) -> &[BlockId] {
        self.0.last().map_or(&[], |filling| &filling.blocks)
    }
}

impl Engine {
    /// Allocates blocks for a tile of these values.
    ///
    /// # Errors
    /// As of allocation.
    pub(super) fn open(
        &mut self,
        opened: &mut Opened,
        values: &[Value],
        tile: &Tile,
        device: usize,
    ) -> Result<()> {
        for value in values {
            self.make_way(value, &tile.range)?;
        }
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
        self.begin_filling(opened, values.into(), tile, blocks, FillSource::New(specs));
        Ok(())
    }

    /// Takes the block of a tile of an old value, which nothing else needs, for another value.
    ///
    /// # Errors
    /// As of bringing an operand.
    pub(super) fn open_old(
        &mut self,
        opened: &mut Opened,
        value: &Value,
        old: Value,
        tile: &Tile,
        device: usize,
    ) -> Result<()> {
        let part = BlockPart::Tile(tile.number);
        let block = self.operand_block(device, &old, &part)?;
        self.device(device)?.pin(old.id(), &part);
        self.begin_filling(
            opened,
            smallvec![value.clone()],
            tile,
            smallvec![block],
            FillSource::Old(old),
        );
        Ok(())
    }

    fn begin_filling(
        &mut self,
        opened: &mut Opened,
        values: SmallVec<[Value; 1]>,
        tile: &Tile,
        blocks: SmallVec<[BlockId; 4]>,
        how: FillSource,
    ) {
        let mark = self.tracer.mark();
        opened.0.push(Filling { values, tile: tile.clone(), blocks, how, mark });
    }

    /// The blocks that were opened last are filled: they are tiles now.
    ///
    /// # Errors
    /// - `DeviceLost`: the device is no longer open.
    pub(super) fn close(&mut self, opened: &mut Opened, device: usize) -> Result<()> {
        let (open, stats) = self.device_and_stats(device)?;
        let Some(filling) = opened.0.pop() else { return Ok(()) };
        let Filling { values, tile, blocks, how, mark } = filling;
        let old = match how {
            FillSource::New(specs) => {
                for ((value, block), spec) in values.iter().zip(blocks).zip(specs) {
                    let part = BlockPart::Tile(tile.number);
                    open.insert(value, part, (block, spec), tile.range.clone());
                    value.mark_computed(tile.range.clone());
                }
                None
            }
            FillSource::Old(old) => {
                stats.in_place += 1;
                open.unpin(old.id(), &BlockPart::Tile(tile.number));
                for value in &values {
                    open.hand_over(&old, value, &tile);
                    let mut state = old.state();
                    if !state.on_host.covers(tile.range.clone()) {
                        state.computed.remove(tile.range.clone());
                    }
                    drop(state);
                    value.mark_computed(tile.range.clone());
                }
                Some(old)
            }
        };
        self.tracer.filled(mark, &values, &tile.range, old.as_ref());
        Ok(())
    }

    /// The blocks are not filled, because of an error or of what is needed first.
    pub(super) fn not_filled(&mut self, opened: Opened, error: Option<&Error>, device: usize) {
        for Filling { tile, blocks, how, .. } in opened.0.into_iter().rev() {
            let open = self.device(device).ok();
            match (how, open) {
                (FillSource::New(_), Some(open)) => {
                    blocks.into_iter().for_each(|block| open.driver.block_free(block));
                }
                (FillSource::Old(old), open) => {
                    if let Some(open) = open {
                        open.unpin(old.id(), &BlockPart::Tile(tile.number));
                    }
                    if error.is_some_and(|error| error.kind() == ErrorKind::DeviceLost) {
                        // The launch may have written any part of it.
                        old.state().on_host.remove(tile.range.clone());
                        old.mark_lost(tile.range);
                    }
                }
                (FillSource::New(_), None) => {}
            }
        }
    }
}
