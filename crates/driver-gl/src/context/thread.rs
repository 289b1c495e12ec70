//! The thread that a context lives on, and its queue of jobs.
//!
//! Owns [`GlThread`]. Invariants: jobs run one after another, in the order of queueing; a job that panics ends
//! the thread, and everything after it fails with `DeviceLost`; contexts are opened and closed, and those of
//! rasterisers on the CPU are used, in this thread's turn (`turns.rs`).
//!
//! Not here: the work of the jobs (`gpu.rs`).

use crate::context::display::DisplayLease;
use crate::context::gpu::Gpu;
use crate::context::shared_context::Renderer;
use crate::context::turns::Turn;
use crate::errors::{NAME, lost};
use gpupy_core::driver::Config;
use gpupy_core::{Error, ErrorKind, Result};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread::JoinHandle;

type Job = Box<dyn FnOnce(&mut Gpu) + Send>;

/// A running thread; after it is dropped, it ends when its queue is empty.
pub struct GlThread {
    jobs: Option<Sender<Job>>,
    handle: Option<JoinHandle<()>>,
    /// The process that has the thread; a forked process has only its memory.
    process: u32,
}

impl GlThread {
    /// Starts a thread and opens a context on it: one of a device that the configuration selects, or one that
    /// shares its objects with a renderer's.
    ///
    /// # Errors
    /// - `Unavailable`: no context, or no thread.
    pub fn start(config: &Config, renderer: Option<Renderer>) -> Result<GlThread> {
        let config = config.clone();
        let (jobs, queue) = channel::<Job>();
        let (opened, outcome) = channel();
        let body = move || {
            // A library that panics while it opens a device must not end the program.
            let gpu = catch_unwind(|| {
                let lease = DisplayLease::take()?;
                let turn = Turn::wait(&lease);
                Ok((Gpu::open(&config, renderer, &turn)?, lease))
            });
            match gpu.unwrap_or_else(|_| Err(unavailable("it panicked"))) {
                Ok((mut gpu, lease)) => {
                    let _ = opened.send(Ok(()));
                    serve(&mut gpu, &lease, &queue);
                    let _turn = Turn::wait(&lease);
                    drop(gpu);
                }
                Err(error) => {
                    let _ = opened.send(Err(error));
                }
            }
        };
        let process = std::process::id();
        let builder = std::thread::Builder::new().name("gpupy-gl".to_owned());
        let handle = builder.spawn(body).map_err(|e| unavailable("no thread").from_source(e))?;
        let mut thread = GlThread { jobs: Some(jobs), handle: Some(handle), process };
        match outcome.recv() {
            Ok(Ok(())) => Ok(thread),
            Ok(Err(error)) => {
                thread.stop();
                Err(error)
            }
            Err(_) => Err(unavailable("the thread ended")),
        }
    }

    /// Queues a job.
    ///
    /// # Errors
    /// - `DeviceLost`: the thread has ended.
    pub fn post(&self, job: impl FnOnce(&mut Gpu) + Send + 'static) -> Result<()> {
        self.queue()?.send(Box::new(job)).map_err(|_| lost())
    }

    /// Queues a job and waits for its answer.
    ///
    /// # Errors
    /// - `DeviceLost`: the thread has ended, or ends in this job.
    pub fn ask<T: Send>(&self, job: impl FnOnce(&mut Gpu) -> T + Send) -> Result<T> {
        let jobs = self.queue()?;
        let (answer, answered) = channel();
        let job: Box<dyn FnOnce(&mut Gpu) + Send + '_> = Box::new(move |gpu| {
            let _ = answer.send(job(gpu));
        });
        // SAFETY: only the lifetime changes. The job owns the one sender of `answered`, so `recv`
        // below returns only when the job has run, or has been dropped without running; in both
        // cases nothing borrowed is used after this function returns. If the queue is closed, the
        // job comes back in the error and is dropped here.
        let job = unsafe { std::mem::transmute::<Box<dyn FnOnce(&mut Gpu) + Send + '_>, Job>(job) };
        jobs.send(job).map_err(|_| lost())?;
        answered.recv().map_err(|_| lost())
    }

    /// The queue, if there is a thread that takes from it.
    fn queue(&self) -> Result<&Sender<Job>> {
        let here = self.process == std::process::id();
        self.jobs.as_ref().filter(|_| here).ok_or_else(lost)
    }

    /// Waits for the queue, closes the context and ends the thread.
    fn stop(&mut self) {
        self.jobs = None;
        // A thread of another process can never be joined.
        if let Some(handle) = self.handle.take()
            && self.process == std::process::id()
        {
            let _ = handle.join();
        }
    }
}

impl Drop for GlThread {
    fn drop(&mut self) {
        self.stop();
    }
}

fn serve(gpu: &mut Gpu, lease: &DisplayLease, queue: &Receiver<Job>) {
    let takes_turns = !gpu.limits().hardware;
    let turn = || takes_turns.then(|| Turn::wait(lease));
    loop {
        let job = match queue.try_recv() {
            Ok(job) => job,
            Err(TryRecvError::Disconnected) => return,
            Err(TryRecvError::Empty) => {
                // No further job is queued, so the device starts now.
                if gpu.has_unflushed() {
                    let _turn = turn();
                    gpu.flush();
                }
                match queue.recv() {
                    Ok(job) => job,
                    Err(_) => return,
                }
            }
        };
        let _turn = turn();
        if catch_unwind(AssertUnwindSafe(|| job(gpu))).is_err() {
            return;
        }
    }
}

fn unavailable(reason: &str) -> Error {
    Error::new(ErrorKind::Unavailable, "init")
        .says("the thread for OpenGL did not start")
        .with("driver", NAME)
        .with("reason", reason)
}
