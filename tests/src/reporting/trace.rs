//! The trace of a case while it runs, if it was requested.
//!
//! Owns [`trace`]. It prints at once, so that the output survives a driver that takes the process down. It is
//! global to the process, because a case may use several threads.
//!
//! Not here: the calls of a driver (`logging_driver.rs`).

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

static TELLING: AtomicBool = AtomicBool::new(false);

/// Switches the trace on or off.
pub fn set(telling: bool) {
    TELLING.store(telling, Ordering::Relaxed);
}

/// Prints a line, if the trace is on.
pub fn trace(line: impl FnOnce() -> String) {
    if TELLING.load(Ordering::Relaxed) {
        // A closed output is ignored.
        let _ = writeln!(std::io::stdout(), "{}", line());
    }
}
