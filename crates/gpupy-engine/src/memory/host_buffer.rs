//! Host memory for values: aligned, zeroed once, and reused.
//!
//! Owns [`HostBuffer`] and the pool behind it. The first touch of a page costs more than the arithmetic on it, so a
//! freed buffer returns to a bounded pool instead of to the system. A small buffer stays in its thread's free list for
//! a while. Invariants: the bytes of a buffer are always initialised; the pool never keeps more than its limit, in
//! which sizes that nobody asks for any more make room for others, and releases everything before an allocation is
//! refused.
//!
//! Not here: writes (`cow_buffer.rs`), what a refusal is (`gpupy_core::memory`), small buffers that a thread just
//! dropped (`thread_free_lists.rs`), which parts of a value are in its buffer (`value/`).

use crate::memory::limit;
use crate::memory::owned::{LentAccess, Owned, Pages};
use crate::memory::thread_free_lists;
use crate::thresholds::T;
use gpupy_core::Result;
use gpupy_core::driver::HostMemory;
use gpupy_core::memory;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// The most bytes that the pool keeps for reuse, unless it is told another number.
pub(crate) const POOL_BYTES: usize = 512 << 20;

/// A buffer of bytes, aligned for every dtype (and to pages where a device may import it).
///
/// Several owners may hold one through `Arc`. Reads are ordered by the evaluated map of the value that owns the buffer,
/// hence the `unsafe` on reading by range.
pub struct HostBuffer {
    memory: NonNull<u8>,
    /// Where the memory is from; `None` only while it is dropped.
    owned: Option<Owned>,
    len: usize,
    /// Whether it counts where memory is limited.
    counts: AtomicBool,
    /// Whether a thread writes it (`write_unread`).
    is_written: AtomicBool,
}

// SAFETY: the buffer owns its memory; the contracts of `bytes` and `write_unread` exclude data races.
unsafe impl Send for HostBuffer {}
// SAFETY: shared access goes through `bytes` and `write_unread`, which exclude data races.
unsafe impl Sync for HostBuffer {}

/// Free memory of one capacity.
#[derive(Default)]
struct FreeSize {
    pieces: Vec<Owned>,
    /// When the size was asked for last.
    asked: u64,
}

/// Free memory by capacity.
struct HostPool {
    free: Option<FxHashMap<usize, FreeSize>>,
    bytes: usize,
    /// The most bytes that it keeps.
    most: usize,
    /// Pieces that were asked for so far.
    clock: u64,
}

static POOL: Mutex<HostPool> =
    Mutex::new(HostPool { free: None, bytes: 0, most: POOL_BYTES, clock: 0 });

impl HostPool {
    /// A piece of just this capacity, if there is one.
    fn take(&mut self, capacity: usize) -> Option<Owned> {
        self.clock += 1;
        let size = self.free.as_mut()?.get_mut(&capacity)?;
        size.asked = self.clock;
        let owned = size.pieces.pop()?;
        self.bytes -= capacity;
        Some(owned)
    }

    /// Keeps a piece, if there is room or sizes that nobody asks for any more make room; gives what has to go.
    fn put(&mut self, owned: Owned) -> SmallVec<[Owned; 4]> {
        let (capacity, clock, mut gone) = (owned.capacity(), self.clock, SmallVec::new());
        let free = self.free.get_or_insert_with(|| {
            memory::before_refusals(trim);
            FxHashMap::default()
        });
        while self.bytes + capacity > self.most {
            let is_stale = |(_, size): &(&usize, &mut FreeSize)| {
                !size.pieces.is_empty() && clock - size.asked > T.pool_asked
            };
            let oldest = free.iter_mut().filter(is_stale).min_by_key(|(_, size)| size.asked);
            let Some((freed, size)) = oldest.filter(|_| capacity <= self.most) else {
                gone.push(owned);
                return gone;
            };
            self.bytes -= freed;
            gone.extend(size.pieces.pop());
        }
        self.bytes += capacity;
        let size = free.entry(capacity).or_insert(FreeSize { pieces: Vec::new(), asked: clock });
        size.pieces.push(owned);
        gone
    }
}

impl HostBuffer {
    /// A buffer of `len` bytes whose contents are unspecified but initialised.
    ///
    /// # Errors
    /// - `OutOfMemory`: the system has no more memory, even after the pool was freed.
    pub fn new(len: usize) -> Result<HostBuffer> {
        #[cfg(feature = "guard")]
        if let Some(guarded) = memory::guard_pages::of_elements(len) {
            memory::ask(len)?;
            return Ok(HostBuffer::of(Owned::Guarded(guarded), len));
        }
        let capacity = class(len).ok_or_else(|| memory::refused(len))?;
        if let Some(owned) = thread_free_lists::take(capacity) {
            memory::ask(len)?;
            return Ok(HostBuffer::of(owned, len));
        }
        if capacity >= T.pooled_from {
            let found = POOL.lock().unwrap_or_else(PoisonError::into_inner).take(capacity);
            if let Some(owned) = found {
                memory::ask(len)?;
                return Ok(HostBuffer::of(owned, len));
            }
        }
        memory::granted(len, || Owned::new(capacity)).map(|owned| HostBuffer::of(owned, len))
    }

