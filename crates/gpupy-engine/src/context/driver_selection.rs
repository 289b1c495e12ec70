//! Driver selection: which driver evaluates, and the fallback chain when it cannot.
//!
//! Owns opening and choosing drivers. Invariants: no device is opened before something needs one; `auto` goes on to the
//! next driver when one does not start, and opens no GPU driver on a machine without device nodes while another driver
//! starts; a driver that was asked for by name and does not start is an error, never another driver; where a device has
//! no room, drivers that are open help, and none for GPUs is opened, because its libraries want more of what is
//! lacking, and some end the process without it; each driver of the registry has a place among the devices.
//!
//! Not here: evaluation itself (`evaluate.rs`).

use crate::blocks::cache::BlockCache;
use crate::context::Context;
use crate::context::settings::Placement;
use crate::drivers::lowering_driver;
use crate::drivers::registry::Registry;
use crate::eager::policy;
use crate::execute::engine_state::EngineState;
use crate::execute::evaluate::Engine;
use crate::graph::value::{Value, ValueKind};
use crate::schedule::cost;
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::passes::demand::Demand;
use crate::schedule::passes::placement::DeviceOrder;
use gpupy_core::driver::Config;
use gpupy_core::memory;
use gpupy_core::{DType, Error, ErrorKind, Result};
use std::ops::Range;
use std::sync::atomic::Ordering;

/// The choice of the best driver that starts.
const AUTO: &str = "auto";

/// How a program may go on where the device has no room.
const ADVICE: &str =
    "delete arrays, evaluate smaller parts, or choose another driver with gpupy.use()";

/// Where an evaluation is tried.
#[derive(Clone, Copy)]
enum AttemptOn {
    /// On the driver in use.
    Here,
    /// On another driver, which is opened only if it `may_open`.
    Elsewhere { may_open: bool },
}

/// Whether an error says that elements are gone which may be computed again.
fn is_loss(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::DeviceLost | ErrorKind::Lost | ErrorKind::Poisoned)
}

/// Whether the cause of an error is that a device had no room, which it may have told late.
fn lacks_room(error: &Error) -> bool {
    let source = || std::error::Error::source(error)?.downcast_ref::<Error>();
    match error.kind() {
        ErrorKind::OutOfMemory => true,
        ErrorKind::Poisoned => source().is_some_and(lacks_room),
        _ => false,
    }
}

/// An error that says of a device without room how the program may go on.
fn advising(error: Error) -> Error {
    if !lacks_room(&error) || memory::is_refusal(&error) {
        return error;
    }
    let words = format!("{}; {ADVICE}", error.message());
    if error.message().ends_with(ADVICE) { error } else { error.says(words) }
}

/// The error to report of something that failed and failed again: the first one, unless the second
/// is a pause, or says which value is gone with the device.
fn telling(first: Error, second: Error) -> Error {
    match (first.kind(), second.kind()) {
        (_, ErrorKind::Interrupted) | (ErrorKind::DeviceLost, ErrorKind::Lost) => second,
        _ => first,
    }
}

/// Whether positions are computed, or need not be.
fn is_there(value: &Value, range: &Range<usize>) -> bool {
    !matches!(value.0.kind, ValueKind::Expr { .. }) || value.state().computed.covers(range.clone())
}

impl Context {
    /// Computes positions of a value on the driver in use; what it cannot, the others do in turn.
    pub(crate) fn compute(&self, value: &Value, range: Range<usize>) -> Result<()> {
        if is_there(value, &range) {
            return Ok(());
        }
        self.compute_and(value, range, |_| Ok(()))
    }

    /// Computes positions of a value and does something with them. When a device is lost meanwhile,
    /// all that can be computed again is: on the same driver, and then on another. When the system has no
    /// more memory, it gets back what is kept for reuse, and all is tried once more.
    pub(crate) fn compute_and<T>(
        &self,
        value: &Value,
        range: Range<usize>,
        then: impl Fn(&mut Engine) -> Result<T>,
    ) -> Result<T> {
        self.compute_demand(&Demand::of(value, range), then)
    }

