//! The chunk scheduler: which items a thread takes next, with work stealing.
//!
//! Owns [`ChunkScheduler`]. Every thread owns a range of the items, the same range in every work of that many
//! items. It takes chunks from the front, and in every other work from the end: consecutive works then find in
//! the processor's cache the items that the one before touched last. A thread with an empty range steals from the far
//! ends of other ranges, so late workers delay nothing. Chunks become smaller towards the end, so that all
//! threads finish at about the same time. Invariant: every item is taken once.
//!
//! Not here: the threads (`thread_pool.rs`), what an item is (`launch_items.rs`).

use crate::thresholds::T;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// The items that are not taken yet.
pub struct ChunkScheduler {
    /// The range of each thread.
    left: SmallVec<[WorkRange; 4]>,
    /// The fewest items of a chunk, except for the rest of a range.
    least: usize,
    /// Threads begin at the ends of their ranges.
    backwards: bool,
}

/// A thread's range, in a cache line of its own.
#[repr(align(64))]
struct WorkRange(Mutex<Range<usize>>);

impl ChunkScheduler {
    /// All items, for `threads` threads, in chunks of at least `least` items.
    pub fn new(items: usize, threads: usize, least: usize, backwards: bool) -> ChunkScheduler {
        let start = |thread: usize| (thread as u128 * items as u128 / threads as u128) as usize;
        let own = |thread: usize| WorkRange(Mutex::new(start(thread)..start(thread + 1)));
        ChunkScheduler { left: (0..threads).map(own).collect(), least: least.max(1), backwards }
    }

    /// The next chunk for a thread: of its own range, or stolen from another, the range before its own first;
    /// `None` when all items are taken.
    pub fn take(&self, thread: usize) -> Option<Range<usize>> {
        let mut others = (0..thread).rev().chain((thread + 1..self.left.len()).rev());
        self.take_from(thread, !self.backwards)
            .or_else(|| others.find_map(|other| self.take_from(other, self.backwards)))
    }

    fn take_from(&self, thread: usize, front: bool) -> Option<Range<usize>> {
        let mut left = self.left[thread].0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = (left.len() / T.chunk_part).max(self.least).min(left.len());
        let (start, end) = (left.start, left.end);
        let taken = if front { start..start + count } else { end - count..end };
        *left = if front { taken.end..end } else { start..taken.start };
        (count > 0).then_some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_taken_once_whoever_takes_them() {
        for (items, threads, least) in [(1, 2, 1), (7, 3, 0), (100, 1, 3), (1000, 4, 20), (5, 8, 9)]
        {
            let scheduler = ChunkScheduler::new(items, threads, least, items.is_multiple_of(2));
            let mut times = vec![0; items];
            let mut thread = 0;
            while let Some(taken) = scheduler.take(thread % threads) {
                assert!(!taken.is_empty());
                times[taken].iter_mut().for_each(|times| *times += 1);
                thread += 1;
            }
            assert!(times.iter().all(|times| *times == 1), "{items} {threads} {least}");
        }
    }

    #[test]
    fn threads_have_the_same_items_again_and_others_take_from_the_far_end() {
        for _ in 0..2 {
            let scheduler = ChunkScheduler::new(64, 2, 1, false);
            assert_eq!(scheduler.take(1), Some(32..36));
            let mut own = 0..0;
            while own.end < 32 {
                own = scheduler.take(0).unwrap();
            }
            assert_eq!(scheduler.take(0), Some(61..64));
            assert_eq!(scheduler.take(1), Some(36..39));
            let scheduler = ChunkScheduler::new(64, 2, 1, true);
            assert_eq!(scheduler.take(1), Some(60..64));
            assert_eq!(scheduler.take(0), Some(28..32));
        }
    }
}
