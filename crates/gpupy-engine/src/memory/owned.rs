//! Memory allocated by the system, which is returned to it when it is dropped.
//!
//! Owns [`Owned`], and where in its pages memory begins. Processors compare addresses of loads and stores by their
//! places in a page first, so a loop that stores a little further in a page than it loads waits for each store. Where
//! buffers begin at pages, that is what every `b[1:] = a[:-1]` does; so they begin at places that differ from one to
//! the next.
//!
//! Not here: reuse (`host_buffer.rs`, `thread_free_lists.rs`).

use crate::thresholds::T;
#[cfg(unix)]
use memmap2::UncheckedAdvice;
use memmap2::{MmapMut, MmapOptions};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::io;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

const PAGE: usize = 4096;

/// Steps from a buffer's place in its page to the next one's: all multiples of cache lines come before one comes again.
const PLACE_STEP: usize = 23 * 64;

/// Buffers that were given a place so far.
static PLACED: AtomicUsize = AtomicUsize::new(0);

/// The pages that reserved memory takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pages {
    /// Large ones, where the system has them: it is written in long runs.
    Huge,
    /// As small as the system has them: few bytes of each may be written.
    Small,
}

/// What is done with memory of another owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LentAccess {
    /// It is only read, here and elsewhere.
    Constant,
    /// It is read and written here and elsewhere.
    Shared,
    /// It is read and written here alone: its owner only frees it.
    Sole,
}

/// Memory that goes back where it is from when it is dropped.
pub(crate) enum Owned {
    Allocated {
        start: NonNull<u8>,
        /// How far behind the start the memory begins.
        skipped: usize,
        capacity: usize,
    },
    Mapped(MmapMut),
    /// Addresses whose pages are there once they are written, and go back one by one; never reused.
    Reserved(MmapMut),
    /// Addresses whose pages are opened before they are written, and go back one by one; never reused.
    #[cfg(unix)]
    Closed(ClosedPages),
    #[cfg(feature = "guard")]
    Guarded(gpupy_core::memory::guard_pages::Guarded),
    /// Memory of another owner, which this keeps alive.
    Lent {
        memory: NonNull<u8>,
        access: LentAccess,
        _owner: Box<dyn Send + Sync>,
    },
}

// SAFETY: allocated memory belongs to no thread, and owners of lent memory can be sent.
unsafe impl Send for Owned {}

