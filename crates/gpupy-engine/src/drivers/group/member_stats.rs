//! What each member of a group did.
//!
//! Owns [`MemberStats`] and the [`Log`] that keeps them, also while the group is closed.
//!
//! Not here: the counts of the group as one driver (`explain/stats.rs`).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Running counts of a member of a group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MemberStats {
    /// The words that chose it: a driver's name, and the device where one was given.
    pub name: String,
    /// The device's name, as its API gives it; empty before the first opening.
    pub device: String,
    /// Launches that it evaluated alone.
    pub launches: u64,
    /// Slabs of launches that it shared with others.
    pub slabs: u64,
    /// Slabs that it evaluated because another member had failed.
    pub taken_over: u64,
    /// Bytes that it was given: from host memory and from other members.
    pub bytes_in: u64,
    /// Bytes that were read of its memory.
    pub bytes_out: u64,
    /// Times that it failed at what another member then did, or was lost.
    pub failures: u64,
    /// The part of a shared launch that it gets, from 0 to 1; 0 while it is closed or lost.
    pub share: f64,
}

/// The counts of all members of a group, in the order in which they were chosen.
#[derive(Clone, Debug, Default)]
pub struct Log(Arc<Mutex<Vec<MemberStats>>>);

impl Log {
    /// A log of members with these names, which did nothing yet.
    pub(super) fn of(names: impl Iterator<Item = String>) -> Log {
        let members = names.map(|name| MemberStats { name, ..MemberStats::default() });
        Log(Arc::new(Mutex::new(members.collect())))
    }

    fn locked(&self) -> MutexGuard<'_, Vec<MemberStats>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The counts of now.
    pub fn members(&self) -> Vec<MemberStats> {
        self.locked().clone()
    }

    /// Changes the counts of a member.
    pub(super) fn note(&self, member: usize, change: impl FnOnce(&mut MemberStats)) {
        if let Some(stats) = self.locked().get_mut(member) {
            change(stats);
        }
    }

    /// Sets all counts to zero; what is known of the members stays.
    pub(crate) fn reset(&self) {
        for stats in self.locked().iter_mut() {
            let MemberStats { name, device, share, .. } = std::mem::take(stats);
            *stats = MemberStats { name, device, share, ..MemberStats::default() };
        }
    }
}
