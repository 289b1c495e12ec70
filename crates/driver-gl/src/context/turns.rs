//! Whose turn it is among the contexts of rasterisers that run on the CPU.
//!
//! Owns [`Turn`]. Invariants: in one process, one thread at a time makes calls into a context of such a rasteriser, or
//! opens or closes any context; contexts of hardware wait for nobody else once they are open. A turn needs
//! a [`DisplayLease`]: a process that is forked from one with contexts is refused its lease, so it never waits for a
//! thread that it does not have.
//!
//! The reason is a race in Mesa's llvmpipe (22.3.6; sources of 2025 read the same). The contexts of a process share
//! one screen. Every transfer and every new sampler view asks all of them whether their scenes use the texture
//! (`llvmpipe_flush_resource`), under a mutex that the threads which build and free these scenes do not take. So a
//! thread reads lists while another one writes them: with `MALLOC_PERTURB_` set, 120 lines of C whose four threads
//! upload, draw and read end with SIGSEGV, each time; with such turns, never. ThreadSanitizer, in a Mesa built with it,
//! finds 40 places without turns, and with them one object: a fence that is freed while the thread that has signalled
//! it still holds its mutex. That happens with one context as well, and turns do not prevent it; none was seen in
//! 600,000 scenes, unless the signal was slowed down. The scenes of all contexts are rasterised one after another, on
//! all cores, so that turns take little from their speed.
//!
//! Not here: contexts that a renderer of the program's own uses on its own thread, which knows no turns.

use crate::context::display::DisplayLease;
use std::sync::{Mutex, MutexGuard, PoisonError};

static TURNS: Mutex<()> = Mutex::new(());

/// The right to call into contexts of rasterisers on the CPU, until it is dropped.
pub struct Turn<'a> {
    _lease: &'a DisplayLease,
    _guard: MutexGuard<'static, ()>,
}

impl Turn<'_> {
    /// Waits for the turn of this thread, which has none yet.
    pub fn wait(lease: &DisplayLease) -> Turn<'_> {
        Turn { _lease: lease, _guard: TURNS.lock().unwrap_or_else(PoisonError::into_inner) }
    }
}
