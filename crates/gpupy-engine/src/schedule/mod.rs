//! The schedule: from a wanted value to the kernels that compute it.
//!
//! A [`FlushAnalysis`](flush::FlushAnalysis) describes the pending values below the wanted ones, and
//! [`Decided`](decided::Decided) the decisions about them before anything else: `fusion.rs` says which are stored. A
//! [`Schedule`](ordering::Schedule) has the steps in their order. A [`TileStep`](steps::TileStep) computes a tile, by
//! [`Commands`](commands::Commands). [`Strips`](strip_mining::Strips) are steps whose kernels read the same rows.
//!
//! A [`FusionWalk`](walk::FusionWalk) is the expression that a step needs, from the value down to computed ones;
//! `cost.rs` has the prices. An [`OperationLowering`](operation_lowering::OperationLowering) is how an
//! [`OpenDevice`](engine_device::OpenDevice) does an operation (`lowering.rs`). A [`Partition`](partition::Partition)
//! cuts a walk into pieces that fit the device; each becomes a kernel (`program/`), which goes to a
//! [`Destination`](destination::Destination).
//!
//! `horizontal_fusion.rs` finds values that one kernel gives almost for free,
//! [`ReductionGroups`](reduction_groups::ReductionGroups) reductions of the same points,
//! [`Rematerialisation`](rematerialisation::Rematerialisation) values to store instead of recomputing,
//! [`ValuePlacement`](placement::ValuePlacement) the device of each value, a [`Rotation`](halo::Rotation) values that
//! are read in a halo, [`TakenOperand`](in_place::TakenOperand) the operand whose block a result reuses.
//!
//! Imports `memory`, `graph`, `explain` and `blocks`. Nothing here launches or stores anything. Not here: launches,
//! transfers and writes (`execute/`).

pub(crate) mod commands;
pub(crate) mod cost;
pub(crate) mod decided;
pub(crate) mod destination;
pub(crate) mod engine_device;
pub(crate) mod flush;
pub(crate) mod fusion;
pub(crate) mod halo;
pub(crate) mod horizontal_fusion;
pub(crate) mod in_place;
pub(crate) mod lowering;
mod need;
mod once;
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
