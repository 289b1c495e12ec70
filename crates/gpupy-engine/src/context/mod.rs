//! Contexts: what a front end talks to.
//!
//! A [`Context`] has the registry, the chosen driver, and the engine behind a lock. `recording.rs` has what it records,
//! `replayed.rs` what was recorded before, `read/` and `explaining.rs` what it reads and explains, `counts.rs` what
//! it is told. `exports/` has the memory that other libraries and renderers use, `indexing/` reads and writes by index
//! arrays and masks; `dtype_view.rs` shows a base under another dtype.
//! `driver_selection.rs` chooses and opens drivers by the [`Settings`]; `pending.rs` bounds what waits, and
//! `host_promotion.rs` says when a base comes to host memory. Invariant: recording takes no lock of the engine, unless
//! so much is pending that it has to run.
//!
//! Imports all folders but `saved`. Not here: evaluation itself (`execute/`).

mod counts;
pub(crate) mod driver_selection;
pub(crate) mod dtype_view;
mod explaining;
pub(crate) mod exports;
pub(crate) mod host_promotion;
pub(crate) mod indexing;
mod last_snapshot;
pub(crate) mod pending;
pub(crate) mod read;
mod recording;
mod replayed;
pub(crate) mod settings;

use self::last_snapshot::LastSnapshot;
use crate::array::base::Array;
use crate::blocks::streams::Residents;
use crate::context::settings::{Placement, Settings};
use crate::drivers::registry::Registry;
use crate::eager::eager_dispatch::EagerDispatch;
use crate::eager::eager_evaluator::EagerEvaluator;
use crate::execute::engine_state::EngineState;
use crate::execute::evaluate::Engine;
use crate::execute::progress::time_slice::TimeSlice;
use crate::explain::stats::Stats;
use crate::explain::tracer::{Tracer, to_stderr};
use crate::graph::value::Value;
use crate::memory::host_buffer;
use crate::memory::limit;
use crate::memory::reader::check_free;
use crate::schedule::cost;
use crate::schedule::lowering::operation_lowering::OperationLowering;
use crate::schedule::passes::demand::Demand;
use crate::schedule::walk::rematerialisation::Rematerialisation;
use crate::thresholds::T;
use gpupy_core::driver::Capabilities;
use gpupy_core::op::Op;
use gpupy_core::routines::Routine;
use gpupy_core::{DType, Result, memory};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A handle of one engine with its drivers; clones share it.
///
/// Arrays belong to the context that computed them: another context does not find what lies only on
/// this one's devices.
#[derive(Clone)]
pub struct Context {
    pub(crate) inner: Arc<ContextInner>,
}

/// Calls what it is given, once, in whatever state suits a wait: a language with a global lock
/// lets go of it meanwhile.
pub type Waiter = fn(&mut dyn FnMut());

/// Looks after what a program does besides waiting; true asks the evaluation to stop.
pub type Interrupt = fn() -> bool;

/// Gives an array with the elements of one that is open, while something is recorded; `None` where it has none.
pub type Opener = fn(&Array) -> Result<Option<Array>>;

pub(crate) struct ContextInner {
    pub settings: Settings,
    pub dispatch: EagerDispatch,
    pub driver_fallback: AtomicBool,
    pub waiter: OnceLock<Waiter>,
    pub interrupt: OnceLock<Interrupt>,
    pub opener: OnceLock<Opener>,
    pub(crate) tracer: Tracer,
    told: LastSnapshot,
    state: Arc<Mutex<EngineState>>,
}

impl Context {
    /// A context over these drivers, and the plug-in or devices that the settings may name; opens none.
    pub fn new(mut registry: Registry, settings: Settings) -> Context {
        registry.register_words(&settings.driver);
        limit::set_host_bytes(settings.host_bytes);
        if settings.host_bytes > 0 {
            let kept = settings.host_bytes / 16;
            host_buffer::set_pool_bytes(usize::try_from(kept).unwrap_or(usize::MAX));
        }
        let is_eager = settings.placement == Placement::Auto && registry.host().is_some();
        // What is done in host memory costs the same whatever the device.
        let tracer = Tracer::default().priced(cost::prices(&Capabilities::default()));
        let mut engine = Engine {
            tracer: tracer.clone(),
            devices: Vec::new(),
            counts: Vec::new(),
            stats: Stats::default(),
            slice: TimeSlice::new(settings.slice),
            residents: Residents::new(T.read_ahead),
            again: Rematerialisation::new(
                settings.flush_bytes,
                if is_eager { T.most_points } else { 0 },
            ),
            progress: None,
            windows: None,
        };
        engine.resize(registry.len());
        let wanted = settings.driver.clone();
        let (chosen, lent, shared_before) = (None, Vec::new(), false);
        let state = EngineState { registry, engine, wanted, chosen, lent, shared_before };
        if settings.trace {
            tracer.send_to(Some(Box::new(to_stderr)));
        }
        let state = Arc::new(Mutex::new(state));
        let dispatch = match is_eager {
            true => EagerDispatch::by(EagerEvaluator::by(state.clone(), tracer.clone())),
            false => EagerDispatch::strict(),
        };
        let context = Context {
            inner: Arc::new(ContextInner {
                tracer,
                driver_fallback: AtomicBool::new(settings.driver_fallback),
                settings,
                dispatch,
                waiter: OnceLock::new(),
                interrupt: OnceLock::new(),
                opener: OnceLock::new(),
                told: LastSnapshot::default(),
                state,
            }),
        };
        // Nothing else has it yet; a thread that reads elements cannot ask either.
        if let Ok(mut state) = context.state() {
            context.tell_all(&mut state);
        }
        context
    }

