//! Blocks: pieces of host memory, counted against the limit.
//!
//! Owns [`Blocks`]. Every dtype of ours fits in 32 bits, so a block is a vector of bits; dtypes
//! matter where host memory is read and written. Invariants: live blocks together never exceed the
//! limit; no two blocks of this process ever have the same handle.
//!
//! Not here: when a block is evicted to make room (the core's cache).

use gpupy_core::driver::{BlockId, BlockSpec};
use gpupy_core::{DType, Error, ErrorKind, Result, memory};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many blocks this process has had.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// One block: elements in C order.
pub struct Block {
    pub dtype: DType,
    pub bits: Vec<u32>,
}

impl Block {
    /// The elements from `offset` on that take so many bytes of host memory, and the bytes of one.
    pub fn part(&mut self, offset: usize, bytes: usize) -> Result<(&mut [u32], usize)> {
        let (size, len) = (self.dtype.size(), self.bits.len());
        let end = offset.saturating_add(bytes / size);
        let part = self.bits.get_mut(offset..end).filter(|_| bytes.is_multiple_of(size));
        part.map(|part| (part, size)).ok_or_else(|| {
            invalid("the range is not of the block").with("end", end).with("len", len)
        })
    }
}

/// All live blocks. By default none can be: so it is while the driver is closed.
#[derive(Default)]
pub struct Blocks {
    live: HashMap<BlockId, Block>,
    /// The elements that there is still memory for.
    pub room: usize,
    /// The elements of the largest block.
    pub longest: usize,
}

impl Blocks {
    pub fn alloc(&mut self, BlockSpec { dtype, len, .. }: BlockSpec) -> Result<BlockId> {
        if !(1..=self.longest).contains(&len) || !crate::DTYPES.contains(&dtype) {
            return Err(invalid("no block is like this").with("len", len).with("dtype", dtype));
        }
        if len > self.room {
            return Err(Error::new(ErrorKind::OutOfMemory, crate::NAME).with("elements", len));
        }
        let bits = memory::zeroed(len)?;
        self.room -= len;
        let id = BlockId(1 + COUNT.fetch_add(1, Ordering::Relaxed));
        self.live.insert(id, Block { dtype, bits });
        Ok(id)
    }

    pub fn free(&mut self, id: BlockId) {
        self.room += self.live.remove(&id).map_or(0, |block| block.bits.len());
    }

    pub fn get(&mut self, id: BlockId) -> Result<&mut Block> {
        self.live.get_mut(&id).ok_or_else(|| invalid("there is no such block"))
    }
}

/// The error of a mistake of the caller.
pub fn invalid(said: &str) -> Error {
    Error::new(ErrorKind::Invalid, crate::NAME).says(said)
}
