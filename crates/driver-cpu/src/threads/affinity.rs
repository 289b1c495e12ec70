//! CPU affinity of parked workers: the processor on which a sleeping thread wakes up.
//!
//! Owns [`ParkedWorker`]. Linux prefers to wake a thread on the processor of the thread that wakes it, unless
//! it knows that another processor is idle. In virtual machines it does not know: to the guest, a virtual
//! processor that the host has put to sleep looks like one that was taken away. The calling thread computes its
//! share of the work, so a worker on its processor would begin when the work is done. Therefore each worker is
//! woken on a processor of its own, and may move as soon as it runs.
//!
//! Invariant: a running thread may run on every processor of the process. Not here: when threads sleep
//! (`thread_pool.rs`).

#[cfg(target_os = "linux")]
mod system {
    use rustix::thread::{CpuSet, Pid, gettid, sched_getaffinity, sched_getcpu, sched_setaffinity};

    /// A worker that sleeps or is about to.
    pub struct ParkedWorker {
        thread: Pid,
        /// Its number in the pool; the caller has number 0.
        number: usize,
        /// The processors on which the thread may run.
        allowed: CpuSet,
        /// The processors of `allowed`, in ascending order.
        processors: Vec<usize>,
    }

    impl ParkedWorker {
        /// The calling thread, whose number is not 0; `None` where the system does not report its affinity.
        pub fn new(number: usize) -> Option<ParkedWorker> {
            let allowed = sched_getaffinity(None).ok()?;
            let processors = (0..CpuSet::MAX_CPU).filter(|cpu| allowed.is_set(*cpu)).collect();
            Some(ParkedWorker { thread: gettid(), number, allowed, processors })
        }

        /// Makes the sleeping thread wake up on the processor that follows the caller's by its number, so that
        /// the choice is stable while the caller stays. With fewer processors than threads, the system chooses.
        pub fn pin(&self) {
            if let Some(processor) = after(&self.processors, sched_getcpu(), self.number - 1) {
                let mut only = CpuSet::new();
                only.set(processor);
                // Where the system refuses, it chooses the processor itself.
                let _ = sched_setaffinity(Some(self.thread), &only);
            }
        }

        /// Restores the full affinity mask of the calling thread, which is this worker.
        pub fn unpin(&self) {
            let _ = sched_setaffinity(None, &self.allowed);
        }
    }

    /// The `turn`-th other processor after `here`, cyclically.
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
            // The caller's processor need not be among those of the workers.
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
    /// A worker: other systems choose well where to wake it.
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
