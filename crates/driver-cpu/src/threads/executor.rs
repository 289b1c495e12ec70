//! Crews: the threads of an evaluator, and whether work is worth waking them.
//!
//! Owns [`Executor`] and [`SHARED`]. The pool starts with the first work that is shared. Invariant: bits do not depend
//! on how many threads there are.
//!
//! Not here: the threads (`thread_pool.rs`), how many there are (`thread_count.rs`), which items a thread takes (`chunk_scheduler.rs`).

use crate::threads::chunk_scheduler::ChunkScheduler;
use crate::threads::thread_pool::ThreadPool;
use gpupy_core::Result;
use std::ops::Range;
use std::sync::OnceLock;

/// Nanoseconds of work that another thread is woken for.
pub const SHARED: u64 = 30_000;
/// Nanoseconds of work that a thread takes at a time, at least: taking it does not count then.
const LEAST: u64 = 2_000;

/// The threads of an evaluator, for one launch.
pub struct Executor<'a> {
    pub threads: usize,
    /// Started when there is something to share, and anew when the number has changed since.
    pub pool: &'a mut Option<ThreadPool>,
}

impl Executor<'_> {
    /// Runs all items of a work of so many nanoseconds, on several threads where that pays.
    ///
    /// # Errors
    /// The first of `run`; then other items may not have been run.
    pub fn share(
        &mut self,
        items: usize,
        time: u64,
        run: &(dyn Fn(Range<usize>) -> Result<()> + Sync),
    ) -> Result<()> {
        if self.threads == 1 || items <= 1 || time < SHARED {
            return run(0..items);
        }
        let least = (items as u128 * u128::from(LEAST) / u128::from(time)) as usize;
        // The old one's threads end before others begin.
        self.pool.take_if(|pool| pool.count() != self.threads);
        let pool = self.pool.get_or_insert_with(|| ThreadPool::new(self.threads));
        let scheduler = ChunkScheduler::new(items, self.threads, least, pool.worked() % 2 == 1);
        let failed = OnceLock::new();
        pool.run(&|number| {
            while let Some(items) = scheduler.take(number) {
                if let Err(error) = run(items) {
                    // The first one is told.
                    let _ = failed.set(error);
                    break;
                }
            }
        });
        failed.into_inner().map_or(Ok(()), Err)
    }
}
