//! The live blocks, and the buffer of each.
//!
//! Owns [`Blocks`] and [`Block`]. Invariant: the elements of live blocks never take more than the limit.
//!
//! Not here: buffers (`buffer_allocator.rs`), transfers of elements (`block_transfer.rs`).

use super::buffer_allocator::DeviceBuffer;
use super::queue::HazardState;
use crate::NAME;
use gpupy_core::driver::{BlockId, BlockSpec};
use gpupy_core::{Error, ErrorKind, Result};
use rustc_hash::FxHashMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of blocks that this process has had: a handle is unique across all drivers of this kind.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// A block.
#[derive(Debug)]
pub struct Block {
    /// Its dtype and length.
    pub spec: BlockSpec,
    /// Bytes of an element in the buffer.
    pub stored: usize,
    /// Its buffer.
    pub buffer: DeviceBuffer,
    /// Its last uses, for barriers.
    pub touched: HazardState,
}

/// All blocks.
#[derive(Debug)]
pub struct Blocks {
    blocks: FxHashMap<u64, Block>,
    used: u64,
    limit: u64,
    longest: usize,
}

impl Blocks {
    /// No blocks yet; all together may take `limit` bytes, and each may have `longest` elements.
    pub fn new(limit: u64, longest: usize) -> Blocks {
        Blocks { blocks: FxHashMap::default(), used: 0, limit, longest }
    }

    /// Changes the limits, while there are no blocks.
    pub fn limit(&mut self, limit: u64, longest: usize) {
        (self.limit, self.longest) = (limit, longest);
    }

    /// Checks that a block may be allocated.
    ///
    /// # Errors
    /// - `OutOfMemory`: the limit would be exceeded.
    /// - `Invalid`: no block has such a length.
    pub fn check(&self, spec: BlockSpec) -> Result<()> {
        if !(1..=self.longest).contains(&spec.len) {
            return Err(Error::new(ErrorKind::Invalid, "block_alloc")
                .says("there is no such block")
                .with("driver", NAME)
                .with("elements", spec.len)
                .with("most", self.longest));
        }
        if spec.bytes() > self.limit - self.used {
            return Err(Error::new(ErrorKind::OutOfMemory, "block_alloc")
                .with("driver", NAME)
                .with("bytes", spec.bytes())
                .with("used", self.used)
                .with("limit", self.limit));
        }
        Ok(())
    }

    /// Adds a block that was checked, and returns its handle.
    pub fn add(&mut self, spec: BlockSpec, stored: usize, buffer: DeviceBuffer) -> BlockId {
        self.used += spec.bytes();
        let id = 1 + COUNT.fetch_add(1, Ordering::Relaxed);
        self.blocks.insert(id, Block { spec, stored, buffer, touched: HazardState::default() });
        BlockId(id)
    }

    /// Removes a block, if it is live.
    pub fn remove(&mut self, id: BlockId) -> Option<Block> {
        let block = self.blocks.remove(&id.0)?;
        self.used -= block.spec.bytes();
        Some(block)
    }

    /// A live block.
    ///
    /// # Errors
    /// - `Invalid`: there is no such block.
    pub fn get(&self, id: BlockId) -> Result<&Block> {
        self.blocks.get(&id.0).ok_or_else(|| dead(id))
    }

    /// A live block.
    ///
    /// # Errors
    /// As `get`.
    pub fn get_mut(&mut self, id: BlockId) -> Result<&mut Block> {
        self.blocks.get_mut(&id.0).ok_or_else(|| dead(id))
    }

    /// Removes all blocks.
    pub fn take_all(&mut self) -> impl Iterator<Item = Block> {
        self.used = 0;
        std::mem::take(&mut self.blocks).into_values()
    }
}

fn dead(id: BlockId) -> Error {
    Error::new(ErrorKind::Invalid, "block")
        .says("there is no such block")
        .with("driver", NAME)
        .with("block", id.0)
}
