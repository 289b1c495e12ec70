//! Blocks: pieces of values on one device.
//!
//! [`BlockCache`](cache::BlockCache) is the cache of an open driver: a block is named by its value and its
//! [`BlockPart`](cache::BlockPart), a tile or a gathered view. When the device is full, the block goes whose
//! [`ReuseInterval`](reuse_interval::ReuseInterval) says that it is wanted last (`cache/eviction.rs`); the
//! [`BlockPool`](block_pool::BlockPool) keeps free ones; `host_import.rs` says which are read where they lie in host
//! memory, [`Residents`](streams::Residents) which parts of what lies outside are there.
//!
//! Imports `memory`, `graph` and `explain`. Not here: what is computed into blocks (`schedule/`, `execute/`).

pub(crate) mod block_pool;
pub(crate) mod cache;
pub(crate) mod host_import;
pub(crate) mod reuse_interval;
pub(crate) mod streams;
