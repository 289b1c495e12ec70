//! The session: the context that all arrays of this process share, and waiting for it.
//!
//! `context.rs` has the one [`Context`](gpupy_engine::Context) and the choice of its driver; every wait passes the fork
//! barrier of `waiting.rs`; `errors.rs` maps the core's errors to Python's exceptions; `first_array.rs` tells the
//! package of the next array; `forks.rs` has the hooks for forks and for the end of the process; `one_step.rs` makes
//! changes between which no signal's handler runs; `python_objects.rs` has the package's functions in Python that this
//! crate calls.
//!
//! Imports nothing else of this crate. Not here: arrays (`array`).

pub mod context;
pub mod errors;
pub mod first_array;
pub mod forks;
pub mod one_step;
pub mod python_objects;
pub mod waiting;
