//! Blocks: pieces of host memory, counted against the limit.
//!
//! Owns [`Blocks`] and [`Block`]. Invariant: the bytes of all live blocks together never exceed the
//! limit.
//!
//! Not here: when a block is evicted to make room (the core's cache).

use gpupy_core::driver::{BlockId, BlockSpec};
use gpupy_core::{DType, Error, ErrorKind, Result};
use std::collections::HashMap;

/// One block: elements in C order, native endian.
pub struct Block {
    id: BlockId,
    pub dtype: DType,
    pub bytes: Vec<u8>,
}

/// All live blocks.
#[derive(Default)]
pub struct Blocks {
    live: HashMap<BlockId, Block>,
    next: u64,
    used: u64,
    limit: u64,
    /// Freed memory, for the next blocks of the same sizes: pages that the system hands out anew
    /// cost more at first touch than an operation on their elements.
    spare: Vec<Vec<u8>>,
}

/// Freed pieces that are kept.
const SPARES: usize = 4;

impl Blocks {
    pub fn new(limit: u64) -> Blocks {
        Blocks {
            limit,
            ..Blocks::default()
        }
    }

    pub fn alloc(&mut self, spec: BlockSpec) -> Result<BlockId> {
        let size = spec.len * spec.dtype.size();
        let no_room = |limit: u64| {
            let error = Error::new(ErrorKind::OutOfMemory, "block_alloc");
            error
                .with("driver", crate::NAME)
                .with("bytes", size)
                .with("limit", limit)
        };
        if self.used.saturating_add(size as u64) > self.limit {
            return Err(no_room(self.limit));
        }
        let bytes = match self.spare.iter().position(|bytes| bytes.len() == size) {
            Some(found) => self.spare.swap_remove(found),
            None => {
                let mut bytes = Vec::new();
                bytes
                    .try_reserve_exact(size)
                    .map_err(|e| no_room(self.limit).from_source(e))?;
                bytes.resize(size, 0);
                bytes
            }
        };
        self.used += size as u64;
        self.next += 1;
        let id = BlockId(self.next);
        self.live.insert(
            id,
            Block {
                id,
                dtype: spec.dtype,
                bytes,
            },
        );
        Ok(id)
    }

    pub fn free(&mut self, id: BlockId) {
        if let Some(block) = self.live.remove(&id) {
            self.used -= block.bytes.len() as u64;
            self.spare.insert(0, block.bytes);
            self.spare.truncate(SPARES);
        }
    }

    pub fn get(&self, id: BlockId) -> Result<&Block> {
        self.live.get(&id).ok_or_else(|| dead(id))
    }

    /// Takes a block out, to be changed while others are read; `put_back` must follow.
    pub fn take(&mut self, id: BlockId) -> Result<Block> {
        self.live.remove(&id).ok_or_else(|| dead(id))
    }

    pub fn put_back(&mut self, block: Block) {
        self.live.insert(block.id, block);
    }
}

fn dead(id: BlockId) -> Error {
    Error::new(ErrorKind::Invalid, "block")
        .says("no such block")
        .with("block", id.0)
}

/// The error for a range that is not inside the block.
pub fn outside(operation: &'static str, block: &Block) -> Error {
    Error::new(ErrorKind::Invalid, operation)
        .says("the range leaves the block")
        .with("elements", block.bytes.len() / block.dtype.size())
}
