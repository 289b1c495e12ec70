//! Contexts: what a front end talks to.
//!
//! Owns [`Context`]: the registry, the chosen driver, and the engine behind a lock. Invariant:
//! recording takes no lock of the engine, unless so much is pending that it has to run.
//!
//! Not here: what recorded operations become (`record.rs`), choosing a driver (`ladder.rs`), reading
//! (`read.rs`), evaluation (`evaluate.rs`).

use crate::array::{Arg, Array, Held, checked_size};
use crate::at_once::AtOnce;
use crate::driver::Capabilities;
use crate::dtype::DType;
use crate::error::Result;
use crate::evaluate::Engine;
use crate::face::Face;
use crate::host;
use crate::in_memory;
use crate::lowering::Way;
use crate::masked;
use crate::op::Op;
use crate::order;
use crate::pending::held_bytes;
use crate::record::{Recorder, source_of};
use crate::registry::Registry;
use crate::scalar::Scalar;
use crate::settings::{Placement, Settings};
use crate::settle::is_little;
use crate::slice::Slice;
use crate::stats::Stats;
use crate::trace::{self, Tracer};
use crate::value::{Operand, Value, computed_bytes};
use std::slice;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// A handle of one engine with its drivers; clones share it.
///
/// Arrays belong to the context that computed them: another context does not find what lies only on
/// this one's devices.
#[derive(Clone)]
pub struct Context {
    pub(crate) inner: Arc<Inner>,
}

/// Calls what it is given, once, in whatever state suits a wait: a language with a global lock
/// lets go of it meanwhile.
pub type Waiter = fn(&mut dyn FnMut());

/// Looks after what a program does besides waiting; true asks the evaluation to stop.
pub type Interrupt = fn() -> bool;

/// The most elements of a constant that take memory at once.
const FEW: usize = 1 << 10;

pub(crate) struct Inner {
    pub settings: Settings,
    pub recorder: Recorder,
    pub driver_fallback: AtomicBool,
    pub waiter: OnceLock<Waiter>,
    pub interrupt: OnceLock<Interrupt>,
    pub(crate) tracer: Tracer,
    state: Arc<Mutex<State>>,
}

pub(crate) struct State {
    /// The drivers; plug-ins are added when they are asked for.
    pub registry: Registry,
    /// A device or none for each driver of the registry.
    pub engine: Engine,
    /// The driver that the user asked for: a name of the registry, or `auto`.
    pub wanted: String,
    /// The position of the driver in use, once it is open.
    pub chosen: Option<usize>,
}