    /// The engine, once no other thread has it.
    ///
    /// # Errors
    /// - `Busy`: this thread has it, and reads elements for it.
    pub(crate) fn state(&self) -> Result<MutexGuard<'_, EngineState>> {
        check_free()?;
        let mut state = self.inner.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.engine.settle();
        Ok(state)
    }

    /// What it was told.
    pub fn settings(&self) -> &Settings {
        &self.inner.settings
    }

    /// The names that can be chosen, best first, without `auto`.
    ///
    /// # Errors
    /// - `Busy`: a reader asks.
    pub fn driver_names(&self) -> Result<Vec<&'static str>> {
        Ok(self.state()?.registry.names().collect())
    }

    /// Chooses a driver by its name, or a plug-in by its path, and opens it. Behind a colon stands which of its devices
    /// is meant (`vulkan:1`); several with commas between them share the work (`vulkan:0,vulkan:1`). Arrays keep their
    /// values, wherever they are.
    ///
    /// # Errors
    /// - `Unknown`: nothing has that name; the message lists those that exist.
    /// - `Unavailable`: it cannot be loaded, or cannot start; the choice stays as it was.
    pub fn use_driver(&self, name: &str) -> Result<()> {
        let mut state = self.state()?;
        let chosen = self.choose(&mut state, name)?;
        state.shared_before = false;
        state.wanted = name.to_string();
        state.chosen = Some(chosen);
        self.current(&mut state).map(|_| ())
    }

    /// Like `use_driver`, but the device shares its objects with the context of its API that is current in this thread,
    /// so that blocks can be lent there ([`Context::lend`]). A device that is open is opened anew, and arrays keep
    /// their values.
    ///
    /// # Errors
    /// As of `use_driver`; `Unavailable` also where no such context is current. `Unsupported`: the driver shares with
    /// none.
    pub fn share_driver(&self, name: &str) -> Result<()> {
        let mut state = self.state()?;
        let chosen = self.shared(&mut state, name)?;
        state.wanted = name.to_string();
        state.chosen = Some(chosen);
        self.current(&mut state).map(|_| ())
    }

    /// What the user asked for: a driver's name, or `auto`.
    ///
    /// # Errors
    /// - `Busy`: a reader asks.
    pub fn wanted_driver(&self) -> Result<String> {
        Ok(self.state()?.wanted.clone())
    }

    /// The driver in use and its capabilities; opens it at need.
    ///
    /// # Errors
    /// As `use_driver`.
    pub fn driver(&self) -> Result<(&'static str, Capabilities)> {
        let mut state = self.state()?;
        let position = self.current(&mut state)?;
        let device = state.engine.device(position)?;
        Ok((device.name, device.caps.clone()))
    }

    /// Whether an operation on operands of this dtype (of a cast or select: giving it) can be
    /// computed: by the driver in use, or where placement allows it by the host driver. False too
    /// when no driver starts, or a reader asks, which cannot know (`check_free`).
    pub fn supports(&self, op: Op, dtype: DType) -> bool {
        let Ok(mut state) = self.state() else { return false };
        let does = |state: &mut EngineState, position| {
            let device = state.engine.device(position);
            device.is_ok_and(|device| !matches!(device.way(op, dtype), OperationLowering::Absent))
        };
        let chosen = self.current(&mut state).ok();
        chosen.is_some_and(|position| does(&mut state, position))
            || self.host(&mut state).is_some_and(|position| does(&mut state, position))
    }

    /// Whether a routine of operands of this dtype can be computed, as `supports` says it of operations. Opens the
    /// driver in use only where the host driver does not have it.
    pub fn offers(&self, routine: Routine, dtype: DType) -> bool {
        let Ok(mut state) = self.state() else { return false };
        let has = |state: &mut EngineState, position| {
            let device = state.engine.device(position);
            device.is_ok_and(|device| device.caps.offers(routine, dtype))
        };
        self.host(&mut state).is_some_and(|position| has(&mut state, position))
            || self.current(&mut state).is_ok_and(|position| has(&mut state, position))
    }

    /// Whether arrays of this dtype can be computed with, as `supports` says it of operations. Opens
    /// the driver in use only where the host driver does not know the answer.
    pub fn holds(&self, dtype: DType) -> bool {
        let Ok(mut state) = self.state() else { return false };
        let has = |state: &mut EngineState, position| {
            let device = state.engine.device(position);
            device.is_ok_and(|device| device.caps.dtypes.contains(&dtype))
        };
        self.host(&mut state).is_some_and(|position| has(&mut state, position))
            || self.current(&mut state).is_ok_and(|position| has(&mut state, position))
    }

    /// Whether the driver in use computes with the elements where the host has them. Opens it; true where none starts.
    pub(crate) fn computes_in_host_memory(&self) -> bool {
        let Ok(mut state) = self.state() else { return true };
        let Ok(position) = self.current(&mut state) else { return true };
        state.engine.device(position).map_or(true, |device| device.caps.host_memory)
    }

    /// Allows or forbids that another driver evaluates what failed on the one in use. The host
    /// driver's share of the work (`Settings::placement`) is not meant.
    pub fn set_driver_fallback(&self, allowed: bool) {
        self.inner.driver_fallback.store(allowed, Ordering::Relaxed);
    }

    /// Says how to wait for what is evaluated by itself while recording; can be said once.
    pub fn set_waiter(&self, waiter: Waiter) {
        // A second waiter is a mistake without consequences: the first one still waits.
        let _ = self.inner.waiter.set(waiter);
    }

    /// Says what to ask while an evaluation goes on, about every `Settings::slice`; can be said once.
    ///
    /// It is called by the thread that waits, with no lock held, so it may do anything, with this
    /// context too. When it gives true, the evaluation fails with `Interrupted`.
    pub fn set_interrupt(&self, interrupt: Interrupt) {
        // As for a second waiter.
        let _ = self.inner.interrupt.set(interrupt);
    }

    /// Says what to ask where elements of an open array are read; can be said once.
    pub fn set_opener(&self, opener: Opener) {
        // As for a second waiter.
        let _ = self.inner.opener.set(opener);
    }

    /// Gives memory that is kept for reuse back: blocks to their drivers, host memory and that of plans and compiled
    /// kernels to the system.
    ///
    /// # Errors
    /// - `Busy`: a reader asks.
    pub fn trim(&self) -> Result<()> {
        memory::trim();
        for device in self.state()?.engine.devices.iter_mut().flatten() {
            device.sweep();
            device.empty_pool();
            device.flushes.clear();
            device.trim_driver();
        }
        host_buffer::trim();
        Ok(())
    }

    /// Evaluates arrays on the device and waits; nothing is read back.
    ///
    /// # Errors
    /// Any error of the driver; no value is lost.
    pub fn evaluate(&self, arrays: &[&Array]) -> Result<()> {
        // Own elements are there.
        let arrays = arrays.iter().filter(|array| !array.has_own());
        let values = arrays.map(|array| array.value()).collect::<Result<Vec<Value>>>()?;
        for number in 0..values.len() {
            if let Some(demand) = Demand::first_of(&values[number..])
                && !demand.value.is_computed()
            {
                self.compute_demand(&demand, |_| Ok(()))?;
            }
        }
        for value in &values {
            self.compute_and(value, 0..value.len(), |engine| engine.wait_for(value))?;
        }
        Ok(())
    }

    /// Sees to it that so many bytes of host memory more are within the limit, if there is one.
    ///
    /// # Errors
    /// - `OutOfMemory`: what has to stay is too much. `File`: the disk is full.
    pub fn make_room(&self, bytes: usize) -> Result<()> {
        if limit::host_bytes().is_none() || bytes < limit::COUNTED_FROM {
            return Ok(());
        }
        let engine = &mut self.state()?.engine;
        engine.residents.advance();
        engine.keep_within(bytes as u64)
    }

    /// Does what may take long as the front end wants it done.
    pub(crate) fn while_others_run(&self, work: impl FnOnce() -> Result<()>) -> Result<()> {
        let mut result = Ok(());
        let mut work = Some(work);
        let mut once = || result = work.take().map_or(Ok(()), |work| work());
        match self.inner.waiter.get() {
            Some(waiter) => waiter(&mut once),
            None => once(),
        }
        result
    }
}
