//! Time slices: how long an evaluation runs before it pauses to ask whether to go on.
//!
//! Owns [`TimeSlice`]. A front end may have other duties while one of its threads waits for an evaluation: a signal,
//! another thread that wants the engine, a fork. So an evaluation pauses when its slice is over, between two commands:
//! it fails with `Interrupted`, releases the engine, asks, and usually goes on where it stood (`pauses.rs`). If another
//! evaluation came between, it plans anew, and finds the tiles that are computed. Invariants: evaluations pause only if
//! a hook is set; a slice that pauses has added a tile to those computed; one that planned anew goes on for as long as
//! its planning took, within reason, so that pauses at most about double the time of an evaluation.
//!
//! Not here: the question (`Context::set_interrupt`), where an evaluation stands (`mod.rs`).

use crate::thresholds::T;
use gpupy_core::{Error, ErrorKind, Result};
use std::time::{Duration, Instant};

/// The present slice, and how much work a device may have queued in it.
pub(crate) struct TimeSlice {
    length: Duration,
    began: Option<Instant>,
    end: Option<Instant>,
    /// Whether something was computed in this slice that is kept.
    kept: bool,
    /// Whether what was planned before this slice is lost, so that it has to compute something before it ends.
    plans_anew: bool,
    /// Whether the last results are kept only if the slice goes on.
    held: bool,
    /// Operations on elements that were launched since the device was last waited for.
    queued: u64,
    /// How many of these before it is waited for.
    allowed: u64,
}

impl TimeSlice {
    /// No slice yet.
    pub fn new(length: Duration) -> TimeSlice {
        TimeSlice {
            length,
            began: None,
            end: None,
            kept: false,
            plans_anew: false,
            held: false,
            queued: 0,
            allowed: 1 << 28,
        }
    }

    /// Begins a slice, or work that is never paused.
    pub fn begin(&mut self, pauses: bool) {
        self.began = pauses.then(Instant::now);
        self.end = self.began.map(|began| began + self.length);
        (self.kept, self.plans_anew) = (false, false);
        self.held = false;
    }

    /// Says that the evaluation plans anew in this slice what it had planned before.
    pub fn plan_anew(&mut self) {
        self.plans_anew = true;
    }

    /// Says whether a pause would lose results.
    pub fn hold(&mut self, held: bool) {
        self.held = held;
    }

    /// Whether a pause would lose results.
    pub fn held(&self) -> bool {
        self.held
    }

    /// Notes that something was computed that is kept.
    pub fn keep(&mut self) {
        if self.plans_anew && !self.kept {
            // What was planned until now may be lost with the next pause.
            let now = Instant::now();
            let most = self.length * T.slices_after_planning;
            self.end = self.began.map(|began| now + (now - began).clamp(self.length, most));
        }
        self.kept = true;
    }

    /// Whether something was computed in this slice that is kept.
    pub fn kept(&self) -> bool {
        self.kept
    }

    /// Takes back what was noted since this was so, as it is let go again.
    pub fn take_back(&mut self, kept: bool) {
        self.kept = kept;
    }

    /// Goes on while the slice lasts; asked between commands.
    ///
    /// # Errors
    /// - `Interrupted`: it is over.
    pub fn check(&self) -> Result<()> {
        if self.kept && !self.held && self.end.is_some_and(|end| Instant::now() >= end) {
            return Err(Error::new(ErrorKind::Interrupted, "evaluate"));
        }
        Ok(())
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
    fn a_slice_pauses_only_after_something_is_kept() {
        let mut slice = TimeSlice::new(Duration::ZERO);
        slice.keep();
        assert!(slice.check().is_ok(), "no slice was begun");
        slice.begin(true);
        assert!(slice.check().is_ok(), "nothing is kept");
        slice.keep();
        slice.hold(true);
        assert!(slice.check().is_ok(), "it would be lost");
        slice.hold(false);
        assert_eq!(slice.check().map_err(|e| e.kind()), Err(ErrorKind::Interrupted));
        slice.begin(false);
        slice.keep();
        assert!(slice.check().is_ok(), "it is never paused");
    }

    #[test]
    fn a_slice_that_plans_anew_computes_for_as_long_as_it_planned() {
        let mut slice = TimeSlice::new(Duration::from_nanos(1));
        slice.begin(true);
        slice.plan_anew();
        slice.length = Duration::from_secs(1);
        slice.began = slice.began.map(|began| began - Duration::from_secs(10));
        assert!(slice.check().is_ok(), "the plan would be lost");
        slice.keep();
        let lasts = slice.end.zip(slice.began).map(|(end, began)| end - began);
        assert!(lasts >= Some(Duration::from_secs(20)), "{lasts:?}");
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
