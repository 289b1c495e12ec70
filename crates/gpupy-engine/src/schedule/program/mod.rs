//! Programs for drivers, and the caches of them.
//!
//! A [`Kernel`](kernel::Kernel) is the program of a piece of a walk with the numbers of its launch; `emit.rs` builds
//! it. [`EagerPrograms`](eager_programs::EagerPrograms) are those of single operations, which `single_operation.rs`
//! makes; [`Refusals`](refusals::Refusals) are the programs that a driver did not take.
//!
//! Imports `walk/mod.rs`, `operation_lowering.rs`, `destination.rs` and `engine_device.rs` of the schedule. Not here:
//! which nodes form a piece (`partition.rs`), the launch (`execute/launch.rs`).

pub(crate) mod eager_programs;
pub(crate) mod emit;
pub(crate) mod kernel;
mod number_emitter;
pub(crate) mod refusals;
pub(crate) mod single_operation;