    fn of(mut owned: Owned, len: usize) -> HostBuffer {
        let counts = AtomicBool::new(limit::count(len));
        let is_written = AtomicBool::new(false);
        HostBuffer { memory: owned.memory(), owned: Some(owned), len, counts, is_written }
    }

    /// Memory that nothing counts.
    fn uncounted(memory: NonNull<u8>, len: usize, owned: Owned) -> HostBuffer {
        let (counts, is_written) = (AtomicBool::new(false), AtomicBool::new(false));
        HostBuffer { memory, owned: Some(owned), len, counts, is_written }
    }

    /// Counts the buffer no longer, as others count what is in it; whether its pages may go back one by one.
    pub(crate) fn is_paged(&self) -> bool {
        let is_paged = self.owned.as_ref().is_some_and(Owned::is_paged);
        if is_paged && self.counts.swap(false, Ordering::Relaxed) {
            limit::uncount(self.len);
        }
        is_paged
    }

    /// Counts the buffer, which nothing else counts any more.
    pub(crate) fn count_again(&self) {
        let is_own = !matches!(self.owned, Some(Owned::Lent { .. }));
        if is_own && !self.counts.load(Ordering::Relaxed) {
            self.counts.store(limit::count(self.len), Ordering::Relaxed);
        }
    }

    /// A buffer that takes memory as it is written by `write_unread`, and gives it back by `release`; nothing else may
    /// be read or written.
    ///
    /// # Errors
    /// - `OutOfMemory`: the system has no addresses for so much.
    pub(crate) fn closed(len: usize) -> Result<HostBuffer> {
        let made = memory::granted(len, || Owned::closed(len));
        let made = made.map(|owned| HostBuffer::of(owned, len))?;
        made.is_paged();
        Ok(made)
    }

    /// Opens bytes that are written next, where pages are opened.
    ///
    /// # Errors
    /// - `OutOfMemory`: the process may have no more memory.
    pub(super) fn open(&self, range: Range<usize>) -> Result<()> {
        let bytes = range.len();
        let opened = self.owned.as_ref().map_or(Ok(()), |owned| owned.open(range));
        opened.map_err(|error| memory::refused(bytes).from_source(error))
    }

    /// A buffer of zeros that takes memory as it is written, and gives it back by `release`.
    ///
    /// # Errors
    /// - `OutOfMemory`: the system has no addresses for so much.
    pub(crate) fn reserved(len: usize, pages: Pages) -> Result<HostBuffer> {
        let made = memory::granted(len, || Owned::reserved(len, pages));
        let made = made.map(|owned| HostBuffer::of(owned, len))?;
        made.is_paged();
        Ok(made)
    }

    /// Gives the memory of a range back to the system, where it was reserved; the bytes are zeros then, or unchanged.
    ///
    /// # Safety
    /// The range is neither read nor written during the call.
    pub(crate) unsafe fn release(&self, range: Range<usize>) {
        if let Some(owned) = &self.owned {
            // SAFETY: the caller promises that the range is neither read nor written during the call.
            unsafe { owned.release(range) };
        }
    }

    /// Memory of another owner, which is kept alive as long as the buffer; it is never reused.
    ///
    /// # Safety
    /// From `memory` on, `len` bytes are initialised and may be read and written as long as `owner` lives.
    pub(crate) unsafe fn lent(
        memory: NonNull<u8>,
        len: usize,
        owner: Box<dyn Send + Sync>,
    ) -> HostBuffer {
        HostBuffer::over(memory, len, LentAccess::Shared, owner)
    }

    /// A buffer over foreign memory that is only read: [`HostBuffer::is_sole`] is false for it.
    ///
    /// # Safety
    /// From `memory` on, `len` bytes are initialised, and do not change as long as `owner` lives.
    pub(crate) unsafe fn constant(
        memory: NonNull<u8>,
        len: usize,
        owner: Box<dyn Send + Sync>,
    ) -> HostBuffer {
        HostBuffer::over(memory, len, LentAccess::Constant, owner)
    }

    /// A buffer over memory that its owner gave up, which is as good as its own; it is never reused.
    ///
    /// # Safety
    /// From `memory` on, `len` bytes are initialised, and nothing else reads or writes them as long as `owner` lives.
    pub(crate) unsafe fn sole(
        memory: NonNull<u8>,
        len: usize,
        owner: Box<dyn Send + Sync>,
    ) -> HostBuffer {
        HostBuffer::over(memory, len, LentAccess::Sole, owner)
    }

    fn over(
        memory: NonNull<u8>,
        len: usize,
        access: LentAccess,
        owner: Box<dyn Send + Sync>,
    ) -> HostBuffer {
        HostBuffer::uncounted(memory, len, Owned::Lent { memory, access, _owner: owner })
    }

    /// Whether it is foreign memory that is only read.
    pub(super) fn is_constant(&self) -> bool {
        matches!(self.owned, Some(Owned::Lent { access: LentAccess::Constant, .. }))
    }

