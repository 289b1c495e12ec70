//! The executor: runs the items of a launch on one thread, or on several where that pays.
//!
//! Owns [`Executor`]. The pool starts with the first work that is shared. Invariant: bits do not depend on the number
//! of threads.
//!
//! Not here: the threads (`thread_pool.rs`), their number (`thread_count.rs`), which items a thread takes
//! (`chunk_scheduler.rs`).

use crate::threads::chunk_scheduler::ChunkScheduler;
use crate::threads::thread_pool::ThreadPool;
use crate::thresholds::T;
use gpupy_core::Result;
use std::ops::Range;
use std::sync::OnceLock;

/// The threads of an evaluator, borrowed for one launch.
pub struct Executor<'a> {
    pub threads: usize,
    /// Started when there is work to share, and again when the number of threads has changed.
    pub pool: &'a mut Option<ThreadPool>,
}

impl Executor<'_> {
    /// Runs all items, which take `time` nanoseconds together, on several threads where that pays.
    ///
    /// # Errors
    /// The first error of `run`; other items may not have run then.
    pub fn share(
        &mut self,
        items: usize,
        time: u64,
        run: &(dyn Fn(Range<usize>) -> Result<()> + Sync),
    ) -> Result<()> {
        if self.threads == 1 || items <= 1 || time < T.shared_work {
            return run(0..items);
        }
        let least = (items as u128 * u128::from(T.least_work) / u128::from(time)) as usize;
        // The threads of the old pool end before others start.
        self.pool.take_if(|pool| pool.count() != self.threads);
        let pool = self.pool.get_or_insert_with(|| ThreadPool::new(self.threads));
        let scheduler = ChunkScheduler::new(items, self.threads, least, pool.worked() % 2 == 1);
        let failed = OnceLock::new();
        pool.run(&|number| {
            while let Some(items) = scheduler.take(number) {
                if let Err(error) = run(items) {
                    // Only the first error is reported.
                    let _ = failed.set(error);
                    break;
                }
            }
        });
        failed.into_inner().map_or(Ok(()), Err)
    }
}