    /// Computes what is asked for and does something with it, as `compute_and`.
    pub(crate) fn compute_demand<T>(
        &self,
        demand: &Demand<'_>,
        then: impl Fn(&mut Engine) -> Result<T>,
    ) -> Result<T> {
        let value = demand.value;
        if !demand.in_windows {
            policy::is_read();
        }
        if value.is_open() && !is_there(value, &demand.range) {
            self.open_up(value)?;
        }
        // Those of several values would be in the way of others, which may be written in their place.
        value.keep_operands(demand.next.is_empty());
        let mut done = self.try_once(demand, AttemptOn::Here, &then);
        if let Err(first) = &done
            && memory::is_refusal(first)
        {
            self.give_back()?;
            let again = self.try_once(demand, AttemptOn::Here, &then);
            done = again.map_err(|error| memory::of_array(error, value.shape(), value.dtype()));
        }
        for elsewhere in [false, true] {
            match done {
                Err(first) if is_loss(&first) => {
                    let attempt = match elsewhere {
                        false => AttemptOn::Here,
                        true => AttemptOn::Elsewhere { may_open: !lacks_room(&first) },
                    };
                    let again = self.try_once(demand, attempt, &then);
                    done = again.map_err(|second| telling(first, second));
                }
                _ => break,
            }
        }
        value.keep_operands(false);
        done.map_err(advising)
    }

    /// Gives the system all memory that is kept for reuse, or holds what can be copied again.
    fn give_back(&self) -> Result<()> {
        self.state()?.engine.devices.iter_mut().flatten().for_each(|device| {
            device.give_back();
        });
        self.trim()
    }

    /// Gives a value its host memory, so that nothing is computed that has no room.
    ///
    /// # Errors
    /// - `OutOfMemory`: the system has none for it.
    pub(crate) fn make_room_for(&self, value: &Value) -> Result<()> {
        if value.host_buffer().is_err() {
            self.give_back()?;
            value.host_buffer()?;
        }
        Ok(())
    }

    fn try_once<T>(
        &self,
        demand: &Demand<'_>,
        attempt: AttemptOn,
        then: impl Fn(&mut Engine) -> Result<T>,
    ) -> Result<T> {
        let Demand { value, range, .. } = demand;
        let interrupt = self.inner.interrupt.get();
        let mut aside = None;
        self.state()?.engine.residents.advance();
        loop {
            let mut state = self.state()?;
            // A pause may come right behind the last element: the evaluation ends by itself.
            if aside.is_none() && is_there(value, range) {
                return then(&mut state.engine);
            }
            let mut first = self.current(&mut state)?;
            if let AttemptOn::Elsewhere { may_open } = attempt
                && let Some(other) = self.others(&mut state, first, may_open).first()
            {
                first = *other;
                state.engine.stats.driver_fallbacks += 1;
            }
            self.tell_counts(&state);
            state.engine.slice.begin(interrupt.is_some());
            if let Some(aside) = aside.take() {
                state.engine.take_up(aside);
            }
            self.inner.tracer.begin(value, &[], range, false);
            let done = self.compute_from(&mut state, first, demand);
            self.inner.tracer.end(done.as_ref().err());
            match (done, interrupt) {
                // A pause; the engine is free meanwhile, so other threads may use it.
                (Err(error), Some(interrupt)) if error.kind() == ErrorKind::Interrupted => {
                    aside = Some(state.engine.lay_aside());
                    self.tell_all(&mut state);
                    drop(state);
                    if interrupt() {
                        return Err(error);
                    }
                }
                (done, _) => return done.and_then(|()| then(&mut state.engine)),
            }
        }
    }

