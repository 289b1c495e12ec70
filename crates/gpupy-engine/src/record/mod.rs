//! Recording: operations on arrays become expressions.
//!
//! The [`Recorder`](recorder::Recorder) makes the value of a call, the simplest with the same bits (`rewrite/`);
//! `reduced.rs` makes steps of reductions, `extreme.rs` positions of extremes, `whole.rs` scans, sorts and products,
//! `join.rs` concatenations, `function.rs` functions of scalars, `parted.rs` assignments to what is pending. The
//! steps of little work are computed instead ([`Compute`](recorder::Compute)). What was recorded of arguments can be
//! recorded again of others ([`Recorded`](recorded::Recorded)): what goes over whole axes then stands as what it is
//! (`deferred.rs`), until extents are known (`lowered.rs`).
//!
//! Imports `memory`, `graph`, `array` and `rewrite`. Not here: gathers and scatters (`indexing/`), evaluation.

mod argument;
mod deferred;
pub(crate) mod extreme;
mod function;
mod join;
mod lowered;
mod parted;
pub(crate) mod recorded;
pub(crate) mod recorder;
mod reduced;
mod whole;
