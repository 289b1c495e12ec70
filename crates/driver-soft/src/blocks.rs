//! Blocks: pieces of host memory, counted against the limit.
//!
//! Owns [`Blocks`]. Every dtype of this driver fits in 32 bits, so a block is a vector of bits; dtypes matter
//! only where host memory is read and written. Memory that a launch brings becomes blocks for the duration of
//! the launch. Invariants: live blocks together never exceed the limit; a handle is never given out twice in
//! one process.
//!
//! Not here: eviction (the engine's block cache).

use gpupy_core::driver::{BlockId, BlockSpec, HostBlock, Launch};
use gpupy_core::{DType, Error, ErrorKind, Result, memory};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of blocks that this process has had.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// One block: elements in C order.
pub struct Block {
    pub dtype: DType,
    pub bits: Vec<u32>,
}

impl Block {
    /// Copies elements from `offset` on to host memory.
    pub fn read(&mut self, offset: usize, out: &mut [u8]) -> Result<()> {
        let (part, size) = self.part(offset, out.len())?;
        for (bytes, bits) in out.chunks_exact_mut(size).zip(part) {
            bytes.copy_from_slice(&bits.to_le_bytes()[..size]);
        }
        Ok(())
    }

    /// Copies host memory into elements from `offset` on.
    pub fn write(&mut self, offset: usize, data: &[u8]) -> Result<()> {
        let (part, size) = self.part(offset, data.len())?;
        for (bytes, bits) in data.chunks_exact(size).zip(part) {
            *bits = bytes.iter().rfold(0, |bits, byte| bits << 8 | u32::from(*byte));
        }
        Ok(())
    }

    /// The elements from `offset` on that take `bytes` bytes of host memory, and the bytes of one element.
    fn part(&mut self, offset: usize, bytes: usize) -> Result<(&mut [u32], usize)> {
        let (size, len) = (self.dtype.size(), self.bits.len());
        let end = offset.saturating_add(bytes / size);
        let part = self.bits.get_mut(offset..end).filter(|_| bytes.is_multiple_of(size));
        part.map(|part| (part, size)).ok_or_else(|| {
            invalid("the range is not of the block").with("end", end).with("len", len)
        })
    }
}

/// All live blocks. The default has no room for any: it stands for a closed driver.
#[derive(Default)]
pub struct Blocks {
    live: HashMap<BlockId, Block>,
    /// Elements that may still be allocated.
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

    /// The memory that a launch brings, as blocks that are named by positions in it.
    pub fn brought(&self, launch: &Launch<'_>) -> Result<Blocks> {
        let mut brought = Blocks::default();
        let operands = launch.operands.iter().zip(&launch.program.operands);
        for (id, dtype) in operands {
            let mut block = self.blank(launch, *id, *dtype)?;
            block.write(0, bytes(launch, *id, *dtype)?)?;
            brought.live.insert(*id, block);
        }
        for (dest, dtype) in launch.dests.iter().zip(&launch.program.dests) {
            if brought.live.contains_key(&dest.block) {
                continue;
            }
            let mut block = self.blank(launch, dest.block, *dtype)?;
            // A destination that is written whole may be uninitialised.
            if !dest.whole {
                block.write(0, bytes(launch, dest.block, *dtype)?)?;
            }
            brought.live.insert(dest.block, block);
        }
        Ok(brought)
    }

    /// A block like a piece of memory that a launch brings.
    fn blank(&self, launch: &Launch<'_>, id: BlockId, dtype: DType) -> Result<Block> {
        let len = piece(launch, id)?.len;
        if !(1..=self.longest).contains(&len) {
            return Err(invalid("no block is like this").with("len", len).with("dtype", dtype));
        }
        Ok(Block { dtype, bits: memory::zeroed(len)? })
    }

    /// Copies the destinations of a launch back to its memory.
    pub fn give_back(&mut self, launch: &Launch<'_>) -> Result<()> {
        for dest in launch.dests {
            let (block, to) = (self.get(dest.block)?, piece(launch, dest.block)?.memory);
            let mut bytes = memory::zeroed(block.bits.len() * block.dtype.size())?;
            block.read(0, &mut bytes)?;
            // SAFETY: the contract guarantees memory of this many elements, which nothing else accesses during
            // the call.
            unsafe { to.as_ptr().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
        }
        Ok(())
    }
}

/// Memory that a launch brings, by its position.
fn piece<'a>(launch: &Launch<'a>, id: BlockId) -> Result<&'a HostBlock> {
    let at = usize::try_from(id.0).unwrap_or(usize::MAX);
    launch.memory.get(at).ok_or_else(|| invalid("the launch brings no such memory"))
}

/// The elements of memory that a launch brings.
fn bytes<'a>(launch: &Launch<'a>, id: BlockId, dtype: DType) -> Result<&'a [u8]> {
    let HostBlock { memory, len } = *piece(launch, id)?;
    // SAFETY: the contract guarantees memory of this many elements, which the core does not change during the call.
    Ok(unsafe { std::slice::from_raw_parts(memory.as_ptr(), len * dtype.size()) })
}

/// The error of a call that breaks the contract.
pub fn invalid(said: &str) -> Error {
    Error::new(ErrorKind::Invalid, crate::NAME).says(said)
}
