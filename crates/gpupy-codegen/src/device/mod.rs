//! What a device can do, and what drivers of GPUs answer alike.
//!
//! [`probe`] finds out what a device gets wrong; [`exact`] has programs for operations that some devices round
//! wrongly; [`Abilities`](abilities::Abilities) are the operations that are left; [`contract`] has sizes, limits and
//! checks.
//!
//! Imports `spell`, `wide`, `kernels` and `errors.rs`. Not here: resources of programs (`compute/resources.rs`, the
//! drivers).

pub mod abilities;
pub mod contract;
pub mod exact;
pub mod probe;
