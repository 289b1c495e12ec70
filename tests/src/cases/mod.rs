//! All cases, by group.
//!
//! Owns [`Suite`]. Invariant: a case that panics is a failed case, and the next one gets a driver
//! that is newly opened.
//!
//! Not here: launches and comparisons (`device.rs`).

mod arrays;
mod conversions;
mod destinations;
mod elementwise;
mod faults;
mod functions;
mod large;
mod limits;
mod random;
mod reductions;
mod regions;
mod views;

use crate::device::Device;
use crate::report::{Outcome, Report, Stop, fail};
use gpupy_core::driver::Config;
use gpupy_core::{Constructor, Error, Scalar};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A group's name, and what runs its cases.
type Group = (&'static str, fn(&mut Suite<'_>));

/// The groups, in the order in which they run.
pub const GROUPS: &[Group] = &[
    (functions::GROUP, functions::run),
    (elementwise::GROUP, elementwise::run),
    (conversions::GROUP, conversions::run),
    (views::GROUP, views::run),
    (destinations::GROUP, destinations::run),
    (reductions::GROUP, reductions::run),
    (regions::GROUP, regions::run),
    (random::GROUP, random::run),
    (large::GROUP, large::run),
    (limits::GROUP, limits::run),
    (arrays::GROUP, arrays::run),
    (faults::GROUP, faults::run),
];

/// The driver under test and the report so far.
pub struct Suite<'a> {
    make: Constructor,
    report: &'a mut Report,
    device: Option<Device>,
}

impl<'a> Suite<'a> {
    pub fn open(make: Constructor, report: &'a mut Report) -> Result<Suite<'a>, Error> {
        let device = Device::open(&*make, &Config::default())?;
        report.device = device.caps.device.clone();
        Ok(Suite { make, report, device: Some(device) })
    }

    /// Runs a case on the driver that is open with the device's own limits.
    pub fn case(
        &mut self,
        group: &'static str,
        name: &str,
        case: impl FnOnce(&mut Device) -> Outcome,
    ) {
        let (make, device) = (&*self.make, self.device.take());
        let ran = guarded(|| {
            let mut device = match device {
                Some(device) => device,
                None => Device::open(make, &Config::default()).map_err(does_not_open)?,
            };
            Ok((case(&mut device), device))
        });
        let outcome = ran.and_then(|(outcome, device)| {
            self.device = Some(device);
            outcome
        });
        self.report.record(group, name, outcome);
    }

    /// Runs a case on a driver of its own, opened with this configuration.
    pub fn case_with(
        &mut self,
        group: &'static str,
        name: &str,
        config: &Config,
        case: impl FnOnce(&mut Device) -> Outcome,
    ) {
        let make = &*self.make;
        let outcome = guarded(|| {
            let mut device = Device::open(make, config).map_err(does_not_open)?;
            let outcome = case(&mut device);
            device.driver.cleanup();
            outcome
        });
        self.report.record(group, name, outcome);
    }

    /// Runs a case that opens what it needs by itself.
    pub fn apart(&mut self, group: &'static str, name: &str, case: impl FnOnce() -> Outcome) {
        self.report.record(group, name, guarded(case));
    }

    /// What makes the driver under test.
    pub fn constructor(&self) -> Constructor {
        self.make.clone()
    }
}

fn does_not_open(error: Error) -> Stop {
    Stop::Fail(format!("the driver does not open again: {error}"))
}

/// Compares what was moved, not computed: every bit counts.
fn same(got: &[Scalar], wanted: &[Scalar], what: &str) -> Outcome {
    let differ = got.iter().zip(wanted).position(|(got, wanted)| got.bits != wanted.bits);
    match differ {
        _ if got.len() != wanted.len() => {
            fail(format!("{what}: {} elements, not {}", got.len(), wanted.len()))
        }
        Some(at) => {
            let (got, wanted) = (got[at], wanted[at]);
            fail(format!(
                "{what}: element {at} is {got} ({:#x}), not {wanted} ({:#x})",
                got.bits, wanted.bits
            ))
        }
        None => Ok(()),
    }
}

/// A panic as a failure.
fn guarded<T>(case: impl FnOnce() -> Outcome<T>) -> Outcome<T> {
    catch_unwind(AssertUnwindSafe(case)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
        Err(Stop::Fail(format!("panicked: {said}")))
    })
}
