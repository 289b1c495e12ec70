//! What a device can do, and what drivers of GPUs answer alike.
//!
//! [`probe`] finds out what a device gets wrong; [`exact`] has programs for operations that some devices round
//! wrongly; [`OperationSupport`](operation_support::OperationSupport) are the operations that are left; [`driver_answers`] has sizes, limits and
//! checks.
//!
//! Imports `emit`, `emulation64`, `kernels` and `call_errors.rs`. Not here: resources of programs (`compute/resources.rs`, the
//! drivers).

pub mod driver_answers;
pub mod exact;
pub mod operation_support;
pub mod probe;
