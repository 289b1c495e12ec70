//! Waiting for the core: without the GIL, and with an eye on signals and forks.
//!
//! Owns [`wait`], through which every wait passes, and the gate that it passes. Invariants: a thread
//! that waits for the engine does not hold the GIL; no Python code runs while its thread is inside;
//! while the gate is shut nobody is inside, so no lock of the core is held by a thread that a fork
//! would leave behind. The gate itself has no lock, for the same reason.
//!
//! Not here: what happens around a fork and at the exit (`processes.rs`).

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How many threads are inside; `SHUT` is added while nobody may enter.
static GATE: AtomicUsize = AtomicUsize::new(0);
const SHUT: usize = 1 << (usize::BITS - 1);

/// How often those look who wait at the gate; forks are rare.
const LOOK: Duration = Duration::from_micros(200);

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    /// Whether this thread has shut the gate: other hooks of a fork may still want an array.
    static KEEPER: Cell<bool> = const { Cell::new(false) };
    /// What such a function raised.
    static NOT_READ: Cell<Option<PyErr>> = const { Cell::new(None) };
    /// What a signal's handler raised while this thread waited.
    static RAISED: Cell<Option<PyErr>> = const { Cell::new(None) };
}

/// Does work of the core's that may take long, or needs the engine, without the GIL.
#[expect(clippy::disallowed_methods, reason = "this is the gate")]
pub fn wait<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    py.detach(|| {
        let _inside = Inside::enter();
        work()
    })
}

/// A thread inside the gate. One that is inside already, as it reads elements, goes in and out as it likes: whoever shuts
/// the gate waits for it.
struct Inside {
    is_first: bool,
}

impl Inside {
    fn enter() -> Inside {
        if INSIDE.get() {
            return Inside { is_first: false };
        }
        let one_more = |inside: usize| (inside & SHUT == 0 || KEEPER.get()).then_some(inside + 1);
        while GATE.fetch_update(Ordering::Acquire, Ordering::Relaxed, one_more).is_err() {
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
            GATE.fetch_sub(1, Ordering::Release);
        }
    }
}

/// Shuts the gate for all other threads, and waits until none of them is inside. False, with the gate as it
/// was, when that takes longer than `patience`; without patience it takes as long as it takes.
pub fn shut(patience: Option<Duration>) -> bool {
    let alone = SHUT + usize::from(INSIDE.get());
    let began = Instant::now();
    let late = || patience.is_some_and(|patience| began.elapsed() > patience);
    // One at a time.
    while GATE.fetch_or(SHUT, Ordering::Acquire) & SHUT != 0 {
        if late() {
            return false;
        }
        std::thread::sleep(LOOK);
    }
    while GATE.load(Ordering::Acquire) != alone {
        if late() {
            open();
            return false;
        }
        std::thread::sleep(LOOK);
    }
    KEEPER.set(true);
    true
}

/// Opens the gate that this thread has shut.
pub fn open() {
    KEEPER.set(false);
    GATE.fetch_and(!SHUT, Ordering::Release);
}

/// Waits for what is evaluated while recording.
pub fn without_gil(work: &mut dyn FnMut()) {
    /// What crosses to the detached section: it runs on this very thread.
    struct Here<'a>(&'a mut dyn FnMut());
    // SAFETY: `detach` calls its closure on the thread that calls `detach`, before it returns; what
    // it needs to be `Send` for, not to touch Python, holds for the core, which knows no Python.
    unsafe impl Send for Here<'_> {}
    impl Here<'_> {
        fn run(&mut self) {
            (self.0)();
        }
    }
    let mut here = Here(work);
    match Python::try_attach(|py| wait(py, || here.run())) {
        Some(()) => {}
        // The interpreter is shutting down, or was never there: nobody waits for its lock.
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
        // Whoever went in goes out.
        std::mem::forget(Inside::enter());
    }
    done
}

/// Calls a function of the program's that reads elements for the thread that waits: it stays inside, and holds the engine.
/// Whether it raised nothing; `None` where Python is shutting down.
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

/// What a function raised that was to read elements.
pub fn not_read() -> Option<PyErr> {
    NOT_READ.take()
}

/// Runs the handlers of signals that have come; true when one of them raised an exception. The core
/// asks this when it pauses.
pub fn interrupted() -> bool {
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

/// What a handler raised that interrupted this thread's wait.
pub fn raised() -> PyErr {
    RAISED.take().unwrap_or_else(|| PyKeyboardInterrupt::new_err(()))
}
