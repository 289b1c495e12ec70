//! Places: the processor on which a thread that slept goes on.
//!
//! Owns [`ParkedWorker`]. Linux prefers to wake a thread on the processor of whoever wakes it unless it knows
//! that another one is idle, and in virtual machines it does not: to the guest, a virtual processor
//! that its host has put to sleep looks as if it were taken away. The caller works along, so a thread
//! on its processor would begin when the work is done. So each thread is woken on a processor of its
//! own, and may go elsewhere again as soon as it runs.
//!
//! Invariant: a thread that runs may run wherever the process may. Not here: when threads sleep
//! (`thread_pool.rs`).

#[cfg(target_os = "linux")]
mod system {
    use rustix::thread::{CpuSet, Pid, gettid, sched_getaffinity, sched_getcpu, sched_setaffinity};

    /// Where one thread sleeps.
    pub struct ParkedWorker {
        thread: Pid,
        /// Among the threads of its pool, of which the caller is number 0.
        number: usize,
        /// Where the thread may run.
        allowed: CpuSet,
        /// The same, rising.
        processors: Vec<usize>,
    }

    impl ParkedWorker {
        /// The calling thread's, which has this number, not 0; nothing where the system does not say where it
        /// may run.
        pub fn new(number: usize) -> Option<ParkedWorker> {
            let allowed = sched_getaffinity(None).ok()?;
            let processors = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).collect();
            Some(ParkedWorker { thread: gettid(), number, allowed, processors })
        }

        /// Lets the thread, which sleeps, wake up so many processors after the caller's as is its number: the
        /// same one each time, as far as the caller stays. Where there are fewer, the system chooses.
        pub fn pin(&self) {
            if let Some(processor) = after(&self.processors, sched_getcpu(), self.number - 1) {
                let mut only = CpuSet::new();
                only.set(processor);
                // Where the system refuses, the thread wakes up where the system likes.
                let _ = sched_setaffinity(Some(self.thread), &only);
            }
        }

        /// Lets the calling thread, whose bed it is, run anywhere again.
        pub fn unpin(&self) {
            let _ = sched_setaffinity(None, &self.allowed);
        }
    }

    /// The `turn`-th processor after this one, going round, but for itself.
    fn after(processors: &[usize], here: usize, turn: usize) -> Option<usize> {
        let next = processors.partition_point(|processor| *processor <= here);
        let mut others = processors[next..].iter().chain(&processors[..next]);
        others.nth(turn).copied().filter(|processor| *processor != here)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn threads_wake_up_on_processors_of_their_own_that_they_may_use() {
            let given = |here| [0, 1, 2, 3].map(|turn| after(&[1, 4, 6], here, turn));
            assert_eq!(given(4), [Some(6), Some(1), None, None]);
            assert_eq!(given(6), [Some(1), Some(4), None, None]);
            // The caller may run where the threads may not.
            assert_eq!(given(9), [Some(1), Some(4), Some(6), None]);
            assert_eq!(after(&[3], 3, 0), None);
        }

        #[test]
        fn a_thread_that_has_left_its_bed_may_run_where_it_might_before() {
            std::thread::spawn(|| {
                let before = sched_getaffinity(None).unwrap();
                let worker = ParkedWorker::new(1).unwrap();
                worker.pin();
                worker.unpin();
                assert!(sched_getaffinity(None).unwrap() == before);
            })
            .join()
            .unwrap();
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    /// Where one thread sleeps: the system knows where to wake it.
    pub struct ParkedWorker;

    impl ParkedWorker {
        pub fn new(_number: usize) -> Option<ParkedWorker> {
            None
        }

        pub fn pin(&self) {}

        pub fn unpin(&self) {}
    }
}

pub use system::ParkedWorker;
