//! EGL's displays, which all contexts of a process share.
//!
//! Owns [`DisplayLease`], a context's share in them. Invariants: displays stay open when the last context is closed;
//! they are terminated before the process forks, unless there are contexts, and their termination also ends the
//! threads of the OpenGL implementation; a process that was forked from one with contexts opens none. Such a fork has
//! the implementation's memory without the threads that it waits for, so opening a display would never return.
//! Without contexts it can be opened.
//!
//! Not here: opening a display (`egl.rs`).

use crate::errors::NAME;
use glutin::api::egl::display::Display;
use glutin::display::AsRawDisplay;
use gpupy_core::{Error, ErrorKind, Result};
use std::sync::{Mutex, MutexGuard, PoisonError};

struct Users {
    /// The process that has the contexts.
    process: u32,
    contexts: usize,
    displays: Vec<Display>,
    /// Whether `before_fork` is called before each fork.
    warned: bool,
}

static USERS: Mutex<Users> =
    Mutex::new(Users { process: 0, contexts: 0, displays: Vec::new(), warned: false });

fn users() -> MutexGuard<'static, Users> {
    USERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One context's share in the displays; dropped after the context.
pub struct DisplayLease(());

impl DisplayLease {
    /// Takes a share, before a display is opened.
    ///
    /// # Errors
    /// - `Unavailable`: this process was forked from one that has contexts.
    pub fn take() -> Result<DisplayLease> {
        let mut users = users();
        let here = std::process::id();
        if users.contexts > 0 && users.process != here {
            return Err(Error::new(ErrorKind::Unavailable, "init")
                .says("no OpenGL context can be opened")
                .with("driver", NAME)
                .with(
                    "reason",
                    "this process was forked from one that uses OpenGL, whose threads stayed \
                     there; processes that are spawned can use it",
                ));
        }
        users.warned = users.warned || is_warned();
        users.process = here;
        users.contexts += 1;
        Ok(DisplayLease(()))
    }

    /// Registers a display that was opened.
    pub fn opened(&self, display: &Display) {
        let mut users = users();
        let raw = display.raw_display();
        if users.displays.iter().all(|known| known.raw_display() != raw) {
            users.displays.push(display.clone());
        }
    }
}

impl Drop for DisplayLease {
    fn drop(&mut self) {
        let mut users = users();
        if users.process != std::process::id() {
            return;
        }
        users.contexts -= 1;
        if !users.warned {
            users.terminate();
        }
    }
}

impl Users {
    /// Terminates the displays of this process, unless there are contexts.
    fn terminate(&mut self) {
        if self.contexts > 0 || self.process != std::process::id() {
            return;
        }
        for display in self.displays.drain(..) {
            // SAFETY: no context of this driver is left. Another library's context on the same device is
            // closed as well, as it is when that library terminates the display: EGL does not count
            // the users of a display.
            unsafe { display.terminate() };
        }
    }
}

/// Asks the system to call `before_fork`; true where it will, and where there are no forks.
#[cfg(unix)]
fn is_warned() -> bool {
    // SAFETY: the function is static and does not unwind: it only waits for a lock of its own
    // process. This crate is never unloaded, because Rust threads have run in it.
    unsafe { libc::pthread_atfork(Some(before_fork), None, None) == 0 }
}

#[cfg(not(unix))]
fn is_warned() -> bool {
    true
}

#[cfg(unix)]
extern "C" fn before_fork() {
    users().terminate();
}
