//! The thread pool: workers that wait for work that several cores share.
//!
//! Owns [`ThreadPool`]. The calling thread takes part in the work, and waits only for workers that have begun.
//! A worker that is still waking up when all is done is not waited for, so sharing small work costs little more
//! than announcing it. (A task pool, such as rayon's, hands the work over and waits.) A waiting thread spins
//! for a while before it sleeps, because waking up takes longer than small work. Invariant: no thread touches
//! the work after `run` has returned. In a forked process, which does not inherit threads, the caller works
//! alone.
//!
//! Not here: which work is shared (`executor.rs`), how it is cut (`chunk_scheduler.rs`), where a thread wakes
//! up (`affinity.rs`).

use crate::threads::affinity::ParkedWorker;
use crate::thresholds::T;
use std::any::Any;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a thread spins, for work or for the end of the other threads' work, before it sleeps: the time
/// between two launches of a program that does little else.
const LOOKING: Duration = Duration::from_micros(50);

/// Threads that wait for work.
pub struct ThreadPool {
    /// The number of threads that was asked for, the caller included.
    count: usize,
    shared: Arc<PoolShared>,
    threads: Vec<JoinHandle<()>>,
    process: u32,
}

struct PoolShared {
    state: Mutex<PoolState>,
    /// A copy of the state's `times`, readable without the lock.
    times: CachePadded<AtomicU64>,
    /// A copy of the state's `inside`, readable without the lock.
    inside: CachePadded<AtomicUsize>,
    /// There is work, or the pool closes.
    begin: Condvar,
    /// The last thread in the work has left it.
    done: Condvar,
}

/// A value that other threads poll, in a cache line of its own, so that polling does not take a line from a
/// thread that writes a neighbour.
#[repr(align(64))]
struct CachePadded<T>(T);

struct PoolState {
    work: Option<PoolTask>,
    /// The number of times that there was work.
    times: u64,
    /// Threads in the work.
    inside: usize,
    /// Threads that sleep.
    sleeping: usize,
    /// The caller sleeps until no thread is inside.
    waits: bool,
    /// The threads that sleep.
    parked: Vec<Arc<ParkedWorker>>,
    /// The panic of a worker.
    thrown: Option<Box<dyn Any + Send>>,
    closing: bool,
}

/// The shared work: a closure of the caller of `run`.
#[derive(Clone, Copy)]
struct PoolTask(*const (dyn Fn(usize) + Sync));

// SAFETY: the closure is `Sync`, and `run` keeps it alive as long as a thread may call it.
unsafe impl Send for PoolTask {}

impl ThreadPool {
    /// A pool in which `count` threads work together, the caller among them.
    pub fn new(count: usize) -> ThreadPool {
        let state = PoolState {
            work: None,
            times: 0,
            inside: 0,
            sleeping: 0,
            waits: false,
            parked: Vec::new(),
            thrown: None,
            closing: false,
        };
        let shared = Arc::new(PoolShared {
            state: Mutex::new(state),
            times: CachePadded(AtomicU64::new(0)),
            inside: CachePadded(AtomicUsize::new(0)),
            begin: Condvar::new(),
            done: Condvar::new(),
        });
        let start = |number| {
            let shared = shared.clone();
            let builder = std::thread::Builder::new().name("gpupy-cpu".to_string());
            // With fewer threads the work only takes longer.
            builder.spawn(move || shared.serve(number)).ok()
        };
        let threads = (1..count).filter_map(start).collect();
        ThreadPool { count, shared, threads, process: std::process::id() }
    }

    /// The number of threads it was made for.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The number of times that there was work.
    pub fn worked(&self) -> u64 {
        self.shared.times.0.load(Ordering::Relaxed)
    }

    /// Calls the closure on this thread and, at the same time, on as many workers as wake up in time, with the
    /// number of the thread (0 for the caller). A panic on any of them is resumed here.
    pub fn run(&self, work: &(dyn Fn(usize) + Sync)) {
        /// Ends the work, also when the closure panics.
        struct End<'a>(&'a PoolShared);
        impl Drop for End<'_> {
            fn drop(&mut self) {
                self.0.state().work = None;
                look(|| self.0.inside.0.load(Ordering::Relaxed) == 0);
                let mut state = self.0.state();
                while state.inside > 0 {
                    state.waits = true;
                    state = self.0.done.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                state.waits = false;
            }
        }
        if self.threads.is_empty() || self.process != std::process::id() {
            return work(0);
        }
        // SAFETY: only the lifetime changes, and `End` waits for all threads that may call it.
        let work_for_all: &'static (dyn Fn(usize) + Sync) = unsafe { mem::transmute(work) };
        let mut state = self.shared.state();
        state.work = Some(PoolTask(work_for_all));
        state.times += 1;
        self.shared.times.0.store(state.times, Ordering::Relaxed);
        for worker in state.parked.drain(..) {
            worker.pin();
        }
        let sleeping = state.sleeping > 0;
        drop(state);
        let end = End(&self.shared);
        // Waking no thread is still a system call.
        if sleeping {
            self.shared.begin.notify_all();
        }
        work(0);
        drop(end);
        if let Some(thrown) = self.shared.state().thrown.take() {
            resume_unwind(thrown);
        }
    }
}

