//! Memory aligned to cache lines.
//!
//! Owns [`Lines`].

#[repr(C, align(64))]
#[derive(Clone, Copy)]
struct Line([u8; 64]);

/// Zeroed bytes that start at a cache line.
pub struct Lines(Vec<Line>);

impl Lines {
    /// At least `len` bytes.
    pub fn new(len: usize) -> Lines {
        Lines(vec![Line([0; 64]); len.div_ceil(64)])
    }

    /// Grows to at least `len` bytes.
    pub fn reserve(&mut self, len: usize) {
        if self.0.len() * 64 < len {
            *self = Lines::new(len);
        }
    }

    /// The bytes.
    pub fn bytes(&mut self) -> &mut [u8] {
        let (start, len) = (self.0.as_mut_ptr(), self.0.len() * 64);
        // SAFETY: lines are arrays of bytes without padding, one after another.
        unsafe { std::slice::from_raw_parts_mut(start.cast(), len) }
    }

    /// Where they start.
    pub fn start(&self) -> *const u8 {
        self.0.as_ptr().cast()
    }
}
