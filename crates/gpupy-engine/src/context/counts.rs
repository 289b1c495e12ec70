//! Drivers and counts as a front end sees them, also while another thread evaluates.
//!
//! Invariant: asking for counts waits for no evaluation.
//!
//! Not here: the last known numbers (`last_snapshot.rs`), counting (`stats.rs`, `cache/`).

use super::Context;
use super::last_snapshot::{Counts, DriverReport, locked};
use crate::context::exports::pin;
use crate::drivers::group::MemberStats;
use crate::execute::engine_state::EngineState;
use crate::execute::evaluate::Engine;
use crate::explain::stats::Stats;
use gpupy_core::Result;
use std::sync::{MutexGuard, TryLockError};
use std::time::Duration;

/// How often the engine is asked for, and how long to wait in between: small work has it for microseconds.
const TRIES: u32 = 5;
const BETWEEN: Duration = Duration::from_micros(200);

impl Context {
    /// The engine, unless another thread has it for longer than small work takes.
    fn state_soon(&self) -> Option<MutexGuard<'_, EngineState>> {
        for attempt in 0..TRIES {
            if attempt > 0 {
                std::thread::sleep(BETWEEN);
            }
            match self.inner.state.try_lock() {
                Ok(state) => return Some(state),
                Err(TryLockError::Poisoned(state)) => return Some(state.into_inner()),
                Err(TryLockError::WouldBlock) => {}
            }
        }
        None
    }

    /// Notes the counts at the start of a slice, for threads that ask while the evaluation goes on.
    pub(crate) fn tell_counts(&self, state: &EngineState) {
        let Engine { devices, counts, stats, .. } = &state.engine;
        let mut told = locked(&self.inner.told.counts);
        told.whole = *stats;
        // What is closed counts nothing.
        for ((device, counts), (_, known)) in devices.iter().zip(counts).zip(&mut told.drivers) {
            if device.is_some() {
                *known = *counts;
            }
        }
    }

    /// Notes them for all drivers, and what the devices hold.
    pub(crate) fn tell_all(&self, state: &mut EngineState) {
        let EngineState { registry, engine, .. } = state;
        let mut told = locked(&self.inner.told.counts);
        told.whole = engine.stats;
        told.drivers = registry.names().zip(engine.counts.iter().copied()).collect();
        let held = engine.devices.iter_mut().map(|device| {
            let mut held = Stats::default();
            if let Some(device) = device {
                device.sweep();
                device.count(&mut held);
            }
            held
        });
        told.held = held.collect();
        told.groups = registry.groups().map(|(name, log)| (name, log.members())).collect();
    }

    /// The numbers of now, or those that were noted last.
    fn counts(&self) -> Counts {
        if let Some(mut state) = self.state_soon() {
            self.tell_all(&mut state);
        }
        locked(&self.inner.told.counts).clone()
    }

    /// Counts since the context was made or they were reset, and what there is now; while another thread
    /// evaluates, those of when its present slice began.
    pub fn stats(&self) -> Stats {
        let counts = self.counts();
        let mut stats = counts.whole;
        counts.each().for_each(|(_, driver)| stats += driver);
        stats.values = self.inner.dispatch.recorder().living() as u64;
        stats.pins = pin::living();
        stats
    }

    /// Counts of each driver, by name; counts that belong to no driver are 0.
    pub fn driver_stats(&self) -> Vec<(&'static str, Stats)> {
        self.counts().each().collect()
    }

    /// What the members of groups of devices did, by the groups' names.
    pub fn group_stats(&self) -> Vec<(&'static str, Vec<MemberStats>)> {
        self.counts().groups
    }

    /// Sets all counts to zero; what is on the devices stays.
    ///
    /// # Errors
    /// - `Busy`: a reader asks.
    pub fn reset_stats(&self) -> Result<()> {
        let mut state = self.state()?;
        let Engine { counts, stats, .. } = &mut state.engine;
        counts.iter_mut().chain([stats]).for_each(|counts| *counts = Stats::default());
        state.registry.groups().for_each(|(_, log)| log.reset());
        self.tell_all(&mut state);
        Ok(())
    }

    /// Every driver with what it can, or why it does not start. Opens those that are not open. While another
    /// thread evaluates, as it was told last, if it ever was.
    ///
    /// # Errors
    /// - `Busy`: a reader asks, and it was never told.
    pub fn drivers(&self) -> Result<Vec<DriverReport>> {
        let mut state = match self.state_soon() {
            Some(state) => state,
            None => match locked(&self.inner.told.drivers).clone() {
                Some(known) => return Ok(known),
                None => self.state()?,
            },
        };
        let all = (0..state.registry.len()).filter_map(|position| {
            let (name, _) = state.registry.get(position)?;
            let found = self.open(&mut state, position);
            Some((name, found.and_then(|()| Ok(state.engine.device(position)?.caps.clone()))))
        });
        let all: Vec<DriverReport> = all.collect();
        *locked(&self.inner.told.drivers) = Some(all.clone());
        Ok(all)
    }
}