impl Context {
    /// A context over these drivers, and the plug-in that the settings may name; opens none.
    pub fn new(mut registry: Registry, settings: Settings) -> Context {
        registry.register_path(&settings.driver);
        let has_host = registry.host().is_some();
        let mut engine = Engine {
            devices: Vec::new(),
            counts: Vec::new(),
            stats: Stats::default(),
            slice: Slice::new(settings.slice),
        };
        engine.resize(registry.len());
        let state = State { registry, engine, wanted: settings.driver.clone(), chosen: None };
        let tracer = Tracer::default();
        if settings.trace {
            tracer.send_to(Some(Box::new(trace::to_stderr)));
        }
        let state = Arc::new(Mutex::new(state));
        let at_once = match (settings.placement, has_host) {
            (Placement::Auto, true) => AtOnce::by(state.clone(), tracer.clone()),
            _ => AtOnce::default(),
        };
        Context {
            inner: Arc::new(Inner {
                tracer,
                driver_fallback: AtomicBool::new(settings.driver_fallback),
                settings,
                recorder: Recorder::new(at_once),
                waiter: OnceLock::new(),
                interrupt: OnceLock::new(),
                state,
            }),
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.inner.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The names that can be chosen, best first, without `auto`.
    pub fn driver_names(&self) -> Vec<&'static str> {
        self.state().registry.names().collect()
    }

    /// Chooses a driver by its name, or a plug-in by its path, and opens it. Arrays keep their
    /// values, wherever they are.
    ///
    /// # Errors
    /// - `Unknown`: nothing has that name; the message lists those that exist.
    /// - `Unavailable`: it cannot be loaded, or cannot start; the choice stays as it was.
    pub fn use_driver(&self, name: &str) -> Result<()> {
        let mut state = self.state();
        let chosen = self.choose(&mut state, name)?;
        state.wanted = name.to_string();
        state.chosen = Some(chosen);
        self.current(&mut state).map(|_| ())
    }

    /// What the user asked for: a driver's name, or `auto`.
    pub fn wanted_driver(&self) -> String {
        self.state().wanted.clone()
    }

    /// The driver in use and its capabilities; opens it at need.
    ///
    /// # Errors
    /// As `use_driver`.
    pub fn driver(&self) -> Result<(&'static str, Capabilities)> {
        let mut state = self.state();
        let position = self.current(&mut state)?;
        let device = state.engine.device(position)?;
        Ok((device.name, device.caps.clone()))
    }

    /// Every driver with what it can, or why it does not start. Opens those that are not open.
    pub fn drivers(&self) -> Vec<(&'static str, Result<Capabilities>)> {
        let mut state = self.state();
        (0..state.registry.len())
            .filter_map(|position| {
                let (name, _) = state.registry.get(position)?;
                let found = self.open(&mut state, position);
                Some((name, found.and_then(|()| Ok(state.engine.device(position)?.caps.clone()))))
            })
            .collect()
    }

    /// Whether an operation on operands of this dtype (of a cast or select: giving it) can be
    /// computed: by the driver in use, or where placement allows it by the host driver. False too
    /// when no driver starts.
    pub fn supports(&self, op: Op, dtype: DType) -> bool {
        let mut state = self.state();
        let does = |state: &mut State, position| {
            let device = state.engine.device(position);
            device.is_ok_and(|device| !matches!(device.way(op, dtype), Way::Absent))
        };
        let chosen = self.current(&mut state).ok();
        chosen.is_some_and(|position| does(&mut state, position))
            || self.host(&mut state).is_some_and(|position| does(&mut state, position))
    }

    /// Whether arrays of this dtype can be computed with, as `supports` says it of operations. Opens
    /// the driver in use only where the host driver does not know the answer.
    pub fn holds(&self, dtype: DType) -> bool {
        let mut state = self.state();
        let has = |state: &mut State, position| {
            let device = state.engine.device(position);
            device.is_ok_and(|device| device.caps.dtypes.contains(&dtype))
        };
        self.host(&mut state).is_some_and(|position| has(&mut state, position))
            || self.current(&mut state).is_ok_and(|position| has(&mut state, position))
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

    /// Counts since the context was made or they were reset, and what there is now.
    pub fn stats(&self) -> Stats {
        let mut stats = self.state().engine.stats;
        self.driver_stats().iter().for_each(|(_, driver)| stats += *driver);
        stats.values = self.inner.recorder.living() as u64;
        stats
    }

    /// The same for each driver, by name; what belongs to none of them is 0.
    pub fn driver_stats(&self) -> Vec<(&'static str, Stats)> {
        let mut state = self.state();
        let State { registry, engine, .. } = &mut *state;
        let all = registry.names().zip(&mut engine.devices).zip(&engine.counts);
        all.map(|((name, device), counts)| {
            let mut stats = *counts;
            if let Some(device) = device {
                device.sweep();
                device.count(&mut stats);
            }
            (name, stats)
        })
        .collect()
    }

    /// Sets all counts to zero; what is on the devices stays.
    pub fn reset_stats(&self) {
        let Engine { counts, stats, .. } = &mut self.state().engine;
        counts.iter_mut().chain([stats]).for_each(|counts| *counts = Stats::default());
    }

    /// Gives memory that is kept for reuse back: blocks to their drivers, host memory and that of plans to
    /// the system.
    pub fn trim(&self) {
        for device in self.state().engine.devices.iter_mut().flatten() {
            device.sweep();
            device.empty_pool();
            device.plans.clear();
        }
        host::trim();
    }

    /// The coordinate of each element along `axis`, an int32; computed where it is used.
    ///
    /// # Errors
    /// - `Index`: there is no such axis, or it is too long for an int32.
    /// - `Shape`: there would be more elements than positions.
    pub fn index(&self, shape: &[usize], axis: usize) -> Result<Array> {
        self.inner.recorder.index(shape, axis)
    }

    /// A scalar operation on operands that broadcast; records only.
    ///
    /// # Errors
    /// - `Shape`, `DType`: the operands do not fit.
    /// - any error of an evaluation, when so much was pending that it had to run.
    pub fn apply(&self, op: Op, args: &[Arg<'_>]) -> Result<Array> {
        let recorder = &self.inner.recorder;
        let at_once = |args: &[Arg<'_>]| recorder.at_once.apply(op, DType::Bool, args);
        order::kept(args, |args| match at_once(args) {
            Some(array) => Ok(array),
            None => match self.ripen(args)?.then(|| at_once(args)).flatten() {
                Some(array) => Ok(array),
                None => self.bounded(recorder.apply(op, args)?),
            },
        })
    }

    /// The result of a scalar operation that is computed at once, on few elements in host memory.
    /// `None` where that is too much or not so.
    pub fn at_once(&self, op: Op, args: &[Arg<'_>]) -> Option<Array> {
        let at_once = &self.inner.recorder.at_once;
        order::kept(args, |args| at_once.apply(op, DType::Bool, args).ok_or(())).ok()
    }

    /// The product of two vectors of one real dtype that is computed at once. `None` as of `at_once`, and
    /// where the vectors are none, or differ.
    pub fn dot_at_once(&self, left: &Array, right: &Array) -> Option<Scalar> {
        self.inner.recorder.at_once.dot(left, right)
    }

    /// Puts the result of a scalar operation, computed at once, where an array shows elements that nobody
    /// but its base has; false, with nothing done, where it is not so.
    pub fn update_at_once(&self, op: Op, args: &[Arg<'_>], dest: &Array) -> bool {
        self.inner.recorder.at_once.update(op, args, dest).is_some()
    }

    /// Integers to a power, which wrap.
    ///
    /// # Errors
    /// - `DType`: they are no integers. Otherwise as `apply`.
    pub fn integer_power(&self, array: &Array, exponent: u64) -> Result<Array> {
        self.bounded(self.inner.recorder.integer_power(array, exponent)?)
    }

    /// Arrays one behind the other along an axis; a view of each is read where it is needed.
    ///
    /// # Errors
    /// - `Shape`, `Index`, `DType`: the arrays or the axis do not fit.
    pub fn join(&self, axis: usize, arrays: &[Array]) -> Result<Array> {
        let recorder = &self.inner.recorder;
        order::kept_along(arrays, axis, |arrays, axis| self.bounded(recorder.join(axis, arrays)?))
    }

    /// A cast by value.
    ///
    /// # Errors
    /// As `apply`.
    pub fn cast(&self, array: &Array, dtype: DType) -> Result<Array> {
        let recorder = &self.inner.recorder;
        if array.dtype() == dtype {
            return self.bounded(recorder.copy(array)?);
        }
        order::kept(&[Arg::Array(array)], |args| {
            match recorder.at_once.apply(Op::Cast, dtype, args) {
                Some(array) => Ok(array),
                None => self.bounded(recorder.convert(Op::Cast, args, dtype)?),
            }
        })
    }

    /// A reduction over distinct axes by the canonical tree.
    ///
    /// # Errors
    /// - `Shape`: nothing to reduce. `DType`: the operation does not reduce this dtype.
    pub fn reduce(&self, op: Op, array: &Array, axes: &[usize], keepdims: bool) -> Result<Array> {
        if axes.len() == array.ndim()
            && !keepdims
            && let Some(reduced) = self.inner.recorder.at_once.whole(op, array)
        {
            return Ok(reduced);
        }
        self.ripen(&[Arg::Array(array)])?;
        let recorder = &self.inner.recorder;
        order::kept_but(array, axes, keepdims, |array, axes| {
            self.bounded(recorder.reduce(op, array, axes, keepdims)?)
        })
    }

    /// Running results along an axis: element `i` combines the elements up to `i`, chunk by chunk
    /// (`ir::Form::Scan`).
    ///
    /// # Errors
    /// - `Index`: there is no such axis. `DType`: the operation does not scan this dtype.
    pub fn scan(&self, op: Op, array: &Array, axis: usize) -> Result<Array> {
        order::kept_along(slice::from_ref(array), axis, |arrays, axis| {
            self.bounded(self.inner.recorder.scan(op, &arrays[0], axis)?)
        })
    }

    /// The elements of each row along an axis in ascending order (`ir::Form::Sort`).
    ///
    /// # Errors
    /// - `Index`: there is no such axis.
    pub fn sort(&self, array: &Array, axis: usize) -> Result<Array> {
        order::kept_along(slice::from_ref(array), axis, |arrays, axis| {
            self.bounded(self.inner.recorder.sort(&arrays[0], axis)?)
        })
    }

    /// The positions, int32, that put each row along an axis in the order of `sort`.
    ///
    /// # Errors
    /// - `Index`: there is no such axis, or it is too long for an int32.
    pub fn argsort(&self, array: &Array, axis: usize) -> Result<Array> {
        self.bounded(self.inner.recorder.argsort(array, axis)?)
    }

    /// The place along an axis, int32, of the first element that `op` (the minimum or maximum) gives of
    /// each row, where the first NaN wins; the axis stays, with one element.
    ///
    /// # Errors
    /// - `Index`: there is no such axis, or it is too long for an int32. `Shape`: the rows have no
    ///   elements. `DType`: the operation does not reduce this dtype.
    pub fn place(&self, op: Op, array: &Array, axis: usize) -> Result<Array> {
        self.bounded(self.inner.recorder.place(op, array, axis)?)
    }

    /// The matrix product of stacks of matrices, `(…, m, k)` and `(…, k, n)`, whose stacks broadcast
    /// (`ir::Form::MatMul`).
    ///
    /// # Errors
    /// - `Shape`: the extents do not fit, or an array has fewer than two axes. `DType`: the dtypes
    ///   differ.
    pub fn matmul(&self, left: &Array, right: &Array) -> Result<Array> {
        self.ripen(&[Arg::Array(left), Arg::Array(right)])?;
        self.bounded(self.inner.recorder.matmul(left, right)?)
    }

    /// An array whose elements are all `scalar`. Few elements take memory at once; many, when
    /// something needs them.
    ///
    /// # Errors
    /// - `Shape`: there would be more elements than positions.
    pub fn full(&self, shape: &[usize], scalar: Scalar) -> Result<Array> {
        let len = checked_size(shape)?;
        let few = self.inner.recorder.at_once.is_allowed() && len <= FEW;
        match few.then(|| in_memory::filled(shape, scalar)).flatten() {
            Some(array) => Ok(array),
            None => Array::full(shape, scalar),
        }
    }

    /// Rows of few elements in host memory, by an index array along the first axis or a mask of the
    /// leading axes; `None` where `pick` has to find them.
    pub fn picked_at_once(&self, array: &Array, index: &Array) -> Option<Array> {
        if !self.inner.recorder.at_once.is_allowed() {
            return None;
        }
        match index.dtype() {
            DType::Bool => masked::selected(array, index),
            _ => in_memory::picked(array, index),
        }
    }

    /// Writes a scalar, or elements one after another, where a mask of the same shape is true, if these
    /// are few elements that nobody else has; false, with nothing done, where it is not so, or what is
    /// written does not fit.
    pub fn write_masked(&self, array: &Array, mask: &Array, source: Arg<'_>) -> bool {
        self.inner.recorder.at_once.is_allowed() && masked::write(array, mask, &source).is_some()
    }

    /// Writes one element at a position of the base, if nobody else has the base's elements; false,
    /// with nothing done, where `assign` has to do it.
    pub fn write_element(&self, array: &Array, position: isize, element: Scalar) -> bool {
        in_memory::write_element(array, position, element)
    }

    /// A new base with the same elements, in C order.
    ///
    /// # Errors
    /// - `Disposed`: the array has none any more.
    pub fn copy(&self, array: &Array) -> Result<Array> {
        self.inner.recorder.copy(array)
    }

    /// A new base with the same elements, whose axes lie in memory as they did.
    ///
    /// # Errors
    /// - `Disposed`: the array has none any more.
    pub fn copy_as_it_lies(&self, array: &Array) -> Result<Array> {
        order::kept(&[Arg::Array(array)], |args| match args {
            [Arg::Array(moved)] => self.copy(moved),
            _ => self.copy(array),
        })
    }

    /// Writes into a view, with broadcasting. The source is read as it is before the write.
    ///
    /// # Errors
    /// - `Shape`, `DType`: the source does not fit. The destination is unchanged then.
    pub fn assign(&self, dest: &Array, source: Arg<'_>) -> Result<()> {
        if let Arg::Array(same) = source
            && same.shows_what(dest)
        {
            // `a[1:] += 1` ends with writing what was written.
            return same.check_there();
        }
        let small = self.inner.recorder.at_once.is_allowed();
        if small && in_memory::write_own(dest, &source).is_some() {
            return Ok(());
        }
        let given = source;
        let source = source_of(dest, given)?;
        match dest.size() {
            0 => return Ok(()),
            _ if let Some(face) = dest.face()
                && let Some((target, source)) = face.through(dest, given)? =>
            {
                return self.assign(&target, Arg::Array(&source));
            }
            n if small && is_little(n, dest.base_len()) => self.settle(dest, &source)?,
            _ => {}
        }
        let replaced = self.put_operand(dest, source)?;
        self.bound_written(dest, &replaced)
    }

    /// Writes an array into a view, and evaluates nothing, however much is pending.
    ///
    /// # Errors
    /// As `assign`.
    pub(crate) fn put_value(&self, dest: &Array, source: &Array) -> Result<()> {
        let source = source_of(dest, Arg::Array(source))?;
        self.put_operand(dest, source).map(drop)
    }

    /// Puts an operand in the place of what a view shows; gives the base's new value.
    fn put_operand(&self, dest: &Array, source: Operand) -> Result<Value> {
        let mut current = dest.current();
        let value = current.value()?;
        if !in_memory::write(value, dest, &source, self.inner.recorder.at_once.is_allowed()) {
            let empty = Value::constant(&[], Scalar::zero(dest.dtype()));
            let old = std::mem::replace(value, empty);
            *value = self.inner.recorder.assigned(old, dest, source);
        }
        let value = value.clone();
        current.version += 1;
        if let Some(face) = dest.face() {
            face.pass_on(&mut current)?;
        }
        Ok(value)
    }

    /// Evaluates what was written, the value of a base and of those that it shows, where too much is pending.
    pub(crate) fn bound_written(&self, dest: &Array, value: &Value) -> Result<()> {
        self.bound(value)?;
        let mut face = dest.face();
        while let Some(whole) = face.map(Face::whole) {
            self.bound(&whole.value()?)?;
            face = whole.face();
        }
        Ok(())
    }

    /// Evaluates arrays on the device and waits; nothing is read back.
    ///
    /// # Errors
    /// Any error of the driver; no value is lost.
    pub fn evaluate(&self, arrays: &[&Array]) -> Result<()> {
        // Own elements are there.
        let arrays = || arrays.iter().filter(|array| !array.has_own());
        for array in arrays() {
            let value = array.value()?;
            self.compute(&value, 0..value.len())?;
        }
        for array in arrays() {
            let value = array.value()?;
            self.compute_and(&value, 0..value.len(), |engine| engine.wait_for(&value))?;
        }
        Ok(())
    }

    pub(crate) fn bounded(&self, array: Array) -> Result<Array> {
        let much = matches!(array.current().held(), Held::Value(value) if self.may_be_much(value));
        if much {
            self.bound(&array.value()?)?;
        }
        Ok(array)
    }

    fn may_be_much(&self, value: &Value) -> bool {
        value.0.depth >= self.inner.settings.flush_depth
            || value.0.held.load(Ordering::Relaxed) >= self.inner.settings.flush_bytes
    }

    /// Evaluates a value when too much is pending behind it.
    pub(crate) fn bound(&self, value: &Value) -> Result<()> {
        if !self.may_be_much(value) || value.is_computed() {
            return Ok(());
        }
        let most = self.inner.settings.flush_bytes;
        if value.0.depth < self.inner.settings.flush_depth
            && (computed_bytes() < most || held_bytes(value) < most)
        {
            return Ok(());
        }
        self.while_others_run(|| {
            self.state().engine.stats.automatic_flushes += 1;
            self.compute(value, 0..value.len())
        })
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
