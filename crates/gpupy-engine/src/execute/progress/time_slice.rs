//! Time slices: how long an evaluation runs before it pauses to ask whether to go on.
//!
//! Owns [`TimeSlice`]. A front end may have other duties while one of its threads waits for an evaluation: a signal,
//! another thread that wants the engine, a fork. So an evaluation pauses when its slice is over, between two commands:
//! it fails with `Interrupted`, releases the engine, asks, and usually goes on where it stood. Invariants: evaluations
//! pause only if a hook is set; in each slice a command is done.
//!
//! Not here: the question (`Context::set_interrupt`), where an evaluation stands (`mod.rs`).

use gpupy_core::{Error, ErrorKind, Result};
use std::time::{Duration, Instant};

/// The present slice, and how much work a device may have queued in it.
pub(crate) struct TimeSlice {
    length: Duration,
    end: Option<Instant>,
    /// Whether a command was done in it.
    moved: bool,
    /// Operations on elements that were launched since the device was last waited for.
    queued: u64,
    /// How many of these before it is waited for.
    allowed: u64,
}

impl TimeSlice {
    /// No slice yet.
    pub fn new(length: Duration) -> TimeSlice {
        TimeSlice { length, end: None, moved: false, queued: 0, allowed: 1 << 28 }
    }

    /// Begins a slice, or work that is never paused.
    pub fn begin(&mut self, pauses: bool) {
        self.end = pauses.then(|| Instant::now() + self.length);
        self.moved = false;
    }

    /// Notes that a command was done.
    pub fn moved(&mut self) {
        self.moved = true;
    }

    /// Goes on while the slice lasts; asked between commands.
    ///
    /// # Errors
    /// - `Interrupted`: it is over.
    pub fn check(&self) -> Result<()> {
        if self.moved && self.end.is_some_and(|end| Instant::now() >= end) {
            return Err(Error::new(ErrorKind::Interrupted, "evaluate"));
        }
        Ok(())
    }

    /// Whether so many operations on elements may be queued at once.
    pub fn allows(&self, work: usize) -> bool {
        work as u64 <= self.allowed
    }

    /// Notes a launch. True when so much is queued that the device has to be waited for: a driver
    /// that only queues would otherwise be through with a slice long before its device.
    pub fn queue(&mut self, operations: usize, elements: usize) -> bool {
        let work = (operations as u64).saturating_mul(elements as u64);
        self.queued = self.queued.saturating_add(work);
        self.end.is_some() && self.queued >= self.allowed
    }

    /// Notes how long it took the device to do what was queued. A fast one may have more queued, so
    /// that it seldom stands still.
    pub fn waited(&mut self, time: Duration) {
        self.queued = 0;
        if time > self.length {
            self.allowed = (self.allowed / 2).max(1 << 20);
        } else if time < self.length / 4 {
            self.allowed = self.allowed.saturating_mul(2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slice_pauses_only_after_a_command() {
        let mut slice = TimeSlice::new(Duration::ZERO);
        slice.moved();
        assert!(slice.check().is_ok(), "no slice was begun");
        slice.begin(true);
        assert!(slice.check().is_ok(), "nothing is done");
        slice.moved();
        assert_eq!(slice.check().map_err(|e| e.kind()), Err(ErrorKind::Interrupted));
        slice.begin(false);
        slice.moved();
        assert!(slice.check().is_ok(), "it is never paused");
    }

    #[test]
    fn devices_may_have_more_queued_the_faster_they_are() {
        let mut slice = TimeSlice::new(Duration::from_millis(100));
        slice.begin(true);
        assert!(!slice.queue(1, 1 << 20));
        assert!(slice.queue(256, 1 << 20));
        slice.waited(Duration::from_millis(1));
        assert!(!slice.queue(256, 1 << 20));
        assert!(slice.queue(256, 1 << 20));
        slice.waited(Duration::from_secs(1));
        assert!(slice.queue(256, 1 << 20));
    }
}