    /// Whether it is foreign memory that is read and written.
    pub(super) fn is_lent(&self) -> bool {
        matches!(self.owned, Some(Owned::Lent { access: LentAccess::Shared, .. }))
    }

    /// Whether a thread writes the buffer.
    pub(super) fn is_written(&self) -> &AtomicBool {
        &self.is_written
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

    /// Where a range of bytes lies, if that is at a multiple of `alignment`, and the buffer goes on up to the
    /// next multiple behind the range.
    pub(crate) fn aligned(&self, range: Range<usize>, alignment: usize) -> Option<HostMemory> {
        let capacity = self.owned.as_ref()?.capacity();
        let at = self.memory.as_ptr() as usize + range.start;
        let inside = range.start <= range.end && range.end <= self.len;
        let fits = range.start + range.len().checked_next_multiple_of(alignment)? <= capacity;
        let well = inside && fits && at.is_multiple_of(alignment);
        NonNull::new(self.memory.as_ptr().wrapping_add(range.start))
            .filter(|_| well)
            .map(HostMemory::new)
    }

    /// The first byte.
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.memory
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
    /// The range is not written while the slice lives.
    pub unsafe fn bytes(&self, range: Range<usize>) -> &[u8] {
        assert!(range.start <= range.end && range.end <= self.len);
        // SAFETY: the range is in bounds and initialised, and the caller promises that it is not written.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().add(range.start), range.len()) }
    }
}

impl Drop for HostBuffer {
    fn drop(&mut self) {
        if *self.counts.get_mut() {
            limit::uncount(self.len);
        }
        // Where accesses are checked, memory goes back to the checker.
        if cfg!(feature = "guard") {
            return;
        }
        let Some(owned) = self.owned.take() else { return };
        if owned.is_never_reused() {
            return;
        }
        let Some(owned) = thread_free_lists::put(owned) else { return };
        let capacity = owned.capacity();
        if capacity >= T.pooled_from {
            // What goes back to the system goes after the lock, as that takes time.
            let gone = POOL.lock().unwrap_or_else(PoisonError::into_inner).put(owned);
            drop(gone);
        }
    }
}

/// Says how many bytes of memory that nothing uses the process keeps at most for reuse. Of more that it has now, all
/// goes back to the system.
pub fn set_pool_bytes(most: usize) {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    pool.most = most;
    let is_beyond = pool.bytes > most;
    drop(pool);
    if is_beyond {
        trim();
    }
}

/// Gives the memory in the pool back to the system.
pub(crate) fn trim() {
    thread_free_lists::clear();
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let free = std::mem::take(&mut pool.free);
    pool.bytes = 0;
    drop(pool);
    // Giving back takes time, so it comes after the lock.
    drop(free);
    // What drivers and compilers have freed stays with the allocator.
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: a plain call, of any thread.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Rounds a size up so that buffers of nearly equal size can stand in for each other: at most one eighth is wasted.
/// `None` beyond the address space.
#[inline]
fn class(len: usize) -> Option<usize> {
    if cfg!(feature = "guard") {
        return Some(len.max(1));
    }
    if len < T.pooled_from {
        return Some(len.max(16).next_multiple_of(16));
    }
    len.checked_next_multiple_of((len.checked_next_power_of_two()? / 16).max(64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_machine_has_is_refused() {
        for bytes in [1 << 46, usize::MAX] {
            assert!(HostBuffer::new(bytes).is_err_and(|error| memory::is_refusal(&error)));
        }
    }

    #[test]
    fn sizes_that_nobody_asks_for_make_room() {
        let mut pool = HostPool { free: None, bytes: 0, most: 10_000, clock: 0 };
        let piece = |bytes: usize| Owned::new(bytes).expect("memory");
        assert!((0..2).all(|_| pool.put(piece(4096)).is_empty()));
        // What was asked for a moment ago stays.
        assert_eq!(pool.put(piece(2048)).len(), 1);
        assert!((0..=T.pool_asked).all(|_| pool.take(2048).is_none()));
        // What nobody asked for since goes, and no more than has to.
        let gone = pool.put(piece(2048));
        assert_eq!(gone.iter().map(Owned::capacity).collect::<Vec<_>>(), [4096]);
        assert!(pool.take(2048).is_some() && pool.take(4096).is_some());
        assert!(pool.take(4096).is_none() && pool.bytes == 0);
        // A piece that is larger than all of the room takes nothing with it.
        assert!(pool.put(piece(2048)).is_empty());
        assert_eq!(pool.put(piece(16_384)).len(), 1);
        assert_eq!(pool.bytes, 2048);
    }

    #[test]
    fn a_dropped_large_buffer_is_reused() -> Result<()> {
        let first = HostBuffer::new(1 << 20)?;
        let address = first.as_ptr();
        drop(first);
        let again = HostBuffer::new((1 << 20) - 100)?;
        assert_eq!(again.as_ptr(), address);
        assert_eq!(again.len(), (1 << 20) - 100);
        Ok(())
    }
}
