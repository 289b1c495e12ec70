//! The last known state of drivers and counts.
//!
//! Owns [`LastSnapshot`]: the numbers as they were when the running evaluation began its present slice, and the drivers
//! as they were asked last.
//!
//! Not here: updating and reading it (`counts.rs`).

use crate::drivers::group::MemberStats;
use crate::explain::stats::Stats;
use gpupy_core::Result;
use gpupy_core::driver::Capabilities;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A driver's name with what it can, or why it does not start.
pub(crate) type DriverReport = (&'static str, Result<Capabilities>);

/// The last known state.
#[derive(Default)]
pub(crate) struct LastSnapshot {
    pub counts: Mutex<Counts>,
    pub drivers: Mutex<Option<Vec<DriverReport>>>,
}

#[derive(Clone, Default)]
pub(crate) struct Counts {
    /// The counts that belong to no driver.
    pub whole: Stats,
    pub drivers: Vec<(&'static str, Stats)>,
    /// The contents of each driver's device, which take longer to count.
    pub held: Vec<Stats>,
    /// What the members of each group did.
    pub groups: Vec<(&'static str, Vec<MemberStats>)>,
}

pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Counts {
    /// Each driver's counts with what its device holds.
    pub fn each(&self) -> impl Iterator<Item = (&'static str, Stats)> + '_ {
        self.drivers.iter().zip(&self.held).map(|((name, counts), held)| {
            let mut all = *counts;
            all += *held;
            (*name, all)
        })
    }
}
