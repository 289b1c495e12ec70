//! The limit of host memory: how much of it values may take, and how much is taken by buffers that cannot move.
//!
//! Invariant: without a limit nothing is counted. Not here: which elements are spilled when memory runs out
//! (`execute/spilling.rs`).

use std::sync::atomic::{AtomicU64, Ordering};

/// The most bytes; 0 where there is no limit.
static MOST: AtomicU64 = AtomicU64::new(0);

/// The bytes of buffers that are counted.
static OWNED: AtomicU64 = AtomicU64::new(0);

/// The fewest bytes of a buffer that is counted; fewer are little beside any limit.
pub(crate) const COUNTED_FROM: usize = 64 << 10;

/// The fewest bytes of a value that may go to the disk: its memory is pages of its own then.
pub(crate) const PAGED_FROM: usize = 4 << 20;

/// Says how many bytes of host memory values may take in this process; 0 for as many as there are. Memory that is
/// allocated already stays.
pub fn set_host_bytes(most: u64) {
    MOST.store(most, Ordering::Relaxed);
}

/// The most bytes of host memory, if there is a limit.
pub(crate) fn host_bytes() -> Option<u64> {
    Some(MOST.load(Ordering::Relaxed)).filter(|most| *most > 0)
}

/// The most bytes of one operand that a step should need, where memory is limited: some sixty are in memory at a time.
/// They are no less than are worth a launch.
pub(crate) fn step_bytes() -> Option<usize> {
    let part = usize::try_from(host_bytes()? / 64).unwrap_or(usize::MAX);
    Some(part.clamp(128 << 10, 16 << 20))
}

/// The bytes of buffers that stay where they are.
pub(crate) fn owned() -> u64 {
    OWNED.load(Ordering::Relaxed)
}

/// Counts a buffer; whether it counts.
pub(super) fn count(len: usize) -> bool {
    let counts = len >= COUNTED_FROM && host_bytes().is_some();
    if counts {
        OWNED.fetch_add(len as u64, Ordering::Relaxed);
    }
    counts
}

/// Counts a buffer no longer that was counted.
pub(super) fn uncount(len: usize) {
    OWNED.fetch_sub(len as u64, Ordering::Relaxed);
}
