//! Exports: memory of arrays that others use while the arrays live.
//!
//! A [`Pin`](pin::Pin) is an export of host memory to another library. Operations on pinned bases run on *leases*
//! (`leases.rs`). A [`LentBlock`](lent_block::LentBlock) is a block that a renderer draws.
//!
//! Imports `context/mod.rs` and `read/mod.rs` of the contexts. Not here: the state of a pinned base
//! (`memory/cow_buffer.rs`).

pub(crate) mod leases;
pub(crate) mod lent_block;
pub(crate) mod pin;
