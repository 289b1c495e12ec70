//! EGL's displays, which all contexts of a process share.
//!
//! Owns [`DisplayLease`], a context's part in them. Invariants: displays stay when the last context is
//! closed, and are terminated before the process forks, unless there are contexts, which ends the
//! threads of the OpenGL implementation; a process forked from one that has contexts opens none. The
//! fork has the implementation's memory without the threads that it waits for, so opening a display
//! would never return; where there were none, it can.
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
    /// `before_fork` is called before each fork, as far as there are any.
    warned: bool,
}

static USERS: Mutex<Users> =
    Mutex::new(Users { process: 0, contexts: 0, displays: Vec::new(), warned: false });

fn users() -> MutexGuard<'static, Users> {
    USERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One context's part in the displays; dropped after the context.
pub struct DisplayLease(());

impl DisplayLease {
    /// Takes part, before a display is opened.
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

    /// Notes a display that was opened.
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
            // SAFETY: no context of ours is left. Another library's on the same device would be
            // closed as well, but so it is when that one terminates: EGL's displays have no count
            // of their users.
            unsafe { display.terminate() };
        }
    }
}

/// Asks the system to call `before_fork`; true where it does, and where there are no forks.
#[cfg(unix)]
fn is_warned() -> bool {
    // SAFETY: the function is a static one, and does not unwind: a lock of its own process is all
    // that it waits for. This crate is never unloaded, as Rust's threads have run in it.
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
