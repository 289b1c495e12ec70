//! The number of threads: the one that a driver was opened with, until the process sets another.
//!
//! Owns [`threads`] and [`set_threads`]. Invariant: a number that is set holds for every driver of this crate
//! in the process from its next launch on, including drivers that are open already.
//!
//! Not here: the threads (`thread_pool.rs`), whether work is worth several (`executor.rs`).

use std::sync::atomic::{AtomicUsize, Ordering};

/// The number that the process has set; 0 for none.
static SET: AtomicUsize = AtomicUsize::new(0);

/// The number of threads of a driver whose configuration asks for `wanted`; 0 asks for as many as the process
/// may use at once, by its affinity and its share of the machine.
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

/// The number that a configuration asks for, whatever the process has set.
pub fn asked(wanted: u32) -> usize {
    match wanted {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        wanted => wanted as usize,
    }
}

/// The current number of threads of a driver that was opened with `opened`.
pub fn now(opened: usize) -> usize {
    match SET.load(Ordering::Relaxed) {
        0 => opened,
        set => set,
    }
}
