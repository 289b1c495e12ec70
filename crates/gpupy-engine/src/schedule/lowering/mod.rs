//! Lowering: how a device does an operation that it lacks itself.
//!
//! An [`OperationLowering`](operation_lowering::OperationLowering) is the program of such an operation;
//! `find_lowering.rs` finds it, and expands it to values where it does not fit into one kernel.
//!
//! Imports `engine_device.rs` of the schedule. Not here: the programs (`functions/` of `gpupy-core`, or a driver's).

pub(crate) mod find_lowering;
pub(crate) mod operation_lowering;