impl Owned {
    /// Zeroed memory; `None` where the system has none.
    pub fn new(capacity: usize) -> Option<Owned> {
        if capacity >= T.mapped_from
            && let Ok(map) = MmapMut::map_anon(capacity)
        {
            // Small pages do too, but take longer to touch for the first time.
            #[cfg(target_os = "linux")]
            let _ = map.advise(memmap2::Advice::HugePage);
            return Some(Owned::Mapped(map));
        }
        let layout = layout(capacity)?;
        // SAFETY: `class` never gives zero, so the layout's size is not zero.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        let skipped = match layout.size() - capacity {
            0 => 0,
            _ => {
                let place = PLACED.fetch_add(1, Ordering::Relaxed).wrapping_mul(PLACE_STEP);
                place.wrapping_sub(start.as_ptr() as usize) % PAGE
            }
        };
        Some(Owned::Allocated { start, skipped, capacity })
    }

    /// Addresses for so many bytes, which take memory as they are written; `None` where the system has none.
    pub fn reserved(len: usize, pages: Pages) -> Option<Owned> {
        let map = MmapOptions::new().len(len.max(1)).no_reserve_swap().map_anon().ok()?;
        #[cfg(target_os = "linux")]
        if pages == Pages::Huge {
            let _ = map.advise(memmap2::Advice::HugePage);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = pages;
        Some(Owned::Reserved(map))
    }

    /// Addresses for so many bytes, of which parts are opened; `None` where the system has none. Systems that do not
    /// count what is never touched open all.
    pub fn closed(len: usize) -> Option<Owned> {
        #[cfg(unix)]
        return ClosedPages::new(len).map(Owned::Closed);
        #[cfg(not(unix))]
        Owned::reserved(len, Pages::Huge)
    }

    /// Opens bytes that are written next.
    ///
    /// # Errors
    /// The process may have no more memory.
    pub fn open(&self, range: Range<usize>) -> io::Result<()> {
        #[cfg(unix)]
        if let Owned::Closed(pages) = self {
            return pages.open(range);
        }
        let _ = range;
        Ok(())
    }

    /// Gives pages of mapped memory back to the system, those that lie inside a range; they are zeros then.
    ///
    /// # Safety
    /// The range is neither read nor written during the call.
    pub unsafe fn release(&self, range: Range<usize>) {
        #[cfg(unix)]
        if let Owned::Closed(pages) = self {
            // SAFETY: the caller promises that the range is not accessed; it is opened before it is written again.
            unsafe { pages.close(range.clone()) };
        }
        #[cfg(unix)]
        if let Owned::Reserved(map) | Owned::Mapped(map) = self {
            let (start, end) = (range.start.next_multiple_of(PAGE), range.end / PAGE * PAGE);
            if start < end.min(map.len()) {
                let len = end.min(map.len()) - start;
                // SAFETY: the pages are private to this map, and the caller promises that they are not accessed. Where
                // the system refuses, they stay.
                let _ =
                    unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, start, len) };
            }
        }
        #[cfg(not(unix))]
        let _ = range;
    }

    /// Whether its pages may go back one by one.
    pub fn is_paged(&self) -> bool {
        match self {
            Owned::Mapped(_) | Owned::Reserved(_) => true,
            #[cfg(unix)]
            Owned::Closed(_) => true,
            _ => false,
        }
    }

    /// Whether it goes back when it is free, rather than to the pool.
    pub fn is_never_reused(&self) -> bool {
        match self {
            Owned::Lent { .. } | Owned::Reserved(_) => true,
            #[cfg(unix)]
            Owned::Closed(_) => true,
            _ => false,
        }
    }

    pub fn capacity(&self) -> usize {
        match self {
            Owned::Allocated { capacity, .. } => *capacity,
            Owned::Mapped(map) | Owned::Reserved(map) => map.len(),
            #[cfg(unix)]
            Owned::Closed(pages) => pages.len(),
            #[cfg(feature = "guard")]
            Owned::Guarded(guarded) => guarded.len(),
            // Nothing behind the elements may be touched, nor the memory be reused.
            Owned::Lent { .. } => 0,
        }
    }

    pub fn memory(&mut self) -> NonNull<u8> {
        match self {
            // SAFETY: the capacity follows what is skipped, in the same allocation.
            Owned::Allocated { start, skipped, .. } => unsafe { start.add(*skipped) },
            Owned::Lent { memory, .. } => *memory,
            #[cfg(unix)]
            Owned::Closed(pages) => pages.start(),
            // A map is not empty, and nowhere but at an address.
            Owned::Mapped(map) | Owned::Reserved(map) => NonNull::from(&mut **map).cast(),
            #[cfg(feature = "guard")]
            Owned::Guarded(guarded) => guarded.start(),
        }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if let Owned::Allocated { start, capacity, .. } = self
            && let Some(layout) = layout(*capacity)
        {
            // SAFETY: allocated in `new` with this layout, and freed only here.
            unsafe { dealloc(start.as_ptr(), layout) };
        }
    }
}

/// Addresses without memory, of which a part is opened before it is written, and closed when its memory goes back.
/// They are for elements that come and go, as those of files do: memory that may be written counts to what a process
/// may have (`ulimit -d`), even if it is never touched, and a file may be larger than that.
#[cfg(unix)]
pub(crate) struct ClosedPages {
    start: NonNull<u8>,
    len: usize,
}

#[cfg(unix)]
// SAFETY: the addresses belong to no thread; what is read and written there is up to the buffer that has them.
unsafe impl Send for ClosedPages {}

