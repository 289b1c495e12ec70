//! Host memory of values: aligned, zeroed once, and reused.
//!
//! Owns [`HostBuffer`] and the pool behind it. A page's first touch costs more than the arithmetic
//! on it, so buffers go back to a bounded pool instead of to the system, but for the smallest. Invariants: a
//! buffer's bytes are always initialised; the pool never keeps more than [`POOL_BYTES`].
//!
//! Not here: which parts of a value are in its buffer (`value.rs`).

use crate::driver::HostMemory;
use rustc_hash::FxHashMap;
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};

/// The most bytes that the pool keeps for reuse.
pub const POOL_BYTES: usize = 512 << 20;

/// Buffers below this size are cheap to get from the allocator.
const POOLED_FROM: usize = 1 << 10;
/// Buffers from this size on are made of pages.
const PAGED_FROM: usize = 64 << 10;

/// A buffer of bytes, aligned for every dtype (and to pages when it is large).
///
/// Several owners may hold one through `Arc`; who writes is settled by the value that owns the
/// evaluated map, hence the `unsafe` on writing and the plain reading by range.
pub struct HostBuffer {
    memory: NonNull<u8>,
    capacity: usize,
    len: usize,
}

// SAFETY: the memory is owned by the buffer alone; shared access is governed by the contracts of
// `bytes` and `bytes_mut`.
unsafe impl Send for HostBuffer {}
// SAFETY: as above.
unsafe impl Sync for HostBuffer {}

/// Free buffers by capacity.
struct Pool {
    free: Option<FxHashMap<usize, Vec<NonNull<u8>>>>,
    bytes: usize,
}

// SAFETY: the pool owns the memory behind its pointers.
unsafe impl Send for Pool {}

static POOL: Mutex<Pool> = Mutex::new(Pool { free: None, bytes: 0 });

impl HostBuffer {
    /// A buffer of `len` bytes whose contents are unspecified but initialised.
    pub fn new(len: usize) -> HostBuffer {
        let capacity = class(len);
        if capacity >= POOLED_FROM {
            let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
            let free = pool.free.as_mut().and_then(|free| free.get_mut(&capacity));
            if let Some(memory) = free.and_then(Vec::pop) {
                pool.bytes -= capacity;
                return HostBuffer { memory, capacity, len };
            }
        }
        let layout = layout(capacity);
        // SAFETY: `class` never gives zero, so the layout's size is not zero.
        let memory = unsafe { alloc_zeroed(layout) };
        let Some(memory) = NonNull::new(memory) else { handle_alloc_error(layout) };
        HostBuffer { memory, capacity, len }
    }

    /// A copy of these bytes.
    pub fn from_bytes(bytes: &[u8]) -> HostBuffer {
        let buffer = HostBuffer::new(bytes.len());
        // SAFETY: nobody else has the new buffer.
        unsafe { buffer.bytes_mut(0..bytes.len()) }.copy_from_slice(bytes);
        buffer
    }

    /// Bytes in the buffer.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True for a buffer of no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The memory, for a driver that works on it.
    pub(crate) fn memory(&self) -> HostMemory {
        HostMemory::new(self.memory)
    }

    /// The first byte's address.
    pub fn as_ptr(&self) -> *const u8 {
        self.memory.as_ptr()
    }

    /// The bytes of a range.
    ///
    /// # Panics
    /// When the range leaves the buffer.
    ///
    /// # Safety
    /// Nobody writes to the range while the slice lives.
    pub unsafe fn bytes(&self, range: Range<usize>) -> &[u8] {
        assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: in bounds and initialised; the caller excludes writers.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().add(range.start), range.len()) }
    }

    /// The bytes of a range, for writing.
    ///
    /// # Panics
    /// When the range leaves the buffer.
    ///
    /// # Safety
    /// Nobody else reads or writes the range while the slice lives.
    #[allow(clippy::mut_from_ref)] // owners share the buffer; the contract above keeps ranges apart
    pub unsafe fn bytes_mut(&self, range: Range<usize>) -> &mut [u8] {
        assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: in bounds and initialised; the caller excludes everybody else.
        unsafe {
            std::slice::from_raw_parts_mut(self.memory.as_ptr().add(range.start), range.len())
        }
    }
}

impl Drop for HostBuffer {
    fn drop(&mut self) {
        if self.capacity >= POOLED_FROM {
            let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
            if pool.bytes + self.capacity <= POOL_BYTES {
                pool.bytes += self.capacity;
                let free = pool.free.get_or_insert_default();
                free.entry(self.capacity).or_default().push(self.memory);
                return;
            }
        }
        // SAFETY: allocated in `new` with this layout, and not in the pool.
        unsafe { dealloc(self.memory.as_ptr(), layout(self.capacity)) };
    }
}

/// Gives the memory in the pool back to the system.
pub(crate) fn trim() {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let free = std::mem::take(&mut pool.free);
    pool.bytes = 0;
    drop(pool);
    for (capacity, buffers) in free.into_iter().flatten() {
        for memory in buffers {
            // SAFETY: allocated in `new` with this layout; it was in the pool, so nobody uses it.
            unsafe { dealloc(memory.as_ptr(), layout(capacity)) };
        }
    }
}

/// Rounds a size up so that buffers of nearly equal size can stand in for each other: at most one
/// eighth is wasted.
fn class(len: usize) -> usize {
    if len < POOLED_FROM {
        return len.max(16).next_multiple_of(16);
    }
    let least = if len < PAGED_FROM { 64 } else { 4096 };
    len.next_multiple_of((len.next_power_of_two() / 16).max(least))
}

fn layout(capacity: usize) -> Layout {
    let align = match capacity {
        PAGED_FROM.. => 4096,
        POOLED_FROM.. => 64,
        _ => 16,
    };
    // Only a size near isize::MAX fails, which no allocator serves either.
    Layout::from_size_align(capacity, align)
        .unwrap_or_else(|_| handle_alloc_error(Layout::new::<u8>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_large_buffer_is_reused() {
        let first = HostBuffer::new(1 << 20);
        let address = first.as_ptr();
        drop(first);
        let again = HostBuffer::new((1 << 20) - 100);
        assert_eq!(again.as_ptr(), address);
        assert_eq!(again.len(), (1 << 20) - 100);
    }
}
