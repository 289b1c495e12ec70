//! Blocks: pieces of host memory, counted against the limit.
//!
//! Owns [`Blocks`]. A block lies in memory that the core gives, or in memory of its own. Invariants:
//! live blocks with memory of their own never exceed the limit together; no two blocks of this
//! process ever have the same handle.
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

    fn own_bytes(&self) -> u64 {
        match self.memory {
            Memory::Given(_) => 0,
            Memory::Own(_, layout) => layout.size() as u64,
        }
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
        let memory = match memory {
            Some(given) => Memory::Given(given),
            None => self.own(&spec)?,
        };
        let block = Block { dtype, len, memory };
        self.room -= block.own_bytes();
        let id = BlockId(1 + COUNT.fetch_add(1, Ordering::Relaxed));
        self.live.insert(id, block);
        Ok(id)
    }

    /// Memory for a block's elements.
    fn own(&self, spec: &BlockSpec) -> Result<Memory> {
        let bytes = spec.bytes();
        let none = || {
            let error = Error::new(ErrorKind::OutOfMemory, "block_alloc");
            error.with("driver", crate::NAME).with("bytes", bytes)
        };
        if bytes > self.room {
            return Err(none());
        }
        let size = usize::try_from(bytes).map_err(|_| none())?;
        let layout = Layout::from_size_align(size, ALIGNMENT).map_err(|_| none())?;
        // SAFETY: the layout has at least one byte. Zeroed memory costs no more where it is large,
        // and its elements are some value.
        let address = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or_else(none)?;
        Ok(Memory::Own(address, layout))
    }

    pub fn free(&mut self, id: BlockId) {
        self.room += self.live.remove(&id).map_or(0, |block| block.own_bytes());
    }

    pub fn get(&mut self, id: BlockId) -> Result<&mut Block> {
        self.live.get_mut(&id).ok_or_else(|| invalid("there is no such block"))
    }
}

/// The error of a mistake of the caller.
pub fn invalid(said: &str) -> Error {
    Error::new(ErrorKind::Invalid, crate::NAME).says(said)
}