    /// Computes on the open driver `first` and, where it may, the host driver; what fails there, on
    /// the others, where that is allowed.
    ///
    /// # Errors
    /// - `Interrupted`: the slice that the caller began is over.
    /// - `Unsupported`: no driver that may help can do an operation.
    pub(crate) fn compute_from(
        &self,
        state: &mut EngineState,
        first: usize,
        demand: &Demand<'_>,
    ) -> Result<()> {
        let name = state.registry.get(first).map_or("", |(name, _)| name);
        let told = |error: Error| error.with_default("driver", name);
        let is_final = |error: &Error| {
            matches!(
                error.kind(),
                ErrorKind::Invalid | ErrorKind::Interrupted | ErrorKind::File | ErrorKind::Busy
            ) || memory::is_refusal(error)
        };
        let order = self.order(state, first);
        let Err(mut error) = state.engine.evaluate(demand, &order).map_err(told) else {
            return Ok(());
        };
        let unsupported = error.kind() == ErrorKind::Unsupported;
        if unsupported && !order.shares && self.open_companion(state, first).is_some() {
            let order = self.order(state, first);
            match state.engine.evaluate(demand, &order).map_err(told) {
                Ok(()) => return Ok(()),
                Err(second) => error = second,
            }
        }
        if is_final(&error) {
            return Err(error);
        }
        if unsupported && self.inner.settings.placement == Placement::Strict {
            return Err(error.says(
                "the driver cannot do this, and GPUPY_PLACEMENT=strict lets nobody help: set it to \
                 auto, or choose another driver",
            ));
        }
        let may_open = !lacks_room(&error);
        // Lost devices may start again; the rest of the ladder is opened only when it is needed.
        if may_open && (order.shares || unsupported) {
            self.open_companion(state, first);
        }
        let mut order = match self.open(state, first) {
            Ok(()) => self.order(state, first),
            Err(_) => DeviceOrder::default(),
        };
        let others = self.others(state, first, may_open);
        order.falls = !others.is_empty();
        let known = order.devices.clone();
        order.devices.extend(others.into_iter().filter(|other| !known.contains(other)));
        if order.devices.is_empty() || !order.falls && !is_loss(&error) {
            return Err(error);
        }
        let again = state.engine.evaluate(demand, &order);
        again.map_err(|second| telling(error, second))
    }

    /// Tells what `compute_from` would do on the open driver `first`.
    ///
    /// # Errors
    /// As of `compute_from`.
    pub(crate) fn rehearse_from(
        &self,
        state: &mut EngineState,
        first: usize,
        demand: &Demand<'_>,
    ) -> Result<()> {
        let order = self.order(state, first);
        state.engine.rehearse(demand, &order)
    }

    /// The driver `first` and, where it is open, its companion.
    fn order(&self, state: &EngineState, first: usize) -> DeviceOrder {
        let is_open =
            |position: &usize| matches!(state.engine.devices.get(*position), Some(Some(_)));
        let companion = self.companion(state, first).filter(is_open);
        let devices = [first].into_iter().chain(companion).collect();
        DeviceOrder { devices, shares: companion.is_some(), falls: false }
    }

    /// The host driver, where placement lets it take part.
    fn helper(&self, state: &EngineState) -> Option<usize> {
        state.registry.host().filter(|_| self.inner.settings.placement == Placement::Auto)
    }

    /// Like `helper`, but opens the driver.
    pub(crate) fn host(&self, state: &mut EngineState) -> Option<usize> {
        let host = self.helper(state)?;
        self.open(state, host).ok().map(|()| host)
    }

    /// The host driver, if it is another than `first` and may share its work.
    fn companion(&self, state: &EngineState, first: usize) -> Option<usize> {
        self.helper(state).filter(|host| *host != first)
    }

    /// Like `companion`, but opens the driver at first need.
    pub(crate) fn open_companion(&self, state: &mut EngineState, first: usize) -> Option<usize> {
        let host = self.companion(state, first)?;
        self.open(state, host).ok().map(|()| host)
    }

