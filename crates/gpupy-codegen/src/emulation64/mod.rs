//! 64-bit elements on devices that lack them.
//!
//! [`SplitProgram`](split_program::SplitProgram) are programs over the halves of elements, for devices that compute with 64 bits;
//! [`word_pairs`] computes with two words where no 64-bit integers are; [`SplitStorage`](split_storage::SplitStorage) are the blocks in halves.
//!
//! Imports `call_errors.rs`. Not here: which devices lack them (`device`).

pub mod split_program;
pub mod split_storage;
pub mod word_pairs;
