//! Guard pages: memory between inaccessible pages, in builds that look for accesses out of bounds. Machine code of
//! gpupy-jit is caught too.
//!
//! Owns [`Guarded`]. Invariants: with [`side`] `End`, the byte after the last one is inaccessible; with `Start`, the
//! byte before the first. Dropped memory stays inaccessible until [`KEPT`] further pieces were dropped. Built only with
//! the feature `guard` (`cargo xtask sanitize python`).
//!
//! Not here: which memory is guarded (buffers of the engine, frames of machine code).

use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Bytes of a page.
const PAGE: usize = 4096;
/// The number of dropped pieces that stay inaccessible, so that no new piece takes their addresses.
const KEPT: usize = 4096;

/// The position of memory in its pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Up to the last byte of a page: accesses after the end are caught.
    End,
    /// From the first byte of a page on: accesses before the start are caught.
    Start,
}

/// The value of the variable `GPUPY_GUARD`: `end`, `start`, or `None` for no guard pages.
pub fn side() -> Option<Side> {
    static SIDE: OnceLock<Option<Side>> = OnceLock::new();
    *SIDE.get_or_init(|| match std::env::var("GPUPY_GUARD").as_deref() {
        Ok("end") => Some(Side::End),
        Ok("start") => Some(Side::Start),
        _ => None,
    })
}

/// Guarded memory. Its bytes are 1 at first: a number of every dtype that is not zero.
pub struct Guarded {
    mapped: Mapped,
    start: NonNull<u8>,
    len: usize,
}

/// A mapping of pages. The first and the last are inaccessible.
struct Mapped {
    first: NonNull<u8>,
    bytes: usize,
}

// SAFETY: this value alone owns the pages, and they are not bound to a thread.
unsafe impl Send for Mapped {}
// SAFETY: this value alone owns the pages. Users of the address keep the contract of the buffer that it is part of.
unsafe impl Send for Guarded {}
// SAFETY: shared access gives only the address. Its users keep the contract of the buffer that it is part of.
unsafe impl Sync for Guarded {}

/// Memory for elements of `len` bytes in all, each aligned to its size.
pub fn of_elements(len: usize) -> Option<Guarded> {
    // NumPy's masked assignment with a cast reads an element of an empty array, even of its own arrays.
    let len = if len == 0 { NOTHING } else { len };
    Guarded::new(len, 1 << len.trailing_zeros().min(4))
}

/// Bytes for an empty array: those of the largest element.
const NOTHING: usize = 16;

static DROPPED: Mutex<VecDeque<Mapped>> = Mutex::new(VecDeque::new());

impl Guarded {
    /// Memory of `len` bytes at a multiple of `alignment`, a power of two that is at most a page. `None` if guard pages
    /// are off, or the system has no memory.
    pub fn new(len: usize, alignment: usize) -> Option<Guarded> {
        Guarded::at(side()?, len, alignment)
    }

    fn at(side: Side, len: usize, alignment: usize) -> Option<Guarded> {
        let room = len.max(1).checked_next_multiple_of(PAGE)?;
        let bytes = room.checked_add(2 * PAGE)?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: the call makes a new mapping, at an address that the system chooses.
        let first =
            unsafe { libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_NONE, flags, -1, 0) };
        if first == libc::MAP_FAILED {
            return None;
        }
        let mapped = Mapped { first: NonNull::new(first.cast())?, bytes };
        let offset = match side {
            Side::End => (room - len) & !(alignment - 1),
            Side::Start => 0,
        };
        // SAFETY: `PAGE + room` bytes are mapped, and the offset is at most `room`.
        let (pages, start) = unsafe { (mapped.first.add(PAGE), mapped.first.add(PAGE + offset)) };
        // SAFETY: these are whole pages of the mapping, and no other code has their address yet.
        let opened = unsafe {
            libc::mprotect(pages.as_ptr().cast(), room, libc::PROT_READ | libc::PROT_WRITE)
        };
        if opened != 0 {
            return None;
        }
        // SAFETY: these bytes were just made accessible.
        unsafe { start.as_ptr().write_bytes(1, len) };
        Some(Guarded { mapped, start, len })
    }

    /// The first byte.
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// The number of bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// True for memory of no bytes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        let Mapped { first, bytes } = self.mapped;
        // SAFETY: this value owns the mapping, and no address in it is in use any more. Mapping it afresh without
        // access returns its memory.
        unsafe {
            let flags =
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
            libc::mmap(first.as_ptr().cast(), bytes, libc::PROT_NONE, flags, -1, 0);
        }
        let mut dropped = DROPPED.lock().unwrap_or_else(PoisonError::into_inner);
        dropped.push_back(Mapped { first, bytes });
        let oldest = if dropped.len() > KEPT { dropped.pop_front() } else { None };
        drop(dropped);
        drop(oldest.map(Unmapped));
    }
}

/// An inaccessible mapping that waits to be unmapped.
struct Unmapped(Mapped);

impl Drop for Unmapped {
    fn drop(&mut self) {
        // SAFETY: the mapping has been inaccessible since it was dropped, and it is unmapped once.
        unsafe { libc::munmap(self.0.first.as_ptr().cast(), self.0.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a byte is readable: the system copies it into a pipe, or reports an error.
    fn readable(address: *const u8) -> bool {
        let mut ends = [0; 2];
        // SAFETY: the system checks the address that it reads from.
        unsafe {
            assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
            let written = libc::write(ends[1], address.cast(), 1);
            libc::close(ends[0]);
            libc::close(ends[1]);
            written == 1
        }
    }

    #[test]
    fn a_byte_beyond_the_guarded_side_is_not_accessible_nor_is_dropped_memory() {
        for len in [0, 1, 7, 8, 63, 64, 4095, 4096, 4097, 100_000] {
            for alignment in [1, 8, 64] {
                let end = Guarded::at(Side::End, len, alignment).expect("memory");
                let start = end.start().as_ptr();
                assert_eq!(start as usize % alignment, 0);
                assert!((0..len).all(|i| readable(start.wrapping_add(i)) || i % 997 != 0));
                assert!(!readable(start.wrapping_add(len.next_multiple_of(alignment))));
                drop(end);
                assert!(!readable(start));

                let from = Guarded::at(Side::Start, len, alignment).expect("memory");
                assert!(!readable(from.start().as_ptr().wrapping_sub(1)));
            }
        }
    }
}
