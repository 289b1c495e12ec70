//! The conformance suite: it tests whether a driver keeps the contract.
//!
//! Owns [`run`] and [`check`]. A driver's author writes one test:
//!
//! ```no_run
//! # fn new() -> Box<dyn gpupy_core::driver::Driver> { unimplemented!() }
//! gpupy_conformance::check(new);
//! ```
//!
//! The cases are in `cases/`: a file for each function of the contract (`cases/contract/`) and for each level above it.
//!
//! Invariants: nothing here names a driver; a difference between drivers is a capability, an `Absent` method or
//! an `Unsupported` form, and becomes a counted skip with its reason. Expected values come from an interpreter
//! of this crate (`oracle.rs`, `arithmetic.rs`), never from the code under test.
//!
//! Not here: the contract itself (`gpupy_core::driver`).

mod cases;
mod data;
mod drivers;
mod expect;
mod model_based;
mod reporting;
mod share;
mod suite;

pub use reporting::report::{Case, Report, Verdict};
pub use reporting::skipped::skipped;
pub use suite::{Options, Wanted};

use gpupy_core::Error;
use gpupy_core::driver::{Config, Driver};
use gpupy_engine::{Constructor, Settings, Stats};
use reporting::outcome::Stop;
use std::cell::RefCell;
use std::sync::Arc;

/// The names of the groups of cases: the functions of the contract, then the levels.
pub fn groups() -> impl Iterator<Item = &'static str> {
    cases::FUNCTIONS.iter().chain(cases::LEVELS).map(|(name, _)| *name)
}

/// The full names, `group/case`, of all cases, in the order in which they run. No driver is needed.
pub fn list() -> Vec<String> {
    let names = RefCell::new(Vec::new());
    let note = |group: &str, name: &str| {
        names.borrow_mut().push(format!("{group}/{name}"));
        false
    };
    let options = Options { wanted: Some(&note), ..Options::default() };
    // No case runs, so no driver is made.
    cases::run(&mut suite::Suite::new(Arc::new(|| unreachable!("no case runs")), options));
    names.into_inner()
}

/// Runs cases on a driver.
///
/// # Errors
/// - The driver's own error, where it does not start at all.
pub fn run(
    make: impl Fn() -> Box<dyn Driver> + Send + Sync + 'static,
    options: Options<'_>,
) -> Result<Report, Error> {
    reporting::trace::set(options.tell);
    let make: Constructor = match options.tell {
        true => Arc::new(move || drivers::logging_driver::LoggingDriver::boxed(make())),
        false => Arc::new(make),
    };
    let mut suite = suite::Suite::new(make, options);
    suite.open()?;
    cases::run(&mut suite);
    Ok(suite.end())
}

/// Asserts that a driver passes every case; prints the table of results either way.
///
/// # Panics
/// When a case fails, or the driver does not start.
pub fn check(make: impl Fn() -> Box<dyn Driver> + Send + Sync + 'static) {
    check_with(make, &[]);
}

/// Like [`check`], for a driver that is known to fail some cases: each as `group/case`, with a
/// reason.
///
/// # Panics
/// When another case fails, when one of these does not, or when the driver does not start.
pub fn check_with(
    make: impl Fn() -> Box<dyn Driver> + Send + Sync + 'static,
    expected: &[(&str, &str)],
) {
    assert_passes(make, Options { expected, ..Options::default() });
}

/// Like [`check`], for some cases: `wanted` is called with the names of their group and their own.
///
/// # Panics
/// When one of them fails, or the driver does not start.
pub fn check_some(
    make: impl Fn() -> Box<dyn Driver> + Send + Sync + 'static,
    wanted: impl Fn(&str, &str) -> bool,
) {
    assert_passes(make, Options { wanted: Some(&wanted), ..Options::default() });
}

/// Like [`check_some`], for a variant of a driver that another test checks whole: where a commit's share of the tests
/// runs (`cargo xtask test`), some of the cases, and the rest are [`skipped`].
///
/// # Panics
/// When one of them fails, or the driver does not start.
pub fn check_variant(
    make: impl Fn() -> Box<dyn Driver> + Send + Sync + 'static,
    wanted: impl Fn(&str, &str) -> bool,
) {
    let share = share::CaseShare::wanted();
    if share.is_some() {
        let parts = share::PARTS;
        skipped(format_args!("all but one of {parts} cases, which `cargo xtask test all` runs"));
    }
    check_some(make, |group, name| {
        wanted(group, name) && share.as_ref().is_none_or(|share| share.has(group, name))
    });
}

fn assert_passes(make: impl Fn() -> Box<dyn Driver> + Send + Sync + 'static, options: Options<'_>) {
    match run(make, options) {
        Ok(report) => {
            println!("{report}");
            let failed = report.count(Verdict::Failed);
            assert!(failed == 0, "{failed} cases failed");
        }
        Err(error) => panic!("the driver does not start: {error}"),
    }
}

/// Like [`check`], but a driver that cannot start here is [`skipped`] with the reason.
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
        Err(error) => skipped(format_args!("the driver does not start: {error}")),
    }
}

/// Runs random programs of arrays on a driver, one after another in one context. After each program, which
/// leaves nothing on the device, `after` is called with the number of programs and the counters.
///
/// # Errors
/// A description of the failure: a wrong result, or something that a program has left behind.
pub fn stress(
    make: impl Fn() -> Box<dyn Driver> + Send + Sync + 'static,
    programs: u64,
    after: impl FnMut(u64, &Stats),
) -> Result<(), String> {
    // Plans are kept, up to a bound of their own.
    let settings = Settings { plans: false, ..Settings::default() };
    match cases::leaks::live(Arc::new(make), settings, programs, after) {
        Ok(()) => Ok(()),
        Err(Stop::Fail(said) | Stop::Skip(said)) => Err(said),
    }
}