    /// The rest of the ladder, as far as it is allowed, and starts; of drivers for GPUs those that are open, unless
    /// others `may_open`.
    fn others(&self, state: &mut EngineState, first: usize, may_open: bool) -> Vec<usize> {
        let strict = self.inner.settings.placement == Placement::Strict;
        if strict || !self.inner.driver_fallback.load(Ordering::Relaxed) {
            return Vec::new();
        }
        let is_auto = state.wanted == AUTO;
        let all = (0..state.registry.len()).filter(|position| *position != first);
        let all = all.filter(|position| !state.registry.is_chosen(*position)).collect::<Vec<_>>();
        let is_open = |state: &EngineState, position: usize| {
            state.engine.devices.get(position).is_some_and(Option::is_some)
        };
        all.into_iter()
            .filter(|position| {
                if !may_open && state.registry.looks_for_hardware(*position) {
                    return is_open(state, *position);
                }
                let asked = !is_auto || state.registry.may_have_hardware(*position);
                asked && self.open(state, *position).is_ok()
            })
            .collect()
    }

    /// The driver in use, opened at need, and the host driver beside it, where that takes part.
    pub(crate) fn current(&self, state: &mut EngineState) -> Result<usize> {
        let current = self.current_alone(state)?;
        // A host driver that fails to open is ignored; the chosen driver does the work.
        let _ = self.host(state);
        Ok(current)
    }

    fn current_alone(&self, state: &mut EngineState) -> Result<usize> {
        if let Some(chosen) = state.chosen {
            let Err(error) = self.open(state, chosen) else { return Ok(chosen) };
            // It was open before: the device is gone, and what is left of the ladder goes on.
            let next = self.others(state, chosen, !lacks_room(&error)).first().copied();
            let next = next.ok_or(error)?;
            state.engine.stats.driver_fallbacks += 1;
            state.chosen = Some(next);
            return Ok(next);
        }
        let wanted = state.wanted.clone();
        let chosen = self.choose(state, &wanted)?;
        state.chosen = Some(chosen);
        Ok(chosen)
    }

    /// Opens the driver of a name, or the best that starts.
    pub(crate) fn choose(&self, state: &mut EngineState, name: &str) -> Result<usize> {
        if name != AUTO {
            return self.choose_named(state, name);
        }
        // Hardware first, then the order of registration, software rasterisers last: opening one takes
        // long, and where memory is short its libraries end the process.
        let (seen, unseen): (Vec<usize>, Vec<usize>) = (0..state.registry.len())
            .filter(|p| !state.registry.is_chosen(*p))
            .partition(|p| state.registry.may_have_hardware(*p));
        let hardware = seen.iter().copied().find(|position| {
            let opened = self.open_as(state, *position, true);
            opened.is_ok() && state.engine.device(*position).is_ok_and(|d| d.caps.hardware)
        });
        if let Some(position) = hardware {
            return Ok(position);
        }
        let mut reasons = Vec::new();
        for position in seen.into_iter().chain(unseen) {
            match self.open(state, position) {
                Ok(()) => return Ok(position),
                Err(error) => reasons.push(error.to_string()),
            }
        }
        Err(Error::new(ErrorKind::Unavailable, "use")
            .says(format!("no driver starts: {}", reasons.join("; "))))
    }

    /// Closes all devices, having copied what lies only there to host memory. They open again at
    /// need. A device that no longer answers takes its values with it, as when it is lost.
    ///
    /// A process that is about to fork does this, because devices do not go along; until it has forked, no other thread
    /// may use the context. Where a reader asks, its evaluation needs the devices, and they stay.
    pub fn close(&self) {
        let Ok(mut state) = self.state() else { return };
        let mut open = state.engine.devices.iter().flatten();
        let shared = open.any(|device| device.caps.lends != 0);
        state.shared_before |= shared;
        let Engine { devices, counts, .. } = &mut state.engine;
        for (device, counts) in devices.iter_mut().zip(counts) {
            if let Some(mut device) = device.take() {
                device.save_all(counts);
            }
        }
    }

    /// Opens the driver of a name.
    fn choose_named(&self, state: &mut EngineState, name: &str) -> Result<usize> {
        let found = Self::found(state, name, |state, position| self.open(state, position));
        found.map(|(position, ())| position)
    }

