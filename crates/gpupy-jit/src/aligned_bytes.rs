//! Memory aligned to cache lines, for constants, frames and scratch rows.
//!
//! Owns [`AlignedBytes`]. Not here: guarded memory (`gpupy-core/src/memory/guard_pages.rs`).

#[cfg(feature = "guard")]
use gpupy_core::memory::guard_pages::Guarded;

#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct AlignedLine([u8; 64]);

/// A zeroed buffer that starts at a cache line.
#[derive(Default)]
pub struct AlignedBytes {
    lines: Vec<AlignedLine>,
    /// The buffer in builds with guard pages, in place of `lines`.
    #[cfg(feature = "guard")]
    guarded: Option<Guarded>,
}

impl AlignedBytes {
    /// A buffer of at least `len` bytes.
    pub fn new(len: usize) -> AlignedBytes {
        let count = len.div_ceil(64);
        #[cfg(feature = "guard")]
        if let Some(guarded) = Guarded::new(count * 64, 64) {
            // SAFETY: `guarded` owns `count * 64` bytes from its start.
            unsafe { guarded.start().as_ptr().write_bytes(0, count * 64) };
            return AlignedBytes { lines: Vec::new(), guarded: Some(guarded) };
        }
        AlignedBytes {
            lines: vec![AlignedLine([0; 64]); count],
            #[cfg(feature = "guard")]
            guarded: None,
        }
    }

    /// Grows to at least `len` bytes.
    pub fn reserve(&mut self, len: usize) {
        // A longer buffer would hide accesses beyond the requested length.
        let exactly = cfg!(feature = "guard") && self.len() != len.next_multiple_of(64);
        if self.len() < len || exactly {
            *self = AlignedBytes::new(len);
        }
    }

    fn len(&self) -> usize {
        #[cfg(feature = "guard")]
        if let Some(guarded) = &self.guarded {
            return guarded.len();
        }
        self.lines.len() * 64
    }

    /// The bytes.
    pub fn bytes(&mut self) -> &mut [u8] {
        let (start, len) = (self.start_mut(), self.len());
        // SAFETY: `len` bytes from `start` are initialised cache lines or guarded bytes, and `self` is borrowed
        // mutably.
        unsafe { std::slice::from_raw_parts_mut(start, len) }
    }

    /// The address of the first byte, for writing.
    pub fn start_mut(&mut self) -> *mut u8 {
        #[cfg(feature = "guard")]
        if let Some(guarded) = &self.guarded {
            return guarded.start().as_ptr();
        }
        self.lines.as_mut_ptr().cast()
    }

    /// The address of the first byte.
    pub fn start(&self) -> *const u8 {
        #[cfg(feature = "guard")]
        if let Some(guarded) = &self.guarded {
            return guarded.start().as_ptr();
        }
        self.lines.as_ptr().cast()
    }
}