impl Drop for ThreadPool {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            return;
        }
        self.shared.state().closing = true;
        self.shared.begin.notify_all();
        for thread in self.threads.drain(..) {
            // Workers catch panics of their work.
            let _ = thread.join();
        }
    }
}

impl PoolShared {
    fn state(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The loop of a worker.
    fn serve(&self, number: usize) {
        let mut seen = 0;
        let worker = ParkedWorker::new(number).map(Arc::new);
        let mut was_parked = false;
        let mut state = self.state();
        while !state.closing {
            if state.times == seen {
                was_parked = true;
                state = self.sleep(state, worker.as_ref());
                continue;
            }
            seen = state.times;
            let work = state.work;
            state.inside += usize::from(work.is_some());
            self.inside.0.store(state.inside, Ordering::Relaxed);
            drop(state);
            if let (Some(worker), true) = (&worker, mem::take(&mut was_parked)) {
                worker.unpin();
            }
            if let Some(work) = work {
                self.take_part(work, number);
            }
            // A worker that came too late for this work may be in time for the next.
            look(|| self.times.0.load(Ordering::Relaxed) != seen);
            state = self.state();
        }
    }

    /// Runs the work on a worker, which is counted as inside meanwhile.
    fn take_part(&self, work: PoolTask, number: usize) {
        // SAFETY: `run` waits until this thread is no longer inside.
        let work = unsafe { &*work.0 };
        let ended = catch_unwind(AssertUnwindSafe(|| work(number)));
        let mut state = self.state();
        state.thrown = ended.err().or(state.thrown.take());
        state.inside -= 1;
        let wake = state.inside == 0 && state.waits;
        self.inside.0.store(state.inside, Ordering::Relaxed);
        // The caller, which sees the new value, will take the lock.
        drop(state);
        if wake {
            self.done.notify_all();
        }
    }

    /// Waits until there may be work.
    fn sleep<'a>(
        &self,
        mut state: MutexGuard<'a, PoolState>,
        worker: Option<&Arc<ParkedWorker>>,
    ) -> MutexGuard<'a, PoolState> {
        state.parked.extend(worker.cloned());
        state.sleeping += 1;
        let mut state = self.begin.wait(state).unwrap_or_else(PoisonError::into_inner);
        state.sleeping -= 1;
        if let Some(worker) = worker {
            state.parked.retain(|other| !Arc::ptr_eq(other, worker));
        }
        state
    }
}

/// Polls a condition for a while, until it holds or the time is over.
fn look(seen: impl Fn() -> bool) {
    let begun = Instant::now();
    while !(0..T.polls_before_yield).any(|_| seen_or_pause(&seen)) && begun.elapsed() < LOOKING {
        // With few cores, the awaited thread may need this one.
        std::thread::yield_now();
    }
}

/// Whether the condition holds; pauses the core where it does not.
fn seen_or_pause(seen: &impl Fn() -> bool) -> bool {
    let seen = seen();
    if !seen {
        std::hint::spin_loop();
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_work_is_done_once_and_nobody_is_inside_afterwards() {
        let pool = ThreadPool::new(4);
        for items in [1, 10, 1000] {
            let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
            for _ in 0..200 {
                next.store(0, Ordering::Relaxed);
                done.store(0, Ordering::Relaxed);
                pool.run(&|_| {
                    while next.fetch_add(1, Ordering::Relaxed) < items {
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                });
                assert_eq!(done.load(Ordering::Relaxed), items);
                assert_eq!(pool.shared.state().inside, 0);
            }
        }
    }

    #[test]
    fn other_threads_take_part() {
        let pool = ThreadPool::new(2);
        let inside = AtomicUsize::new(0);
        // Ends only when two are inside at once.
        pool.run(&|_| {
            inside.fetch_add(1, Ordering::Relaxed);
            while inside.load(Ordering::Relaxed) < 2 {
                std::thread::yield_now();
            }
        });
        assert_eq!(inside.load(Ordering::Relaxed), 2);
    }
}
