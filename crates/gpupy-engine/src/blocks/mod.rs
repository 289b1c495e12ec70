//! Blocks: pieces of values on one device.
//!
//! [`Blocks`](cache::Blocks) is the cache of an open driver: a block is named by its value and its
//! [`Part`](cache::Part), a tile or a gathered view. When the device is full, the block goes whose
//! [`Rhythm`](rhythm::Rhythm) says that it is wanted last (`cache/evict.rs`); the [`Pool`](pool::Pool) keeps free ones;
//! `import.rs` says which are read where they lie in host memory, [`Residents`](streams::Residents) which parts of what
//! lies outside are there.
//!
//! Imports `memory`, `graph` and `explain`. Not here: what is computed into blocks (`schedule/`, `execute/`).

pub(crate) mod cache;
pub(crate) mod import;
pub(crate) mod pool;
pub(crate) mod rhythm;
pub(crate) mod streams;
