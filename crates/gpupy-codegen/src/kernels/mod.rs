//! Kernels that have been compiled: in this run, and by earlier ones.
//!
//! [`Kernels`](cache::Kernels) are those of this run; a [`Shelf`](disk::Shelf) keeps what drivers want to find again.
//!
//! Imports nothing of this crate. Not here: compiling (drivers).

pub mod cache;
pub mod disk;
