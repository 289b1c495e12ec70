//! Benchmarks: `bench.rs` is the command, `peers.rs` times gpupy beside others.
//!
//! Imports `machine`, `develop.rs` and `demo.rs`.

pub mod bench;
pub mod peers;
