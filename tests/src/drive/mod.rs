//! Drivers, as a case uses them.
//!
//! A [`Device`](device::Device) is an open driver with its blocks; `launch.rs` compares what it gives, and `brought.rs` what it
//! gives on host memory. Other drivers stand
//! before the one under test: one that tells every call (`narrate.rs`), one that lacks operations (`lacking.rs`), one that
//! watches the engine (`watch.rs`).
//!
//! Imports `tell` and `expect`. Not here: the cases (`cases`).

pub mod brought;
pub mod device;
pub mod lacking;
pub mod launch;
pub mod narrate;
pub mod watch;
