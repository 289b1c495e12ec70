//! The recorder of traces, and where their text goes.
//!
//! Owns [`Tracer`] and [`Doing`], a step as it is told. Invariants: without a listener, an event costs one load and one
//! branch; recording never changes what is evaluated. So no handle of a value is kept, as handles are counted: only
//! weak ones, until the flush ends, which tell when a value is gone.
//!
//! A value that is gone counts as freed by the step that was done last. A step that releases values before it is told
//! begins with [`Tracer::clock`], so that the step before is not taken for the cause.
//!
//! Not here: the record (`trace.rs`, `step.rs`), its text (`flush_text.rs`).

use super::flush_text::{flush_text, single_event};
use super::step::{ElementRange, Freed, Prices, Step, StepAction, StepWork};
use super::trace::{Event, Flush, Sink, Subject, graph, subject};
use crate::graph::value::{Node, Value, ValueKind};
use gpupy_core::Error;
use std::io::Write;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

/// A handle of a context's recorder, with the prices of a device; clones share the recorder.
#[derive(Clone, Default)]
pub(crate) struct Tracer {
    shared: Arc<SharedTracer>,
    prices: Prices,
}

#[derive(Default)]
struct SharedTracer {
    listening: AtomicBool,
    state: Mutex<TracerState>,
}

#[derive(Default)]
struct TracerState {
    sink: Option<Sink>,
    flush: Option<(Flush, Instant)>,
    /// The stored values: the leaves of the flush, and the results of its steps.
    living: Vec<(Subject, Weak<Node>)>,
}

impl TracerState {
    /// The values that are gone since the last call.
    fn gone(&mut self) -> Vec<Freed> {
        let gone = self.living.extract_if(.., |(_, node)| node.strong_count() == 0);
        let mut gone: Vec<Subject> = gone.map(|(subject, _)| subject).collect();
        gone.sort_unstable_by_key(|subject| subject.id);
        gone.into_iter().map(Freed::Value).collect()
    }

    /// The step that was done last.
    fn last(&mut self) -> Option<&mut Step> {
        let (flush, _) = self.flush.as_mut()?;
        flush.events.iter_mut().rev().find_map(|event| match event {
            Event::Step(step) => Some(&mut **step),
            _ => None,
        })
    }

    /// Attributes freed values to the step that was done last.
    fn attribute_frees(&mut self) {
        let gone = self.gone();
        if let Some(step) = self.last() {
            step.frees.extend(gone);
        }
    }

    /// Notes that a step wrote a value, into the memory of another where one is named.
    fn written(&mut self, value: &Value, in_place_of: Option<&Subject>) {
        if let Some(old) = in_place_of {
            // Its memory is the new value's.
            self.living.retain(|(subject, _)| subject.id != old.id);
        }
        if self.living.iter().all(|(subject, _)| subject.id != value.id()) {
            self.living.push((subject(value), Arc::downgrade(&value.0)));
        }
    }
}

/// A step as it is told; it lives as long as that takes.
pub(crate) struct Doing<'v> {
    step: Step,
    written: Vec<&'v Value>,
}

impl<'v> Doing<'v> {
    /// A step of a driver.
    pub fn new(what: StepAction, driver: &'static str) -> Doing<'v> {
        let (reads, writes, frees) = Default::default();
        let (work, partly, in_place_of, expected, time) = Default::default();
        let step =
            Step { what, driver, reads, writes, partly, in_place_of, frees, work, expected, time };
        Doing { step, written: Vec::new() }
    }

    /// An operation that is done in host memory.
    pub fn on_host(operation: &'static str) -> Doing<'v> {
        Doing::new(StepAction::Host(operation), "")
    }

    /// It reads these elements.
    pub fn reads(mut self, value: &Value, range: Range<usize>) -> Doing<'v> {
        self.count(value, &range);
        self.step.work.loads += range.len() as u64;
        let read = ElementRange { value: subject(value), range };
        if !self.step.reads.contains(&read) {
            self.step.reads.push(read);
        }
        self
    }

    /// It reads all of this value, if any; the caller holds no handle of it.
    pub fn reads_named(mut self, value: Option<Subject>) -> Doing<'v> {
        if let Some(value) = value {
            let len = value.shape.iter().product::<usize>();
            self.step.work.loads += len as u64;
            self.step.work.bytes += (len * value.dtype.size()) as u64;
            self.step.reads.push(ElementRange { value, range: 0..len });
        }
        self
    }

