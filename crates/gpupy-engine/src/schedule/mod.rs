//! The schedule: from a value that is wanted to the kernels that compute it.
//!
//! A [`FlushAnalysis`](flush::FlushAnalysis) is what is pending below what is wanted, and what is
//! [`Decided`](decided::Decided) about it before anything else: `fusion.rs` says which of it is stored. A
//! [`Schedule`](ordering::Schedule) has the steps in their order: a [`TileStep`](steps::TileStep) computes a tile, by
//! [`Commands`](commands::Commands). [`Strips`](strip_mining::Strips) are steps whose kernels read the same rows. A
//! [`FusionWalk`](walk::FusionWalk) is what it needs, from the value down to what is computed; `cost.rs` has the
//! prices. A [`OperationLowering`](operation_lowering::OperationLowering) is how a
//! [`OpenDevice`](open_device::OpenDevice) does an operation (`lowering.rs`). A [`Partition`](partition::Partition)
//! cuts a walk into pieces that the device can take; each becomes a kernel (`program/`), which goes to a
//! [`Destination`](destination::Destination). `horizontal_fusion.rs` finds values that one kernel gives almost for
//! free, [`ReductionGroups`](reduction_groups::ReductionGroups) reductions of the same points,
//! [`Rematerialisation`](rematerialisation::Rematerialisation) those to store first,
//! [`ValuePlacement`](placement::ValuePlacement) the device of each value, a [`Rotation`](halo::Rotation) what is read
//! in a halo, [`TakenOperand`](in_place::TakenOperand) the operand whose block a result takes.
//!
//! Imports `memory`, `graph`, `explain` and `blocks`. Nothing here launches or stores anything. Not here: launches,
//! transfers and writes (`execute/`).

pub(crate) mod commands;
pub(crate) mod cost;
pub(crate) mod decided;
pub(crate) mod destination;
pub(crate) mod flush;
pub(crate) mod fusion;
pub(crate) mod halo;
pub(crate) mod horizontal_fusion;
pub(crate) mod in_place;
pub(crate) mod lowering;
mod need;
mod once;
pub(crate) mod open_device;
pub(crate) mod operation_lowering;
pub(crate) mod ordering;
mod others;
pub(crate) mod partition;
pub(crate) mod pending_graph;
pub(crate) mod placement;
pub(crate) mod program;
pub(crate) mod reduction_groups;
pub(crate) mod reduction_tile;
mod refusals;
mod release;
pub(crate) mod rematerialisation;
pub(crate) mod replay;
pub(crate) mod steps;
pub(crate) mod strip_mining;
pub(crate) mod structure_cache;
pub(crate) mod walk;
pub(crate) mod walk_kernels;
