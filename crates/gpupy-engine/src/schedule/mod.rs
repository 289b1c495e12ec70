//! The schedule: from a wanted value to the kernels that compute it.
//!
//! - `passes/` decides about the pending values below the wanted ones: which are stored, which go together, and the
//!   device of each.
//! - `steps/` has the steps in their order, each after the tiles that it needs; a
//!   [`TileStep`](steps::TileStep) computes a tile.
//! - `walk/` goes from the value of a step down to computed ones; a [`FusionWalk`](walk::FusionWalk) is the expression
//!   that it finds. `lowering/` has the programs of operations that the device lacks.
//! - `kernels/` cuts a walk into pieces that fit the device, and `program/` makes the program of each.
//! - `commands/` turns a step into commands; `compiled/` has those of a whole flush, as plain data, which an executor
//!   runs and which later flushes of equal structure run again.
//!
//! An [`OpenDevice`](engine_device::OpenDevice) is the device that all this is for, a
//! [`Destination`](destination::Destination) is where a kernel's result goes, and `cost.rs` has the prices.
//!
//! Imports `memory`, `graph`, `explain` and `blocks`. Nothing here launches or stores anything. Not here: launches,
//! transfers and writes (`execute/`).

pub(crate) mod commands;
pub(crate) mod compiled;
pub(crate) mod cost;
pub(crate) mod destination;
pub(crate) mod engine_device;
pub(crate) mod kernels;
pub(crate) mod lowering;
pub(crate) mod passes;
pub(crate) mod program;
pub(crate) mod steps;
pub(crate) mod walk;