    /// It writes these elements.
    pub fn writes(mut self, value: &'v Value, range: Range<usize>) -> Doing<'v> {
        self.count(value, &range);
        self.step.work.stores += range.len() as u64;
        self.step.writes.push(ElementRange { value: subject(value), range });
        self.written.push(value);
        self
    }

    /// It writes into the memory of this value.
    pub fn in_place_of(mut self, old: Option<Subject>) -> Doing<'v> {
        self.step.in_place_of = old;
        self
    }

    /// It takes so many operations.
    pub fn operations(mut self, operations: u64) -> Doing<'v> {
        self.step.work.operations = operations;
        self
    }

    /// It moves so many bytes, rather than to read and write elements.
    pub fn moves(mut self, bytes: usize) -> Doing<'v> {
        self.step.work = StepWork { bytes: bytes as u64, ..StepWork::default() };
        self
    }

    /// Its work, where the extents do not determine it.
    pub fn work(mut self, work: StepWork) -> Doing<'v> {
        self.step.work = work;
        self
    }

    /// It began at this time.
    pub fn since(self, began: Option<Instant>) -> Doing<'v> {
        self.took(began.map_or(Duration::ZERO, |began| began.elapsed()))
    }

    /// It took so long.
    pub fn took(mut self, time: Duration) -> Doing<'v> {
        self.step.time = time;
        self
    }

    fn count(&mut self, value: &Value, range: &Range<usize>) {
        self.step.work.bytes += (range.len() * value.dtype().size()) as u64;
    }
}

impl Tracer {
    /// This recorder, for a device with these prices.
    pub fn priced(&self, prices: Prices) -> Tracer {
        Tracer { shared: self.shared.clone(), prices }
    }

    fn state(&self) -> MutexGuard<'_, TracerState> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is a listener.
    pub fn listens(&self) -> bool {
        self.shared.listening.load(Ordering::Relaxed)
    }

    /// Sends the text of each flush from now on to `sink`.
    pub fn send_to(&self, sink: Option<Sink>) {
        let mut state = self.state();
        self.shared.listening.store(sink.is_some() || state.flush.is_some(), Ordering::Relaxed);
        state.sink = sink;
    }

    /// The time, if there is a listener; a step begins.
    pub fn clock(&self) -> Option<Instant> {
        self.listens().then(|| self.begin_step())
    }

    #[cold]
    fn begin_step(&self) -> Instant {
        self.state().attribute_frees();
        Instant::now()
    }

