//! Blocks: pieces of values on one device.
//!
//! [`BlockCache`](cache::BlockCache) is the cache of an open driver: a block is named by its value and its
//! [`BlockPart`](cache::BlockPart), a tile or a gathered view. When the device is full, the block goes whose
//! [`ReuseInterval`](rhythm::ReuseInterval) says that it is wanted last (`cache/evict.rs`); the
//! [`BlockPool`](pool::BlockPool) keeps free ones; `import.rs` says which are read where they lie in host memory,
//! [`Residents`](streams::Residents) which parts of what lies outside are there.
//!
//! Imports `memory`, `graph` and `explain`. Not here: what is computed into blocks (`schedule/`, `execute/`).

pub(crate) mod cache;
pub(crate) mod import;
pub(crate) mod pool;
pub(crate) mod rhythm;
pub(crate) mod streams;
