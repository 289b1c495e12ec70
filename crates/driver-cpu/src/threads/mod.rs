//! Threads: an executor that shares work between cores, with work stealing.
//!
//! A [`ThreadPool`](thread_pool::ThreadPool) has the worker threads; a [`ParkedWorker`](affinity::ParkedWorker)
//! sets the CPU affinity with which one wakes up; a [`ChunkScheduler`](chunk_scheduler::ChunkScheduler) hands
//! out items and lets idle threads steal; [`thread_count`] says how many threads there are; the
//! [`Executor`](executor::Executor) decides whether work is worth sharing, and shares it. Invariant: every item
//! runs once, and none after the caller has gone on.
//!
//! Imports nothing of this crate. Not here: what an item is (`run`, `library_ops`).

pub mod affinity;
pub mod chunk_scheduler;
pub mod executor;
pub mod thread_count;
pub mod thread_pool;
