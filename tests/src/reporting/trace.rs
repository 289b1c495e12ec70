//! What a case tells of itself while it runs, where someone asked for it.
//!
//! Owns [`trace`]. It prints at once, so that what was told stays to be read when a driver takes the
//! process down; and it holds for the process, since a case may use several threads.
//!
//! Not here: the calls of a driver (`logging_driver.rs`).

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

static TELLING: AtomicBool = AtomicBool::new(false);

/// From here on everything is told, or nothing.
pub fn set(telling: bool) {
    TELLING.store(telling, Ordering::Relaxed);
}

/// Prints a line, where someone asked for it.
pub fn trace(line: impl FnOnce() -> String) {
    if TELLING.load(Ordering::Relaxed) {
        // Where nobody reads any more, nothing is told.
        let _ = writeln!(std::io::stdout(), "{}", line());
    }
}
