//! The memory budget of blocks, where the configuration does not set one.
//!
//! Owns [`available`]. wgpu does not report the memory of a device, but refuses allocations beyond most of it;
//! only a device that is the CPU needs a limit here.
//!
//! Not here: the account itself (`blocks.rs`).

/// Bytes for all blocks: half of the machine's memory for a device that is the CPU.
pub fn available(hardware: bool) -> u64 {
    let machine = if hardware { None } else { machine() };
    machine.map_or(u64::MAX, |bytes| bytes / 2)
}

/// The machine's memory, if the system reports it.
fn machine() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}
