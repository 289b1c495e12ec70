//! Blocks: pieces of host memory, counted against the limit.
//!
//! Owns [`Blocks`]. A block lies in memory that the core gives, or in memory of its own. Invariants:
//! live blocks together never exceed the limit; no two blocks of this process ever have the same
//! handle.
//!
//! Not here: when a block is evicted to make room (the core's cache).

use gpupy_core::driver::{BlockId, BlockSpec, HostMemory};
use gpupy_core::{DType, Error, ErrorKind, Result};
use rustc_hash::FxHashMap;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many blocks this process has had.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// What vector code likes rows to be aligned to, in bytes.
const ALIGNMENT: usize = 64;

/// One block: elements in C order.
pub struct Block {
    pub dtype: DType,
    pub len: usize,
    memory: Memory,
}

enum Memory {
    /// The core's, which outlives the block.
    Given(HostMemory),
    Own(NonNull<u8>, Layout),
}

impl Memory {
    /// So many bytes, more than none; zeros, so that all elements are some value.
    fn own(bytes: u64) -> Option<Memory> {
        let layout = Layout::from_size_align(usize::try_from(bytes).ok()?, ALIGNMENT).ok()?;
        // SAFETY: the layout has at least one byte.
        let address = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Memory::Own(address, layout))
    }
}

// SAFETY: the memory is the block's own, or the core's for calls that name the block; those come
// from one thread at a time.
unsafe impl Send for Block {}

impl Drop for Block {
    fn drop(&mut self) {
        if let Memory::Own(address, layout) = self.memory {
            // SAFETY: it was allocated so, and nobody has its address any more.
            unsafe { dealloc(address.as_ptr(), layout) }
        }
    }
}

impl Block {
    /// The first element.
    pub fn as_ptr(&self) -> *mut u8 {
        match self.memory {
            Memory::Given(memory) => memory.as_ptr(),
            Memory::Own(address, _) => address.as_ptr(),
        }
    }

    fn bytes(&self) -> u64 {
        self.len as u64 * self.dtype.size() as u64
    }

    /// The elements from `offset` on that take so many bytes.
    pub fn part(&mut self, offset: usize, bytes: usize) -> Result<&mut [u8]> {
        let size = self.dtype.size();
        let end = offset.saturating_add(bytes / size);
        if end > self.len || !bytes.is_multiple_of(size) {
            let error = invalid("the range is not of the block");
            return Err(error.with("end", end).with("len", self.len));
        }
        // SAFETY: the range is of the block, whose memory lives; the block is borrowed alone.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.as_ptr().add(offset * size), bytes) })
    }
}

/// All live blocks. By default none can be: so it is while the driver is closed.
#[derive(Default)]
pub struct Blocks {
    live: FxHashMap<BlockId, Block>,
    /// The bytes that there is still memory for.
    pub room: u64,
    /// The elements of the largest block.
    pub longest: usize,
}

impl Blocks {
    pub fn alloc(&mut self, spec: BlockSpec) -> Result<BlockId> {
        let BlockSpec { dtype, len, memory } = spec;
        if !(1..=self.longest).contains(&len) {
            return Err(invalid("no block is like this").with("len", len).with("dtype", dtype));
        }
        let bytes = spec.bytes();
        let none = || {
            let error = Error::new(ErrorKind::OutOfMemory, "block_alloc");
            error.with("driver", crate::NAME).with("bytes", bytes)
        };
        if bytes > self.room {
            return Err(none());
        }
        let memory = match memory {
            Some(given) => Memory::Given(given),
            None => Memory::own(bytes).ok_or_else(none)?,
        };
        self.room -= bytes;
        let id = BlockId(1 + COUNT.fetch_add(1, Ordering::Relaxed));
        self.live.insert(id, Block { dtype, len, memory });
        Ok(id)
    }

    pub fn free(&mut self, id: BlockId) {
        self.room += self.live.remove(&id).map_or(0, |block| block.bytes());
    }

    pub fn get(&mut self, id: BlockId) -> Result<&mut Block> {
        self.live.get_mut(&id).ok_or_else(|| invalid("there is no such block"))
    }
}

/// The error of a mistake of the caller.
pub fn invalid(said: &str) -> Error {
    Error::new(ErrorKind::Invalid, crate::NAME).says(said)
}
