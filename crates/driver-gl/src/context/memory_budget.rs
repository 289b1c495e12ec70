//! The memory budget of blocks, where the configuration does not set one.
//!
//! Owns [`available`]. Not here: the account itself (`blocks.rs`).

use crate::context::egl::Limits;

/// Bytes for all blocks: three quarters of the device's memory if it reports it, and half of the machine's
/// memory for a device that is the CPU.
pub fn available(limits: &Limits) -> u64 {
    match limits.memory {
        Some(bytes) => bytes / 4 * 3,
        None if !limits.hardware => machine().map_or(u64::MAX, |bytes| bytes / 2),
        None => u64::MAX,
    }
}

/// The machine's memory, if the system reports it.
fn machine() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
