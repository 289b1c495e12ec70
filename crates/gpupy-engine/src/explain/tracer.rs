//! The recorder of traces, and where their text goes.
//!
//! Owns [`Tracer`]. Invariants: while nobody listens, an event costs one load and one branch; recording never
//! changes what is evaluated.
//!
//! Not here: what is recorded (`trace.rs`), how it reads (`text.rs`).

use super::text::{flush_text, lone_event};
use super::trace::{Event, Flush, Sink, graph, subject};
use crate::graph::value::Value;
use gpupy_core::Error;
use std::io::Write;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A handle of a context's recorder; clones share it.
#[derive(Clone, Default)]
pub(crate) struct Tracer(Arc<Shared>);

#[derive(Default)]
struct Shared {
    listening: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    sink: Option<Sink>,
    flush: Option<(Flush, Instant)>,
}

impl Tracer {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether somebody wants to know.
    pub fn listens(&self) -> bool {
        self.0.listening.load(Ordering::Relaxed)
    }

    /// Sends the text of each flush from now on to `sink`.
    pub fn send_to(&self, sink: Option<Sink>) {
        let mut state = self.state();
        self.0.listening.store(sink.is_some() || state.flush.is_some(), Ordering::Relaxed);
        state.sink = sink;
    }

    /// The time, if somebody wants to know.
    pub fn clock(&self) -> Option<Instant> {
        self.listens().then(Instant::now)
    }

    /// Records an event, which is made only when somebody wants to know.
    #[inline]
    pub fn event(&self, make: impl FnOnce() -> Event) {
        if self.listens() {
            self.record(make());
        }
    }

    #[cold]
    fn record(&self, event: Event) {
        let mut state = self.state();
        if let Some((flush, _)) = &mut state.flush {
            flush.events.push(event);
        } else if let Some(sink) = &state.sink {
            sink(&lone_event(&event));
        }
    }

    /// Begins a flush, if somebody listens or `always`. The caller holds the engine's lock until
    /// `end`, so flushes never overlap.
    pub fn begin(&self, value: &Value, range: &Range<usize>, always: bool) {
        if !always && !self.listens() {
            return;
        }
        let flush = Flush {
            value: subject(value),
            range: range.clone(),
            graph: graph(value),
            events: Vec::new(),
            time: Duration::ZERO,
            error: None,
        };
        self.state().flush = Some((flush, Instant::now()));
        self.0.listening.store(true, Ordering::Relaxed);
    }

    /// Ends the flush that was begun last, if any.
    pub fn end(&self, error: Option<&Error>) -> Option<Flush> {
        if !self.listens() {
            return None;
        }
        let mut state = self.state();
        let (mut flush, began) = state.flush.take()?;
        flush.time = began.elapsed();
        flush.error = error.map(Error::to_string);
        self.0.listening.store(state.sink.is_some(), Ordering::Relaxed);
        if let Some(sink) = &state.sink {
            sink(&flush_text(&flush));
        }
        Some(flush)
    }
}

/// Prints a trace.
pub(crate) fn to_stderr(text: &str) {
    // When nobody can read it, that is no reason to stop the program.
    let _ = std::io::stderr().write_all(text.as_bytes());
}