#[cfg(unix)]
impl ClosedPages {
    /// Addresses for so many bytes; `None` where the system has none.
    pub fn new(len: usize) -> Option<ClosedPages> {
        let len = len.max(1);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping at a place of the system's choice.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), len, libc::PROT_NONE, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return None;
        }
        #[cfg(target_os = "linux")]
        // SAFETY: the range was just mapped. It is advice, which the system may refuse.
        unsafe {
            libc::madvise(start, len, libc::MADV_HUGEPAGE);
        }
        NonNull::new(start.cast()).map(|start| ClosedPages { start, len })
    }

    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// Opens the pages of a range of bytes; those that were closed are zeros.
    ///
    /// # Errors
    /// The process may have no more memory.
    pub fn open(&self, range: Range<usize>) -> io::Result<()> {
        let end = range.end.min(self.len).next_multiple_of(PAGE);
        let start = range.start / PAGE * PAGE;
        if start >= end {
            return Ok(());
        }
        // SAFETY: the pages are of this mapping, whose last page is mapped to its end.
        let done = unsafe {
            let first = self.start.as_ptr().add(start).cast();
            libc::mprotect(first, end - start, libc::PROT_READ | libc::PROT_WRITE)
        };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }

    /// Gives the memory of the pages inside a range back, and closes them.
    ///
    /// # Safety
    /// The range is neither read nor written until it is opened again.
    pub unsafe fn close(&self, range: Range<usize>) {
        let (start, end) =
            (range.start.next_multiple_of(PAGE), range.end.min(self.len) / PAGE * PAGE);
        if start >= end {
            return;
        }
        // SAFETY: the pages are private to this mapping, and the caller promises that they are not accessed. Where the
        // system refuses, they stay.
        unsafe {
            let first = self.start.as_ptr().add(start).cast();
            libc::madvise(first, end - start, libc::MADV_DONTNEED);
            libc::mprotect(first, end - start, libc::PROT_NONE);
        }
    }
}

#[cfg(unix)]
impl Drop for ClosedPages {
    fn drop(&mut self) {
        // SAFETY: the mapping is this one's, and nothing refers to it any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.len) };
    }
}

/// How memory of a capacity is allocated, with a page more where it is given a place in its pages; `None` for sizes
/// that no allocator serves.
fn layout(capacity: usize) -> Option<Layout> {
    let (more, align) = match capacity {
        _ if capacity >= T.imported_from => (0, PAGE),
        // The system gives zeros where no large alignment is asked for; otherwise they are written.
        _ if capacity >= T.placed_from => (PAGE, 16),
        _ if capacity >= T.pooled_from => (0, 64),
        _ => (0, 16),
    };
    Layout::from_size_align(capacity.checked_add(more)?, align).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_begin_at_different_places_of_pages() {
        let mut kept: Vec<Owned> = (0..8).filter_map(|_| Owned::new(T.placed_from)).collect();
        let mut places: Vec<usize> =
            kept.iter_mut().map(|owned| owned.memory().as_ptr() as usize % PAGE).collect();
        assert!(places.iter().all(|place| place.is_multiple_of(64)));
        places.sort_unstable();
        places.dedup();
        // Other tests make buffers meanwhile.
        assert!(places.len() > 4, "{places:?}");
    }

    #[test]
    fn buffers_that_a_device_may_import_begin_at_pages() {
        for capacity in [T.imported_from, T.mapped_from] {
            let mut owned = Owned::new(capacity).unwrap();
            assert!((owned.memory().as_ptr() as usize).is_multiple_of(PAGE));
        }
    }

    #[cfg(unix)]
    #[test]
    fn what_is_opened_is_zeros_and_keeps_what_is_written_until_it_is_closed() -> io::Result<()> {
        let pages = ClosedPages::new(10 * PAGE + 5).ok_or(io::ErrorKind::OutOfMemory)?;
        let byte = |at: usize| pages.start().as_ptr().wrapping_add(at);
        pages.open(PAGE + 7..3 * PAGE)?;
        pages.open(10 * PAGE..pages.len())?;
        // SAFETY: these pages are open.
        unsafe {
            assert_eq!((*byte(PAGE), *byte(10 * PAGE + 4)), (0, 0));
            (*byte(PAGE), *byte(3 * PAGE - 1), *byte(10 * PAGE + 4)) = (1, 2, 3);
            // The page of which it is a part stays.
            pages.close(PAGE + 1..3 * PAGE);
            assert_eq!((*byte(PAGE), *byte(10 * PAGE + 4)), (1, 3));
            pages.open(2 * PAGE..3 * PAGE)?;
            assert_eq!(*byte(3 * PAGE - 1), 0);
        }
        Ok(())
    }
}
