//! Caches of compiled kernels.
//!
//! A [`KernelCache`](kernel_cache::KernelCache) has the kernels of this process. A
//! [`DiskCache`](disk_cache::DiskCache) keeps kernels and findings for later processes, in a
//! [`CacheFolder`](cache_folder::CacheFolder) of all drivers.
//!
//! Imports nothing of this crate. Not here: compiling (drivers).

pub mod cache_folder;
pub mod disk_cache;
pub mod kernel_cache;
