//! Benchmarks: `bench.rs` is the command, `peers.rs` times gpupy beside others, `accelerator.rs` the programs of an
//! article; `tune.rs` times both sides of thresholds.
//!
//! Imports `machine`, `develop.rs` and `demo.rs`.

pub mod accelerator;
pub mod bench;
pub mod peers;
pub mod tune;
