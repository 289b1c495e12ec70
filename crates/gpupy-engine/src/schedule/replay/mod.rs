//! Replays: a flush that looks like an earlier one is done as that was.
//!
//! A program that iterates wants the same of other values again and again. By its structure (`flush_structure.rs`) a
//! flush is known; what is done for it is captured (`capture.rs`), and kept as a [`Recipe`](recipe::Recipe) if all goes
//! as planned. Invariant: what a recipe says is all that it depends on, so nothing is walked over, cut or decided
//! again.
//!
//! Imports `structure_cache.rs`, `pending_graph.rs`, `flush.rs`, `open_device.rs`, `walk` and `program` of the
//! schedule. Not here: doing what a recipe says (`execute/replay.rs`).

pub(crate) mod capture;
pub(crate) mod flush_structure;
pub(crate) mod recipe;
