//! Threads: work that several cores share.
//!
//! Owns [`ThreadPool`]. Whoever calls works along, and waits only for threads that have begun: a thread
//! that is still waking up when everything is done is not waited for, so sharing small work costs
//! little more than saying so. (A pool of tasks, such as rayon's, hands the work over and waits.)
//! Whoever waits looks for a while before it sleeps, because waking up takes longer than small work.
//! Invariant: no thread touches the work after `run` has returned. In a process that was forked,
//! where threads do not come along, the caller works alone.
//!
//! Not here: which work is shared (`executor.rs`), how it is cut (`chunk_scheduler.rs`), where a thread wakes up (`affinity.rs`).

use crate::threads::affinity::ParkedWorker;
use std::any::Any;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a thread looks for work, or for the end of others' work, before it sleeps: the time
/// between two launches of a program that does little else.
const LOOKING: Duration = Duration::from_micros(50);
/// How often it looks until it lets others have the core, which takes longer.
const GLANCES: usize = 64;

/// Threads that wait for work.
pub struct ThreadPool {
    /// How many were asked for, the caller among them.
    count: usize,
    shared: Arc<PoolShared>,
    threads: Vec<JoinHandle<()>>,
    process: u32,
}

struct PoolShared {
    state: Mutex<PoolState>,
    /// The state's `times`, to be looked at without the lock.
    times: CachePadded<AtomicU64>,
    /// The state's `inside`, likewise.
    inside: CachePadded<AtomicUsize>,
    /// There is work, or the pool closes.
    begin: Condvar,
    /// The last thread in the work has left it.
    done: Condvar,
}

/// What others look at all the time, in a cache line of its own: each look at one takes it from whoever writes
/// there.
#[repr(align(64))]
struct CachePadded<T>(T);

struct PoolState {
    work: Option<PoolTask>,
    /// How often there was work.
    times: u64,
    /// Threads in the work.
    inside: usize,
    /// Threads that sleep.
    sleeping: usize,
    /// The caller sleeps until nobody is in the work.
    waits: bool,
    /// Of the threads that sleep.
    parked: Vec<Arc<ParkedWorker>>,
    /// What a thread's work threw.
    thrown: Option<Box<dyn Any + Send>>,
    closing: bool,
}

/// PoolTask that is shared: a closure of the caller of `run`.
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
            // With fewer threads it takes longer, and that is all.
            builder.spawn(move || shared.serve(number)).ok()
        };
        let threads = (1..count).filter_map(start).collect();
        ThreadPool { count, shared, threads, process: std::process::id() }
    }

    /// In how many threads it works, where the system gave as many.
    pub fn count(&self) -> usize {
        self.count
    }

    /// How often there was work.
    pub fn worked(&self) -> u64 {
        self.shared.times.0.load(Ordering::Relaxed)
    }

    /// Calls the closure here, and at the same time on as many threads as wake up in time, with the
    /// number of the thread; the caller's is 0. What it throws on any of them, this throws.
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
        // SAFETY: only the lifetime changes, and `End` waits for all who call it.
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
        // Waking nobody is a call of the system, too.
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
            // A thread catches what its work throws.
            let _ = thread.join();
        }
    }
}

impl PoolShared {
    fn state(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a thread does all its life.
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
            // Whoever came too late for this work may be in time for the next.
            look(|| self.times.0.load(Ordering::Relaxed) != seen);
            state = self.state();
        }
    }

    /// Does a thread's part of the work, in which it is counted as inside.
    fn take_part(&self, work: PoolTask, number: usize) {
        // SAFETY: `run` waits until this thread is no longer inside.
        let work = unsafe { &*work.0 };
        let ended = catch_unwind(AssertUnwindSafe(|| work(number)));
        let mut state = self.state();
        state.thrown = ended.err().or(state.thrown.take());
        state.inside -= 1;
        let wake = state.inside == 0 && state.waits;
        self.inside.0.store(state.inside, Ordering::Relaxed);
        // Whoever sees it wants the lock.
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

/// Looks for something for a while, whether it comes or not.
fn look(seen: impl Fn() -> bool) {
    let begun = Instant::now();
    while !(0..GLANCES).any(|_| seen_or_pause(&seen)) && begun.elapsed() < LOOKING {
        // Where cores are few, what is waited for may need this one.
        std::thread::yield_now();
    }
}

/// Whether something is seen; gives way within the core where it is not.
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
