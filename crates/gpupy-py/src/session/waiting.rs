//! Waiting for the core: without the GIL, with an eye on signals, and behind the fork barrier.
//!
//! Owns [`wait`], through which every wait passes, and the fork barrier that it passes. Invariants: a thread that
//! waits for the engine does not hold the GIL; no Python code runs while its thread is inside; while the barrier is
//! closed no thread is inside, so no lock of the core is held by a thread that a fork would leave behind. The
//! barrier itself has no lock, for the same reason.
//!
//! Not here: the work around a fork and at exit (`forks.rs`).

use crate::session::one_step;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How many threads are inside; `CLOSED` is added while none may enter.
static BARRIER: AtomicUsize = AtomicUsize::new(0);
const CLOSED: usize = 1 << (usize::BITS - 1);

/// How often a thread that waits at the barrier polls it; forks are rare.
const LOOK: Duration = Duration::from_micros(200);

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    /// Whether this thread has closed the barrier: other hooks of a fork may still need an array.
    static BARRIER_OWNER: Cell<bool> = const { Cell::new(false) };
    /// The exception that such a function raised.
    static NOT_READ: Cell<Option<PyErr>> = const { Cell::new(None) };
    /// The exception that a signal's handler raised while this thread waited.
    static RAISED: Cell<Option<PyErr>> = const { Cell::new(None) };
}

/// Does work of the core's that may take long, or needs the engine, without the GIL.
#[expect(clippy::disallowed_methods, reason = "this is the barrier")]
pub fn wait<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    py.detach(|| {
        let _inside = Inside::enter();
        work()
    })
}

/// A thread inside the barrier. A thread that is inside already, because it reads elements, enters and leaves freely:
/// closing the barrier waits for it.
struct Inside {
    is_first: bool,
}

impl Inside {
    fn enter() -> Inside {
        if INSIDE.get() {
            return Inside { is_first: false };
        }
        let one_more =
            |inside: usize| (inside & CLOSED == 0 || BARRIER_OWNER.get()).then_some(inside + 1);
        while BARRIER.fetch_update(Ordering::Acquire, Ordering::Relaxed, one_more).is_err() {
            std::thread::sleep(LOOK);
        }
        INSIDE.set(true);
        Inside { is_first: true }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        if self.is_first {
            INSIDE.set(false);
            BARRIER.fetch_sub(1, Ordering::Release);
        }
    }
}

/// Closes the barrier to all other threads, and waits until none is inside. Returns false, with the barrier as it
/// was, when that takes longer than `patience`; without patience it waits without limit.
pub fn close_barrier(patience: Option<Duration>) -> bool {
    let alone = CLOSED + usize::from(INSIDE.get());
    let began = Instant::now();
    let late = || patience.is_some_and(|patience| began.elapsed() > patience);
    // One thread closes it at a time.
    while BARRIER.fetch_or(CLOSED, Ordering::Acquire) & CLOSED != 0 {
        if late() {
            return false;
        }
        std::thread::sleep(LOOK);
    }
    while BARRIER.load(Ordering::Acquire) != alone {
        if late() {
            open_barrier();
            return false;
        }
        std::thread::sleep(LOOK);
    }
    BARRIER_OWNER.set(true);
    true
}

/// Opens the barrier that this thread has closed.
pub fn open_barrier() {
    BARRIER_OWNER.set(false);
    BARRIER.fetch_and(!CLOSED, Ordering::Release);
}

/// Waits for work of the engine that recording started.
pub fn without_gil(work: &mut dyn FnMut()) {
    /// Work that crosses to the detached section: it runs on this very thread.
    struct SameThread<'a>(&'a mut dyn FnMut());
    // SAFETY: `detach` calls its closure on the thread that calls `detach`, before it returns. It asks for `Send` to
    // keep Python objects out; the core has none.
    unsafe impl Send for SameThread<'_> {}
    impl SameThread<'_> {
        fn run(&mut self) {
            (self.0)();
        }
    }
    let mut here = SameThread(work);
    match Python::try_attach(|py| wait(py, || here.run())) {
        Some(()) => {}
        // The interpreter is shutting down, or was never there: no thread waits for its lock.
        None => here.run(),
    }
}

/// Does something with Python's lock in a thread that may be inside; `None` where Python is shutting down.
pub fn outside<T>(work: impl FnOnce(Python<'_>) -> T) -> Option<T> {
    let inside = INSIDE.get();
    if inside {
        drop(Inside { is_first: true });
    }
    let done = Python::try_attach(work);
    if inside {
        // The guard of the caller's `wait` leaves.
        std::mem::forget(Inside::enter());
    }
    done
}

/// Calls a function of the program that reads elements for the thread that waits, which stays inside and holds the
/// engine. Returns whether it raised nothing; `None` where Python is shutting down.
pub fn reading(call: impl FnOnce(Python<'_>) -> PyResult<()>) -> Option<bool> {
    NOT_READ.set(None);
    Python::try_attach(|py| match call(py) {
        Ok(()) => true,
        Err(error) => {
            NOT_READ.set(Some(error));
            false
        }
    })
}

/// The exception that a reading function raised.
pub fn not_read() -> Option<PyErr> {
    NOT_READ.take()
}

/// Runs the handlers of signals that have come; true when one of them raised an exception. The core
/// asks this when it pauses.
pub fn interrupted() -> bool {
    if one_step::is_on() {
        return false;
    }
    // Handlers are the user's code: they may evaluate, fork, or wait for another thread.
    let raised = outside(|py| match py.check_signals() {
        Ok(()) => false,
        Err(error) => {
            RAISED.set(Some(error));
            true
        }
    });
    raised.unwrap_or(false)
}

/// The exception by which a signal's handler interrupted this thread's wait.
pub fn raised() -> PyErr {
    RAISED.take().unwrap_or_else(|| PyKeyboardInterrupt::new_err(()))
}
