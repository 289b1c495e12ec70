//! Memory allocated by the system, which is returned to it when it is dropped.
//!
//! Owns [`Owned`]. Not here: reuse (`host_buffer.rs`, `thread_free_lists.rs`).

use crate::thresholds::T;
#[cfg(unix)]
use memmap2::UncheckedAdvice;
use memmap2::{MmapMut, MmapOptions};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ops::Range;
use std::ptr::NonNull;

/// Memory that goes back where it is from when it is dropped.
pub(crate) enum Owned {
    Allocated {
        memory: NonNull<u8>,
        capacity: usize,
    },
    Mapped(MmapMut),
    /// Addresses whose pages are there once they are written, and go back one by one; never reused.
    Reserved(MmapMut),
    #[cfg(feature = "guard")]
    Guarded(gpupy_core::memory::guard_pages::Guarded),
    /// Memory of another owner, which this keeps alive.
    Lent {
        memory: NonNull<u8>,
        /// Whether it is only read here.
        constant: bool,
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
        let memory = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Owned::Allocated { memory, capacity })
    }

    /// Addresses for so many bytes, which take memory as they are written; `None` where the system has none.
    pub fn reserved(len: usize) -> Option<Owned> {
        let map = MmapOptions::new().len(len.max(1)).no_reserve_swap().map_anon().ok()?;
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Some(Owned::Reserved(map))
    }

    /// Gives pages of mapped memory back to the system, those that lie inside a range; they are zeros then.
    ///
    /// # Safety
    /// The range is neither read nor written during the call.
    pub unsafe fn release(&self, range: Range<usize>) {
        #[cfg(unix)]
        if let Owned::Reserved(map) | Owned::Mapped(map) = self {
            const PAGE: usize = 4096;
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

    pub fn capacity(&self) -> usize {
        match self {
            Owned::Allocated { capacity, .. } => *capacity,
            Owned::Mapped(map) | Owned::Reserved(map) => map.len(),
            #[cfg(feature = "guard")]
            Owned::Guarded(guarded) => guarded.len(),
            // Nothing behind the elements may be touched, nor the memory be reused.
            Owned::Lent { .. } => 0,
        }
    }

    pub fn memory(&mut self) -> NonNull<u8> {
        match self {
            Owned::Allocated { memory, .. } | Owned::Lent { memory, .. } => *memory,
            // A map is not empty, and nowhere but at an address.
            Owned::Mapped(map) | Owned::Reserved(map) => NonNull::from(&mut **map).cast(),
            #[cfg(feature = "guard")]
            Owned::Guarded(guarded) => guarded.start(),
        }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if let Owned::Allocated { memory, capacity } = self
            && let Some(layout) = layout(*capacity)
        {
            // SAFETY: allocated in `new` with this layout, and freed only here.
            unsafe { dealloc(memory.as_ptr(), layout) };
        }
    }
}

/// How memory of a capacity is allocated; `None` for sizes that no allocator serves.
fn layout(capacity: usize) -> Option<Layout> {
    let align = match capacity {
        _ if capacity >= T.paged_from => 4096,
        _ if capacity >= T.pooled_from => 64,
        _ => 16,
    };
    Layout::from_size_align(capacity, align).ok()
}
