//! Kernels of a walk: the pieces that it is cut into, and what each of them reads, writes and releases.
//!
//! A [`Partition`](partition::Partition) cuts a walk into pieces that fit the device: `need.rs` has the needs of a
//! piece, [`OpenNodes`](open_nodes::OpenNodes) bound those of all to come, `frontier.rs` cuts across several chains.
//! [`WalkKernels`](walk_kernels::WalkKernels) are the launches of all pieces, in their order. `horizontal_fusion.rs`
//! finds values that one kernel gives almost for free, `in_place.rs` the operand whose block a result reuses,
//! `release.rs` the tiles that a piece read last. Invariant: nothing here is launched or stored.
//!
//! Imports `walk`, `program`, `lowering`, `destination.rs` and `engine_device.rs` of the schedule. Not here: the
//! program of a piece (`program/`), launches (`commands/`).

mod frontier;
pub(crate) mod horizontal_fusion;
pub(crate) mod in_place;
mod need;
mod open_nodes;
pub(crate) mod partition;
pub(crate) mod release;
mod room;
pub(crate) mod walk_kernels;
