//! Recording: operations on arrays become expressions.
//!
//! The [`Recorder`](recorder::Recorder) makes the value of a call, the simplest with the same bits (`rewrite/`).
//! `reduction_recording.rs` makes steps of reductions, `argmin_recording.rs` positions of extremes,
//! `library_recording.rs` scans, sorts and products, `join_recording.rs` concatenations, `function_recording.rs`
//! functions of scalars, `parted.rs` assignments to pending values, `parts/` parts of pending values. The steps of
//! little work are computed instead ([`Compute`](recorder::Compute)). Expressions of arguments are kept as a list, and
//! recorded again of other arrays ([`Recorded`](recorded::Recorded)). Operations over whole axes stay one expression in
//! it (`deferred_recording.rs`), until extents are known (`known_extents.rs`).
//!
//! Imports `memory`, `graph` and `array`. Not here: gathers and scatters (`context/indexing/`), evaluation.

pub(crate) mod argmin_recording;
mod argument;
mod deferred_recording;
mod function_recording;
mod join_recording;
mod known_extents;
pub(crate) mod library_recording;
mod parted;
mod parts;
pub(crate) mod recorded;
pub(crate) mod recorder;
mod reduction_recording;
pub(crate) mod rewrite;
