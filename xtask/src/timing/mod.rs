//! Benchmarks: `bench.rs` is the command, `peers.rs` times gpupy beside others, `accelerator.rs` the programs of an
//! article; `tune.rs` times both sides of thresholds, and the test in `threshold_count.rs` counts them.
//!
//! Imports `machine`, `develop.rs` and `demo.rs`.

pub mod accelerator;
pub mod bench;
pub mod peers;
#[cfg(test)]
mod threshold_count;
pub mod tune;
