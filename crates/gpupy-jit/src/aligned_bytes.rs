//! Memory aligned to cache lines, for constants, frames and scratch rows.
//!
//! Owns [`AlignedBytes`]. Not here: guarded memory (`gpupy-core/src/guard_pages.rs`).

#[cfg(feature = "guard")]
use gpupy_core::guard_pages::Guarded;

#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct CacheLine([u8; 64]);

/// Zeroed bytes that start at a cache line.
#[derive(Default)]
pub struct AlignedBytes {
    lines: Vec<CacheLine>,
    /// Instead of the lines, where memory is guarded.
    #[cfg(feature = "guard")]
    guarded: Option<Guarded>,
}

impl AlignedBytes {
    /// At least `len` bytes.
    pub fn new(len: usize) -> AlignedBytes {
        let count = len.div_ceil(64);
        #[cfg(feature = "guard")]
        if let Some(guarded) = Guarded::new(count * 64, 64) {
            // SAFETY: so many bytes are its own.
            unsafe { guarded.start().as_ptr().write_bytes(0, count * 64) };
            return AlignedBytes { lines: Vec::new(), guarded: Some(guarded) };
        }
        AlignedBytes {
            lines: vec![CacheLine([0; 64]); count],
            #[cfg(feature = "guard")]
            guarded: None,
        }
    }

    /// Grows to at least `len` bytes.
    pub fn reserve(&mut self, len: usize) {
        // Memory that is longer than asked for would hide what goes beyond it.
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
        // SAFETY: lines are arrays of bytes without padding, one after another; they are borrowed alone.
        unsafe { std::slice::from_raw_parts_mut(start, len) }
    }

    /// Where they start, for writing.
    pub fn start_mut(&mut self) -> *mut u8 {
        #[cfg(feature = "guard")]
        if let Some(guarded) = &self.guarded {
            return guarded.start().as_ptr();
        }
        self.lines.as_mut_ptr().cast()
    }

    /// Where they start.
    pub fn start(&self) -> *const u8 {
        #[cfg(feature = "guard")]
        if let Some(guarded) = &self.guarded {
            return guarded.start().as_ptr();
        }
        self.lines.as_ptr().cast()
    }
}
