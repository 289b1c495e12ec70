//! Threads: work that several cores share.
//!
//! A [`ThreadPool`](thread_pool::ThreadPool) has threads that wait for work; a [`ParkedWorker`](affinity::ParkedWorker) says on which processor one of them
//! goes on; [`ChunkScheduler`](chunk_scheduler::ChunkScheduler) says which items it takes next; [`number`] says how many threads there are; the
//! [`Executor`](executor::Executor) of an evaluator decides whether work is worth sharing, and shares it. Invariant: every item is
//! run once, and none after the caller went on.
//!
//! Imports nothing of this crate. Not here: what an item is (`run`, `library_ops`).

pub mod affinity;
pub mod chunk_scheduler;
pub mod executor;
pub mod thread_count;
pub mod thread_pool;
