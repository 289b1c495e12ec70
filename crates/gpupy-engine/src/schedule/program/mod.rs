//! Programs: what a driver is given, and what is kept of it.
//!
//! A [`Kernel`](kernel::Kernel) is the program of a piece of a walk with the numbers of its launch; `emit.rs` builds
//! it. [`PlanCache`](plans::PlanCache) are kernels of walks that come again. [`EagerPrograms`](programs::EagerPrograms)
//! are those of single operations, which `single.rs` makes.
//!
//! Imports `walk/mod.rs`, `ways.rs`, `destination.rs` and `device.rs` of the schedule. Not here: which nodes form a
//! piece (`partition.rs`), the launch (`execute/launch.rs`).

pub(crate) mod emit;
pub(crate) mod kernel;
pub(crate) mod plans;
pub(crate) mod programs;
pub(crate) mod single;
