//! How many threads evaluate: as many as a driver was opened with, until the process sets another number.
//!
//! Owns [`threads`] and [`set_threads`]. Invariant: a number that is set holds for every driver of this crate in the
//! process from its next launch on, whether it is open already or not.
//!
//! Not here: the threads (`thread_pool.rs`), whether work is worth several (`executor.rs`).

use std::sync::atomic::{AtomicUsize, Ordering};

/// What the process has set; 0 where it has not.
static SET: AtomicUsize = AtomicUsize::new(0);

/// How many threads a driver evaluates on where its configuration asks for `wanted`: where that is 0, as many as
/// the process may use at once, by its affinity and its share of the machine.
pub fn threads(wanted: u32) -> usize {
    match SET.load(Ordering::Relaxed) {
        0 => asked(wanted),
        set => set,
    }
}

/// Sets the number of threads for all drivers of this crate in the process; with 0 each has its own again.
pub fn set_threads(count: usize) {
    SET.store(count, Ordering::Relaxed);
}

/// What a configuration asks for, whatever is set.
pub fn asked(wanted: u32) -> usize {
    match wanted {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        wanted => wanted as usize,
    }
}

/// How many threads evaluate now in a driver that was opened with so many.
pub fn now(opened: usize) -> usize {
    match SET.load(Ordering::Relaxed) {
        0 => opened,
        set => set,
    }
}
