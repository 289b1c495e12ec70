//! The compiled flush: what an evaluation does, as plain data, before any of it is done.
//!
//! A [`CompiledFlush`](compiled_flush::CompiledFlush) is a list of [`Command`](command::Command)s over buffers:
//! kernels, copies, steps in host memory, frees. One executor runs it, whether it was compiled just now or for an
//! earlier flush of equal structure; explanations, segments and strips are read off it. The
//! [`FlushRecorder`](flush_recorder::FlushRecorder) numbers what the steps of a schedule do,
//! [`Lifetimes`](lifetimes::Lifetimes) say what dies when, and a flush is recognised by its key (`flush_key.rs`)
//! in the one cache of plans ([`FlushCache`](flush_cache::FlushCache)).
//! Invariant: a flush whose key is known needs no schedule; nothing is walked over, cut or decided again.
//!
//! Imports `pending_graph.rs`, `flush.rs`, `engine_device.rs`, `commands`, `walk` and `program`
//! of the schedule. Not here: running a compiled flush (`execute/run_commands.rs`).

pub(crate) mod command;
pub(crate) mod compilation;
pub(crate) mod compiled_flush;
pub(crate) mod flush_cache;
pub(crate) mod flush_key;
pub(crate) mod flush_recorder;
pub(crate) mod launch_sequence;
pub(crate) mod lifetimes;
mod parameters;
mod taking;
