//! Kernels that have been compiled: in this run, and by earlier ones.
//!
//! [`KernelCache`](kernel_cache::KernelCache) are those of this run; a [`DiskCache`](disk_cache::DiskCache) keeps what drivers want to find again.
//!
//! Imports nothing of this crate. Not here: compiling (drivers).

pub mod disk_cache;
pub mod kernel_cache;
