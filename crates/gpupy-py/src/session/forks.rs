//! Forks and the end of the process.
//!
//! Owns the functions that `os.register_at_fork` calls, and the one that Python calls at its very end. Devices do
//! not survive a fork: their threads stay behind, and the state of their libraries is wrong in the child. So
//! devices are closed before a fork, and parent and child open them again when they need them. Invariants: no array
//! loses its elements by a fork; at a fork no lock of the core is held.
//!
//! Not here: how other threads are kept out meanwhile (`waiting.rs`), closing (`gpupy_engine::Context`).

use crate::session::context;
use crate::session::waiting;
use pyo3::prelude::*;
use std::ffi::c_int;
use std::time::Duration;

/// How long the end of the process waits for threads that evaluate. They pause far more often, but
/// for one that compiles a large program, which crashes when its libraries are taken down.
const PATIENCE: Duration = Duration::from_secs(30);

/// Keeps all threads out of the core, and closes the devices.
#[expect(clippy::disallowed_methods, reason = "no other thread passes the barrier now")]
#[pyfunction]
pub fn before_fork(py: Python<'_>) {
    py.detach(|| {
        waiting::close_barrier(None);
        context::close();
    });
}

/// Lets threads in again, in the parent and in the child, which has only this one.
#[pyfunction]
pub fn after_fork() {
    waiting::open_barrier();
}

/// Closes the devices at the end of the process, after all Python code: libraries take their own
/// data down then, which the threads of an open device might still use.
extern "C" fn at_exit() {
    if waiting::close_barrier(Some(PATIENCE)) {
        context::close();
    }
}

/// Asks Python to call `at_exit`.
pub fn register() {
    // SAFETY: `at_exit` is a static function that calls no Python and does not unwind.
    let refused: c_int = unsafe { pyo3::ffi::Py_AtExit(Some(at_exit)) };
    // Python has room for 32 such functions. Without ours the end is as it was, only less tidy.
    let _ = refused;
}
