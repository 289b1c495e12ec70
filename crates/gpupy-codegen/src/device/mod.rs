//! What a device can do, and the answers that GPU drivers share.
//!
//! [`probe`] finds out which operations a device gets wrong. [`exact`] has programs for operations that some devices
//! round wrongly. [`OperationSupport`](operation_support::OperationSupport) decides which operations a driver does.
//! [`driver_answers`] has limits and checks. [`mesa_cache`] keeps Mesa from a full disk.
//!
//! Imports `emit`, `emulation64`, `kernels` and `call_errors.rs`. Not here: resources of programs
//! (`compute/resources.rs`, the drivers).

pub mod driver_answers;
pub mod exact;
pub mod mesa_cache;
pub mod operation_support;
pub mod probe;
