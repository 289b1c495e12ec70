//! Caches of compiled kernels.
//!
//! A [`KernelCache`](kernel_cache::KernelCache) has the kernels of this process. A
//! [`DiskCache`](disk_cache::DiskCache) keeps kernels and findings for later processes.
//!
//! Imports nothing of this crate. Not here: compiling (drivers).

pub mod disk_cache;
pub mod kernel_cache;
