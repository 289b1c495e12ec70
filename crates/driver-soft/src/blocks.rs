//! Blocks: pieces of host memory, counted against the limit.
//!
//! Owns [`Blocks`] and [`Block`]. Invariant: the bytes of all live blocks together never exceed the
//! limit.
//!
//! Not here: when a block is evicted to make room (the core's cache).

use gpupy_core::driver::{BlockId, BlockSpec};
use gpupy_core::{DType, Error, ErrorKind, Result};
use std::collections::HashMap;
use std::ops::Range;

/// One block: elements in C order, native endian.
pub struct Block {
    pub dtype: DType,
    pub bytes: Vec<u8>,
}

/// All live blocks.
#[derive(Default)]
pub struct Blocks {
    live: HashMap<BlockId, Block>,
    last: u64,
    used: u64,
    limit: u64,
}

impl Blocks {
    pub fn new(limit: u64) -> Blocks {
        Blocks { limit, ..Blocks::default() }
    }

    pub fn alloc(&mut self, spec: BlockSpec) -> Result<BlockId> {
        let size = spec.len * spec.dtype.size();
        let mut bytes = Vec::new();
        let room = self.used.saturating_add(size as u64) <= self.limit;
        if !room || bytes.try_reserve_exact(size).is_err() {
            return Err(Error::new(ErrorKind::OutOfMemory, "block_alloc")
                .with("driver", crate::NAME)
                .with("bytes", size)
                .with("limit", self.limit));
        }
        bytes.resize(size, 0);
        self.used += size as u64;
        self.last += 1;
        self.live.insert(BlockId(self.last), Block { dtype: spec.dtype, bytes });
        Ok(BlockId(self.last))
    }

    pub fn free(&mut self, id: BlockId) {
        if let Some(block) = self.live.remove(&id) {
            self.used -= block.bytes.len() as u64;
        }
    }

    pub fn get(&self, id: BlockId) -> Result<&Block> {
        self.live.get(&id).ok_or_else(no_such_block)
    }

    pub fn get_mut(&mut self, id: BlockId) -> Result<&mut Block> {
        self.live.get_mut(&id).ok_or_else(no_such_block)
    }
}

impl Block {
    pub fn len(&self) -> usize {
        self.bytes.len() / self.dtype.size()
    }

    /// The bytes from element `offset` on that `size` bytes of host memory take.
    pub fn range(&self, offset: usize, size: usize) -> Result<Range<usize>> {
        let start = offset.saturating_mul(self.dtype.size());
        let range = start..start.saturating_add(size);
        if range.end <= self.bytes.len() {
            return Ok(range);
        }
        Err(Error::new(ErrorKind::Invalid, "block").says("the range leaves the block"))
    }
}

fn no_such_block() -> Error {
    Error::new(ErrorKind::Invalid, "block").says("there is no such block")
}
