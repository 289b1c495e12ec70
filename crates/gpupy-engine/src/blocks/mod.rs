//! Blocks: pieces of values on one device.
//!
//! [`BlockCache`](cache::BlockCache) is the cache of an open driver: a block is named by its value and its
//! [`BlockPart`](cache::BlockPart), a tile or a gathered view. When the device is full, the block is evicted whose
//! [`ReuseInterval`](reuse_interval::ReuseInterval) says that it is needed last (`cache/eviction.rs`). The
//! [`BlockPool`](block_pool::BlockPool) keeps free blocks. `imported_blocks.rs` says which blocks are read where they
//! lie in host memory; [`Residents`](streams::Residents) are the parts of external values that are in memory.
//!
//! Imports `memory`, `graph` and `explain`. Not here: what is computed into blocks (`schedule/`, `execute/`).

pub(crate) mod block_pool;
pub(crate) mod cache;
pub(crate) mod imported_blocks;
pub(crate) mod reuse_interval;
pub(crate) mod streams;
