//! The buffer of a pinned base, which its exports share.
//!
//! Owns [`Pinned`], and whether bases may have elements in common.
//!
//! Not here: exports (`context/exports/pin.rs`), bases (`base.rs`).

use crate::memory::host_buffer::HostBuffer;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A buffer that a base shares with its exports.
pub(crate) struct Pinned {
    buffer: HostBuffer,
    /// An address was given out as a number, whose users cannot be counted.
    stays: AtomicBool,
}

impl Pinned {
    pub fn new(buffer: HostBuffer) -> Arc<Pinned> {
        Arc::new(Pinned { buffer, stays: AtomicBool::new(false) })
    }

    /// The first byte.
    pub fn start(&self) -> NonNull<u8> {
        self.buffer.start()
    }

    /// Pins the base for its life.
    pub fn stay(&self) {
        self.stays.store(true, Ordering::Relaxed);
    }

    /// Whether there is any owner besides the base.
    pub fn is_shared(this: &Arc<Pinned>) -> bool {
        Arc::strong_count(this) > 1 || this.stays.load(Ordering::Relaxed)
    }

    /// The buffer, when it has no export.
    pub fn into_buffer(self) -> HostBuffer {
        self.buffer
    }
}

/// Whether there ever was an array over memory of others. Only then may two bases have elements in common.
static OVER: AtomicBool = AtomicBool::new(false);

/// Notes that there is an array over memory of others.
pub(crate) fn bases_overlap() {
    OVER.store(true, Ordering::Relaxed);
}

/// Whether elements of different bases may be the same ones.
#[inline]
pub(crate) fn bases_may_overlap() -> bool {
    OVER.load(Ordering::Relaxed)
}
