//! Drivers, as a case uses them.
//!
//! A [`Device`](device::Device) is an open driver with its blocks; `launch.rs` compares what it gives, and `launch_memory.rs` what it
//! gives on host memory. Other drivers stand
//! before the one under test: one that tells every call (`logging_driver.rs`), one that lacks operations (`lacking_driver.rs`), one that
//! watches the engine (`contract_monitor.rs`).
//!
//! Imports `tell` and `expect`. Not here: the cases (`cases`).

pub mod contract_monitor;
pub mod device;
pub mod lacking_driver;
pub mod launch;
pub mod launch_memory;
pub mod logging_driver;
