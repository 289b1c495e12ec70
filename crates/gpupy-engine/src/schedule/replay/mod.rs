//! Replays (graph capture): a flush of the structure of an earlier one repeats its launches.
//!
//! A program that iterates wants the same of other values again and again. A flush is recognised by its structure
//! (`flush_structure.rs`); its actions are captured (`capture.rs`), and kept as a [`Recipe`](recipe::Recipe) if all
//! goes as planned. Invariant: a recipe depends on the structure alone, so nothing is walked over, cut or decided
//! again.
//!
//! Imports `structure_cache.rs`, `pending_graph.rs`, `flush.rs`, `engine_device.rs`, `walk` and `program` of the
//! schedule. Not here: performing a recipe (`execute/replay.rs`).

pub(crate) mod capture;
pub(crate) mod flush_structure;
pub(crate) mod recipe;