    /// Records a step, which is made only when there is a listener.
    #[inline]
    pub fn step<'v>(&self, tell: impl FnOnce() -> Doing<'v>) {
        if self.listens() {
            self.record_step(tell());
        }
    }

    #[cold]
    fn record_step(&self, Doing { mut step, written }: Doing<'_>) {
        step.expected = self.prices.estimate(&step.what, step.work);
        let mut state = self.state();
        if state.flush.is_some() {
            for value in written {
                state.written(value, step.in_place_of.as_ref());
            }
            step.frees.extend(state.gone());
        }
        Tracer::tell(&mut state, Event::Step(Box::new(step)));
    }

    /// The number of events, if there is a listener: events from here on may belong to a tile.
    pub fn mark(&self) -> Option<usize> {
        self.listens()
            .then(|| self.state().flush.as_ref().map_or(0, |(flush, _)| flush.events.len()))
    }

    /// Says that the launches since a mark that wrote into blocks wrote these elements of each value, into the memory
    /// of another value where one is named.
    pub fn filled(
        &self,
        mark: Option<usize>,
        values: &[Value],
        range: &Range<usize>,
        in_place_of: Option<&Value>,
    ) {
        let Some(mark) = mark else { return };
        let old = in_place_of.map(subject);
        let written = |value| ElementRange { value: subject(value), range: range.clone() };
        let all = (range.len() * values.len()) as u64;
        let mut state = self.state();
        let Some((flush, _)) = &mut state.flush else { return };
        for event in flush.events.iter_mut().skip(mark) {
            if let Event::Step(step) = event
                && step.writes.is_empty()
                && matches!(step.what, StepAction::Kernel(_))
            {
                step.writes.extend(values.iter().map(written));
                step.partly = step.work.stores < all;
                step.in_place_of = old.clone();
            }
        }
        values.iter().for_each(|value| state.written(value, old.as_ref()));
    }

    /// Says that the step that was done last leaves a block of this value without use.
    pub fn frees(&self, value: &Value) {
        if self.listens()
            && let Some(step) = self.state().last()
        {
            step.frees.push(Freed::Block(subject(value)));
        }
    }

    /// Says that something is not needed behind the step that was told last.
    pub fn freed(&self, freed: impl FnOnce() -> Freed) {
        if self.listens()
            && let Some(step) = self.state().last()
        {
            step.frees.push(freed());
        }
    }

    /// Records an event, which is made only when there is a listener.
    #[inline]
    pub fn event(&self, make: impl FnOnce() -> Event) {
        if self.listens() {
            self.record(make());
        }
    }

    #[cold]
    fn record(&self, event: Event) {
        Tracer::tell(&mut self.state(), event);
    }

    fn tell(state: &mut TracerState, event: Event) {
        if let Some((flush, _)) = &mut state.flush {
            flush.events.push(event);
        } else if let Some(sink) = &state.sink {
            sink(&single_event(&event));
        }
    }

    /// Begins a flush, if there is a listener or `always`. The caller holds the engine's lock until `end`, so flushes
    /// never overlap.
    pub fn begin(&self, value: &Value, beside: &[Value], range: &Range<usize>, always: bool) {
        if !always && !self.listens() {
            return;
        }
        let roots: Vec<&Value> = std::iter::once(value).chain(beside).collect();
        let mut living = Vec::new();
        let graph = graph(&roots, |leaf| {
            if !matches!(leaf.0.kind, ValueKind::Constant(_)) {
                living.push((subject(leaf), Arc::downgrade(&leaf.0)));
            }
        });
        let flush = Flush {
            value: subject(value),
            beside: beside.iter().map(subject).collect(),
            range: range.clone(),
            graph,
            events: Vec::new(),
            time: None,
            error: None,
        };
        let mut state = self.state();
        state.flush = Some((flush, Instant::now()));
        state.living = living;
        drop(state);
        self.shared.listening.store(true, Ordering::Relaxed);
    }

    /// Ends the flush that was begun last, if any.
    pub fn end(&self, error: Option<&Error>) -> Option<Flush> {
        if !self.listens() {
            return None;
        }
        let mut state = self.state();
        state.attribute_frees();
        state.living.clear();
        let (mut flush, began) = state.flush.take()?;
        flush.time = Some(began.elapsed());
        flush.error = error.map(Error::to_string);
        self.shared.listening.store(state.sink.is_some(), Ordering::Relaxed);
        if let Some(sink) = &state.sink {
            sink(&flush_text(&flush));
        }
        Some(flush)
    }
}

/// Prints a trace.
pub(crate) fn to_stderr(text: &str) {
    // A closed standard error is no reason to stop the program.
    let _ = std::io::stderr().write_all(text.as_bytes());
}
