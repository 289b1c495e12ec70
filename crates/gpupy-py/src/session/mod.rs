//! The session: the context that all arrays of this process share, and waiting for it.
//!
//! `context.rs` has the one [`Context`](gpupy_engine::Context) and the choice of its driver; every wait passes the gate
//! of `waiting.rs`; `errors.rs` maps the core's errors to Python's exceptions; `forks.rs` is about forks and the end.
//!
//! Imports nothing else of this crate. Not here: arrays (`array`).

pub mod context;
pub mod errors;
pub mod forks;
pub mod waiting;
