//! Benchmarks: `bench.rs` is the command, `peers.rs` times gpupy beside others, `accelerator.rs` the programs of an article.
//!
//! Imports `machine`, `develop.rs` and `demo.rs`.

pub mod accelerator;
pub mod bench;
pub mod peers;
