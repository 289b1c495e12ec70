//! Drivers on several threads: one driver alternately, and several at once.
//!
//! Owns [`on_another`] and [`in_turns`].
//!
//! Not here: the core's own locks.

use crate::drivers::device::Device;
use crate::reporting::outcome::{Outcome, Stop, fail, guarded};
use std::sync::{Mutex, PoisonError};
use std::thread::scope;

/// Threads of a case.
pub const THREADS: usize = 4;

/// Does something on another thread.
pub fn on_another<T: Send>(what: impl FnOnce() -> Outcome<T> + Send) -> Outcome<T> {
    scope(|scope| {
        let thread = scope.spawn(|| guarded(what));
        thread.join().unwrap_or_else(|_| fail("the thread ended"))
    })
}

/// Does something on several threads at once, each with its number.
pub fn on_several(what: impl Fn(usize) -> Outcome + Sync) -> Outcome {
    let outcomes: Vec<Outcome> = scope(|scope| {
        let what = &what;
        let threads: Vec<_> =
            (0..THREADS).map(|k| scope.spawn(move || guarded(|| what(k)))).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, Outcome>| {
            thread.join().unwrap_or_else(|_| fail("a thread ended"))
        };
        threads.into_iter().map(join).collect()
    });
    outcomes.into_iter().find(|outcome| matches!(outcome, Err(Stop::Fail(_)))).unwrap_or(Ok(()))
}

/// Does something on several threads that share a driver, call by call of `step`.
pub fn in_turns<S>(
    device: &mut Device,
    steps: usize,
    start: impl Fn(usize) -> S + Sync,
    step: impl Fn(&mut Device, &mut S, usize) -> Outcome + Sync,
) -> Outcome {
    let shared = Mutex::new(device);
    on_several(|thread| {
        let mut state = start(thread);
        (0..steps).try_for_each(|k| {
            // A step that panicked has reported it on its own thread.
            let mut device = shared.lock().unwrap_or_else(PoisonError::into_inner);
            step(&mut device, &mut state, k)
        })
    })
}
