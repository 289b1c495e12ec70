//! Blocks: pieces of host memory, counted against the limit.
//!
//! Owns [`Blocks`]. A block lies in memory that the core lends, or in memory of its own. Most blocks are looked
//! up soon after their allocation, so the newest ones are found without a hash table. Small work brings its
//! memory with the launch and has no blocks. Invariants: live blocks together never exceed the limit; a handle
//! is never given out twice in one process.
//!
//! Not here: eviction (the engine's block cache).

use crate::errors::{NAME, invalid};
use gpupy_core::driver::{BlockId, BlockSpec, HostBlock, HostMemory, Launch};
use gpupy_core::{DType, Error, ErrorKind, Result, memory};
use rustc_hash::FxHashMap;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many handles this process has given out.
static TAKEN: AtomicU64 = AtomicU64::new(1);
/// Handles that a driver reserves at a time.
const HANDLES: u64 = 1024;
/// Places for the newest blocks.
const NEWEST: usize = 64;

/// The alignment of rows that suits vector code, in bytes.
const ALIGNMENT: usize = 64;

/// One block: elements in C order.
pub struct Block {
    pub dtype: DType,
    pub len: usize,
    memory: BlockMemory,
}

enum BlockMemory {
    /// The core's, which outlives the block.
    Given(HostMemory),
    Own(NonNull<u8>, Layout),
    #[cfg(feature = "guard")]
    Guarded(memory::guard_pages::Guarded),
}

impl BlockMemory {
    /// Allocates `bytes` bytes, at least 1. They are zeroed, so that every element has a value.
    fn own(bytes: u64) -> Option<BlockMemory> {
        let layout = Layout::from_size_align(usize::try_from(bytes).ok()?, ALIGNMENT).ok()?;
        #[cfg(feature = "guard")]
        if let Some(guarded) = memory::guard_pages::Guarded::new(layout.size(), 16) {
            return Some(BlockMemory::Guarded(guarded));
        }
        // SAFETY: the layout has at least one byte.
        let address = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(BlockMemory::Own(address, layout))
    }
}

// SAFETY: the memory is the block's own, or lent by the core for calls that name the block; these calls come
// from one thread at a time.
unsafe impl Send for Block {}

impl Drop for Block {
    fn drop(&mut self) {
        if let BlockMemory::Own(address, layout) = self.memory {
            // SAFETY: `own` allocated it with this layout, and the block that is dropped held the only pointer to it.
            unsafe { dealloc(address.as_ptr(), layout) }
        }
    }
}

impl Block {
    /// The first element.
    #[inline]
    pub fn as_ptr(&self) -> *mut u8 {
        match self.memory {
            BlockMemory::Given(memory) => memory.as_ptr(),
            BlockMemory::Own(address, _) => address.as_ptr(),
            #[cfg(feature = "guard")]
            BlockMemory::Guarded(ref guarded) => guarded.start().as_ptr(),
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
        // SAFETY: the range lies in the block, as checked above; the block owns live memory and is borrowed mutably.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.as_ptr().add(offset * size), bytes) })
    }
}

/// All live blocks. The default has no room for any: it stands for a closed driver.
#[derive(Default)]
pub struct Blocks {
    /// The newest blocks, each in the place of its handle modulo [`NEWEST`].
    newest: Vec<Option<(BlockId, Block)>>,
    /// Blocks that gave way to a newer one in `newest`.
    older: FxHashMap<BlockId, Block>,
    /// Handles reserved for this driver.
    handles: Range<u64>,
    /// Bytes that may still be allocated.
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
            error.with("driver", NAME).with("bytes", bytes)
        };
        if bytes > self.room {
            return Err(none());
        }
        let memory = match memory {
            Some(given) => BlockMemory::Given(given),
            None => memory::granted(bytes as usize, || BlockMemory::own(bytes))?,
        };
        self.room -= bytes;
        let id = self.handle();
        let newest = &mut self.newest[place(id)];
        if let Some((id, older)) = newest.replace((id, Block { dtype, len, memory })) {
            self.older.insert(id, older);
        }
        Ok(id)
    }

    /// A fresh handle, unique in this process.
    fn handle(&mut self) -> BlockId {
        let next = self.handles.next().unwrap_or_else(|| {
            self.newest.resize_with(NEWEST, || None);
            let first = TAKEN.fetch_add(HANDLES, Ordering::Relaxed);
            self.handles = first + 1..first + HANDLES;
            first
        });
        BlockId(next)
    }

    pub fn free(&mut self, id: BlockId) {
        let block = match self.newest.get_mut(place(id)) {
            Some(newest) if is(newest, id) => newest.take().map(|(_, block)| block),
            _ => self.older.remove(&id),
        };
        self.room += block.map_or(0, |block| block.bytes());
    }

    #[inline]
    pub fn get(&mut self, id: BlockId) -> Result<&mut Block> {
        let block = match self.newest.get_mut(place(id)) {
            Some(Some((newest, block))) if *newest == id => Some(block),
            _ => self.older.get_mut(&id),
        };
        block.ok_or_else(none_such)
    }

    /// The elements that a launch names: those of a block, or of memory that the launch brings.
    #[inline]
    pub fn named(&mut self, id: BlockId, launch: &Launch<'_>) -> Result<(*mut u8, usize)> {
        if launch.memory.is_empty() {
            return self.get(id).map(|block| (block.as_ptr(), block.len));
        }
        match launch.memory.get(id.0 as usize) {
            Some(HostBlock { memory, len }) if (1..=self.longest).contains(len) => {
                Ok((memory.as_ptr(), *len))
            }
            _ => Err(none_brought()),
        }
    }
}

/// The place of a block among the newest.
#[inline]
fn place(id: BlockId) -> usize {
    id.0 as usize % NEWEST
}

/// Whether this block is in the place.
fn is(place: &Option<(BlockId, Block)>, id: BlockId) -> bool {
    place.as_ref().is_some_and(|(newest, _)| *newest == id)
}

#[cold]
fn none_brought() -> Error {
    invalid("the launch brings no such memory")
}

#[cold]
fn none_such() -> Error {
    invalid("there is no such block")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks() -> Blocks {
        Blocks { room: u64::MAX, longest: 1000, ..Blocks::default() }
    }

    #[test]
    fn a_block_is_found_however_many_are_newer_until_it_is_freed() -> Result<()> {
        let mut blocks = blocks();
        let ids = (1..=300).map(|len| blocks.alloc(BlockSpec::new(DType::F32, len)));
        let mut live: Vec<(BlockId, usize)> =
            ids.collect::<Result<Vec<_>>>()?.into_iter().zip(1..).collect();
        while !live.is_empty() {
            for (id, len) in &live {
                assert_eq!(blocks.get(*id)?.len, *len);
            }
            let (freed, _) = live.swap_remove(live.len() * 7 / 11);
            blocks.free(freed);
            blocks.free(freed);
            assert!(blocks.get(freed).is_err());
        }
        assert_eq!(blocks.room, u64::MAX);
        Ok(())
    }

    #[test]
    fn no_handle_comes_twice() -> Result<()> {
        let mut all = std::collections::BTreeSet::new();
        let mut drivers = [blocks(), blocks()];
        for round in 0..3000 {
            let blocks = &mut drivers[round % 2];
            let id = blocks.alloc(BlockSpec::new(DType::Bool, 1))?;
            assert!(all.insert(id));
            if round % 3 > 0 {
                blocks.free(id);
            }
            if round % 500 == 0 {
                *blocks = self::blocks();
            }
        }
        Ok(())
    }
}
