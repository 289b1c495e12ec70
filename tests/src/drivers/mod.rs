//! The drivers of a case.
//!
//! A [`Device`](device::Device) is an open driver with its blocks; `launch.rs` compares its results, and
//! `launch_memory.rs` its results on host memory. Other drivers wrap the one under test: one that logs every
//! call (`logging_driver.rs`), one that lacks operations (`lacking_driver.rs`), one that monitors the core
//! (`contract_monitor.rs`).
//!
//! Imports `reporting` and `expect`. Not here: the cases (`cases`).

pub mod contract_monitor;
pub mod device;
pub mod lacking_driver;
pub mod launch;
pub mod launch_memory;
pub mod logging_driver;
