//! 64-bit emulation: 64-bit elements on devices that lack them.
//!
//! [`SplitStorage`](split_storage::SplitStorage) keeps a block of 64-bit elements as two blocks of 32-bit halves.
//! A [`SplitProgram`](split_program::SplitProgram) loads and stores halves, for devices that compute with 64 bits.
//! [`word_pairs`] computes 64-bit integers in pairs of 32-bit words, for devices that have none.
//!
//! Imports `call_errors.rs`. Not here: which devices need it (`device`).

pub mod split_program;
pub mod split_storage;
pub mod word_pairs;