    /// The driver of a name, and what opening it gives. A plug-in or a selection of devices that does not start is not
    /// remembered.
    fn found<T>(
        state: &mut EngineState,
        name: &str,
        open: impl FnOnce(&mut EngineState, usize) -> Result<T>,
    ) -> Result<(usize, T)> {
        let known = state.registry.len();
        state.registry.register_words(name);
        state.engine.resize(state.registry.len());
        let position = state.registry.find(name)?;
        let opened = open(state, position);
        if opened.is_err() && position == known {
            state.registry.unregister_last();
            state.engine.resize(known);
        }
        Ok((position, opened?))
    }

    /// Opens a driver unless it is open.
    pub(crate) fn open(&self, state: &mut EngineState, position: usize) -> Result<()> {
        self.open_as(state, position, false)
    }

    /// Opens a driver unless it is open; with `hardware`, only if its device is a hardware GPU.
    fn open_as(&self, state: &mut EngineState, position: usize, hardware: bool) -> Result<()> {
        if state.engine.devices.get(position).is_some_and(Option::is_some) {
            return Ok(());
        }
        let device = self.opened(&state.registry, position, (hardware, false))?;
        state.engine.devices[position] = Some(device);
        Ok(())
    }

    /// Opens the driver of a name so that it shares its objects with the context that is current in this thread, and
    /// puts it in the place of the one that is open.
    pub(crate) fn shared(&self, state: &mut EngineState, name: &str) -> Result<usize> {
        let (position, device) = Self::found(state, name, |state, position| {
            let mut device = self.opened(&state.registry, position, (false, true))?;
            if device.caps.lends > 0 {
                return Ok(device);
            }
            device.lose_all();
            Err(Error::new(ErrorKind::Unsupported, "use")
                .says("the driver shares its objects with no renderer")
                .with("driver", name))
        })?;
        let Engine { devices, counts, .. } = &mut state.engine;
        if let Some(mut before) = devices[position].replace(device) {
            before.save_all(&mut counts[position]);
        }
        Ok(position)
    }

    /// A driver that was just opened; as `open_as`, and with `share` as of `shared`.
    fn opened(
        &self,
        registry: &Registry,
        position: usize,
        (hardware, share): (bool, bool),
    ) -> Result<OpenDevice> {
        let Some((name, constructor)) = registry.get(position) else {
            return Err(Error::new(ErrorKind::Unknown, "use").says("there is no such driver"));
        };
        let mut driver = constructor();
        let config = Config {
            block_bytes: self.inner.settings.block_bytes,
            device_bytes: self.inner.settings.device_bytes,
            resources: self.inner.settings.resources,
            threads: self.inner.settings.threads,
            device: registry.device(position).unwrap_or(&self.inner.settings.device).to_string(),
            hardware,
            share,
        };
        let caps = driver.init(&config).map_err(|error| {
            let error = error.with("driver", name);
            match registry.device(position) {
                None if !config.device.is_empty() => error.with("GPUPY_DEVICE", &config.device),
                _ => error,
            }
        })?;
        if let Some(device) = registry.device(position)
            && let Err(error) = caps.check_chosen(device)
        {
            driver.cleanup();
            return Err(error.with("driver", name));
        }
        if hardware && !caps.hardware {
            driver.cleanup();
            return Err(Error::new(ErrorKind::Unavailable, "init")
                .says("the device is no hardware GPU")
                .with("driver", name)
                .with("device", caps.device));
        }
        // Tiles may be smaller than any driver's smallest block, for the tests of tiling.
        let tile_len = match self.inner.settings.block_bytes {
            0 => usize::MAX,
            bytes => (bytes / DType::F32.size() as u64) as usize,
        };
        let tracer = self.inner.tracer.priced(cost::prices(&caps));
        let (driver, caps) = lowering_driver::provided(driver, caps);
        let mut device = OpenDevice::new(BlockCache::new(name, driver, caps, tile_len, tracer));
        device.keeps_flushes = self.inner.settings.plans;
        Ok(device)
    }
}
