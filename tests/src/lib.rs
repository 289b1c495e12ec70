//! The conformance suite: does a driver keep the contract?
//!
//! Owns [`run`] and [`check`]. A driver's author writes one test:
//!
//! ```no_run
//! # fn new() -> Box<dyn gpupy_core::driver::Driver> { unimplemented!() }
//! gpupy_conformance::check(new);
//! ```
//!
//! Invariants: nothing here names a driver; what differs between drivers is a capability, an
//! `Absent` method or an `Unsupported` form, and becomes a counted skip with its reason. Expected
//! values come from an interpreter of this crate's own (`oracle.rs`, `arithmetic.rs`), never from
//! the code under test.
//!
//! Not here: the contract itself (`gpupy_core::driver`).

mod arithmetic;
mod cases;
mod compare;
mod device;
mod model;
mod oracle;
mod report;
mod samples;
mod watch;
mod world;

pub use report::{Failure, Group, Report};

use gpupy_core::Error;
use gpupy_core::driver::{Config, Driver};
use std::sync::Arc;

/// The names of the groups of cases.
pub fn groups() -> impl Iterator<Item = &'static str> {
    cases::GROUPS.iter().map(|(name, _)| *name)
}

/// Runs every case on a driver.
///
/// # Errors
/// - The driver's own error, where it does not start at all.
pub fn run(make: impl Fn() -> Box<dyn Driver> + Send + Sync + 'static) -> Result<Report, Error> {
    run_only(make, |_| true)
}

/// Runs the groups of cases whose names are wanted.
///
/// # Errors
/// - The driver's own error, where it does not start at all.
pub fn run_only(
    make: impl Fn() -> Box<dyn Driver> + Send + Sync + 'static,
    wanted: impl Fn(&str) -> bool,
) -> Result<Report, Error> {
    let mut report = Report::default();
    let mut suite = cases::Suite::open(Arc::new(make), &mut report)?;
    for (name, run) in cases::GROUPS {
        if wanted(name) {
            run(&mut suite);
        }
    }
    Ok(report)
}

/// Asserts that a driver passes every case; prints the table of results either way.
///
/// # Panics
/// When a case fails, or the driver does not start.
pub fn check(make: impl Fn() -> Box<dyn Driver> + Send + Sync + 'static) {
    match run(make) {
        Ok(report) => {
            println!("{report}");
            assert!(report.failures.is_empty(), "{} cases failed", report.failures.len());
        }
        Err(error) => panic!("the driver does not start: {error}"),
    }
}

/// Like [`check`], but a driver that cannot start here is skipped, and the reason printed.
///
/// # Panics
/// When a case fails.
pub fn check_if_it_starts(make: impl Fn() -> Box<dyn Driver> + Send + Sync + 'static) {
    let mut driver = make();
    match driver.init(&Config::default()) {
        Ok(_) => {
            driver.cleanup();
            check(make);
        }
        Err(error) => println!("skipped, the driver does not start: {error}"),
    }
}
