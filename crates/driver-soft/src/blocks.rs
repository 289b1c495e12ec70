//! Blocks: pieces of host memory, counted against the limit.
//!
//! Owns [`Blocks`]. Every dtype of ours fits in 32 bits, so a block is a vector of bits, and dtypes
//! matter only where host memory is read and written. Invariant: the bytes of all live blocks
//! together never exceed the limit.
//!
//! Not here: when a block is evicted to make room (the core's cache).

use gpupy_core::driver::{BlockId, BlockSpec};
use gpupy_core::{DType, Error, ErrorKind, Result};
use std::collections::HashMap;

/// One block: elements in C order.
pub struct Block {
    pub dtype: DType,
    pub bits: Vec<u32>,
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
        let bytes = size(spec.len);
        let mut bits = Vec::new();
        if bytes > self.limit - self.used || bits.try_reserve_exact(spec.len).is_err() {
            let error = Error::new(ErrorKind::OutOfMemory, "block_alloc");
            return Err(error.with("driver", crate::NAME).with("bytes", bytes));
        }
        bits.resize(spec.len, 0);
        self.used += bytes;
        self.last += 1;
        self.live.insert(BlockId(self.last), Block { dtype: spec.dtype, bits });
        Ok(BlockId(self.last))
    }

    pub fn free(&mut self, id: BlockId) {
        self.used -= self.live.remove(&id).map_or(0, |block| size(block.bits.len()));
    }

    pub fn get(&self, id: BlockId) -> Result<&Block> {
        self.live.get(&id).ok_or_else(dead)
    }

    pub fn get_mut(&mut self, id: BlockId) -> Result<&mut Block> {
        self.live.get_mut(&id).ok_or_else(dead)
    }
}

fn dead() -> Error {
    Error::new(ErrorKind::Invalid, "block").says("there is no such block")
}

fn size(len: usize) -> u64 {
    len as u64 * size_of::<u32>() as u64
}
