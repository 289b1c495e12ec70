//! Counts of what evaluation did, and of what is on the devices.
//!
//! Owns [`Stats`]. Tests assert on counts, never on times.
//!
//! Not here: fallbacks to NumPy, which the Python module counts with the user's line.

use super::not_kept::NotKeptCounts;
use std::ops::AddAssign;

/// Running counts of a context since it was made or they were reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Kernels compiled because no compiled one fitted.
    pub kernels_compiled: u64,
    /// Kernels compiled again with scalars as literals.
    pub kernels_specialised: u64,
    /// Launches (draws, dispatches) on any driver.
    pub launches: u64,
    /// Calls of a driver that did several launches, or one that it may know from before.
    pub sequences: u64,
    /// Computing instructions in the programs launched; not multiplied by elements.
    pub instructions: u64,
    /// Nodes of the walks that were made to find steps: the work of planning.
    pub nodes_walked: u64,
    /// Walks that were launched by the plan of an earlier one.
    pub plans_replayed: u64,
    /// Flushes that replayed an earlier one.
    pub flushes_replayed: u64,
    /// Flushes that are planned again when their structure comes again, by the reason.
    pub flushes_not_kept: NotKeptCounts,
    /// Launches, and writes by index arrays, done in place, in the memory of an operand without other uses.
    pub in_place: u64,
    /// Bytes from host to device.
    pub bytes_uploaded: u64,
    /// Ranges of blocks that a device had already which were written anew, because the host had written there.
    pub extents_uploaded: u64,
    /// Bytes of host memory that a device reads where they lie.
    pub bytes_imported: u64,
    /// Bytes from device to host.
    pub bytes_downloaded: u64,
    /// Bytes that were read from outside: from files, and by readers.
    pub bytes_read: u64,
    /// Bytes that were written to the disk, as host memory is limited.
    pub bytes_spilled: u64,
    /// Blocks taken from the device to make room.
    pub evictions: u64,
    /// Operand blocks found on the device.
    pub cache_hits: u64,
    /// Operand blocks that had to be uploaded or gathered.
    pub cache_misses: u64,
    /// Blocks of values evaluated because they were needed.
    pub blocks_evaluated: u64,
    /// Operations that were computed while they were recorded, as they were small.
    pub computed_at_once: u64,
    /// Values evaluated because so many operations had been recorded.
    pub automatic_flushes: u64,
    /// Blocks evaluated by another driver than the one that was to, and failed.
    pub driver_fallbacks: u64,
    /// Blocks that came from a pool instead of from the driver.
    pub pool_hits: u64,
    /// Times that values were cut smaller because a device had no room for one launch.
    pub smaller_cuts: u64,
    /// Blocks that hold something, on all devices; not reset, like the four below.
    pub blocks: u64,
    /// The bytes of these blocks.
    pub block_bytes: u64,
    /// Free blocks that are kept for the next ones of their kind.
    pub pool_blocks: u64,
    /// The bytes of these blocks.
    pub pool_bytes: u64,
    /// Recorded operations that an array, or another operation, still needs.
    pub values: u64,
    /// Exports of arrays' memory that are alive.
    pub pins: u64,
}

impl AddAssign for Stats {
    fn add_assign(&mut self, other: Stats) {
        self.kernels_compiled += other.kernels_compiled;
        self.kernels_specialised += other.kernels_specialised;
        self.launches += other.launches;
        self.sequences += other.sequences;
        self.instructions += other.instructions;
        self.nodes_walked += other.nodes_walked;
        self.plans_replayed += other.plans_replayed;
        self.flushes_replayed += other.flushes_replayed;
        self.flushes_not_kept += other.flushes_not_kept;
        self.in_place += other.in_place;
        self.bytes_uploaded += other.bytes_uploaded;
        self.extents_uploaded += other.extents_uploaded;
        self.bytes_imported += other.bytes_imported;
        self.bytes_downloaded += other.bytes_downloaded;
        self.bytes_read += other.bytes_read;
        self.bytes_spilled += other.bytes_spilled;
        self.evictions += other.evictions;
        self.cache_hits += other.cache_hits;
        self.cache_misses += other.cache_misses;
        self.blocks_evaluated += other.blocks_evaluated;
        self.computed_at_once += other.computed_at_once;
        self.automatic_flushes += other.automatic_flushes;
        self.driver_fallbacks += other.driver_fallbacks;
        self.pool_hits += other.pool_hits;
        self.smaller_cuts += other.smaller_cuts;
        self.blocks += other.blocks;
        self.block_bytes += other.block_bytes;
        self.pool_blocks += other.pool_blocks;
        self.pool_bytes += other.pool_bytes;
        self.values += other.values;
        self.pins += other.pins;
    }
}
