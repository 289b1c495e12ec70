//! Runs cases, one after another, on one driver.
//!
//! Owns [`Suite`] and [`Options`]. Invariants: a case that panics is a failed case, and the next
//! one gets a driver that is newly opened; a case that is expected to fail and does not is a failed
//! case.
//!
//! Not here: the cases (`cases/`), launches and comparisons (`device.rs`).

use crate::drivers::device::Device;
use crate::reporting::outcome::{Outcome, Stop, fine, guarded};
use crate::reporting::report::{Case, Report, Verdict};
use gpupy_core::Error;
use gpupy_core::driver::Config;
use gpupy_engine::Constructor;
use std::time::Instant;

/// Decides by group and name whether a case is wanted.
pub type Wanted<'a> = dyn Fn(&str, &str) -> bool + 'a;

/// The cases to run, and the receiver of results.
#[derive(Default)]
pub struct Options<'a> {
    /// Tells by group and name which cases run; without it, all.
    pub wanted: Option<&'a Wanted<'a>>,
    /// Cases that this driver is known to fail, each as `group/case` with a reason. One that
    /// passes, is skipped or does not exist is a failure.
    pub expected: &'a [(&'a str, &'a str)],
    /// Whether cases tell everything that they do, on standard output.
    pub tell: bool,
    /// Called with each case when it has ended.
    pub heard: Option<&'a mut dyn FnMut(&Case)>,
}

/// The driver under test, and the report so far.
pub struct Suite<'a> {
    make: Constructor,
    options: Options<'a>,
    report: Report,
    device: Option<Device>,
}

impl<'a> Suite<'a> {
    /// A suite whose driver is not open.
    pub fn new(make: Constructor, options: Options<'a>) -> Suite<'a> {
        Suite { make, options, report: Report::default(), device: None }
    }

    /// Opens the driver, which names its device.
    pub fn open(&mut self) -> Result<(), Error> {
        let device = Device::open(&*self.make, &Config::default())?;
        self.report.device = device.caps.device.clone();
        self.device = Some(device);
        Ok(())
    }

    /// Runs a case on the driver that is open with the device's own limits.
    pub fn case(
        &mut self,
        group: &'static str,
        name: &str,
        case: impl FnOnce(&mut Device) -> Outcome,
    ) {
        self.run(group, name, |suite| {
            let (make, device) = (&*suite.make, suite.device.take());
            let ran = guarded(|| {
                let mut device = match device {
                    Some(device) => device,
                    None => open(make, &Config::default())?,
                };
                Ok((case(&mut device), device))
            });
            ran.and_then(|(outcome, device)| {
                suite.device = Some(device);
                outcome
            })
        });
    }

    /// Runs a case on a driver of its own, opened with this configuration.
    pub fn case_with(
        &mut self,
        group: &'static str,
        name: &str,
        config: &Config,
        case: impl FnOnce(&mut Device) -> Outcome,
    ) {
        self.run(group, name, |suite| {
            guarded(|| {
                let mut device = open(&*suite.make, config)?;
                let outcome = case(&mut device);
                device.driver.cleanup();
                outcome
            })
        });
    }

    /// Runs a case that opens what it needs by itself.
    pub fn apart(&mut self, group: &'static str, name: &str, case: impl FnOnce() -> Outcome) {
        self.run(group, name, |_| guarded(case));
    }

    /// Adds a line to the report.
    pub fn note(&mut self, line: String) {
        self.report.notes.push(line);
    }

    /// The constructor of the driver under test.
    pub fn constructor(&self) -> Constructor {
        self.make.clone()
    }

    fn run(&mut self, group: &'static str, name: &str, case: impl FnOnce(&mut Self) -> Outcome) {
        if self.options.wanted.is_some_and(|wanted| !wanted(group, name)) {
            return;
        }
        let begin = Instant::now();
        let outcome = case(self);
        let time = begin.elapsed();
        let known = |(case, _): &&(&str, &str)| {
            case.strip_prefix(group).and_then(|rest| rest.strip_prefix('/')) == Some(name)
        };
        let expected = self.options.expected.iter().find(known).map(|(_, reason)| *reason);
        let (verdict, reason) = judge(outcome, expected);
        self.record(Case { group, name: name.to_string(), verdict, reason, time });
    }

    fn record(&mut self, case: Case) {
        if let Some(heard) = &mut self.options.heard {
            heard(&case);
        }
        self.report.cases.push(case);
    }

    /// The report. Expected failures that the suite does not have are failures by themselves.
    pub fn end(mut self) -> Report {
        for (name, _) in self.options.expected {
            let (group, case) = name.split_once('/').unwrap_or((name, ""));
            let wanted = self.options.wanted.is_none_or(|wanted| wanted(group, case));
            if wanted && self.report.cases.iter().all(|case| case.full_name() != *name) {
                let reason = "expected to fail, but there is no such case".to_string();
                let (verdict, time) = (Verdict::Failed, Default::default());
                self.record(Case {
                    group: "expected",
                    name: name.to_string(),
                    verdict,
                    reason,
                    time,
                });
            }
        }
        self.report
    }
}

fn open(
    make: &dyn Fn() -> Box<dyn gpupy_core::driver::Driver>,
    config: &Config,
) -> Outcome<Device> {
    fine(Device::open(make, config), "the driver does not open again")
}

/// The verdict on an outcome, and the reason.
fn judge(outcome: Outcome, expected: Option<&str>) -> (Verdict, String) {
    match (outcome, expected) {
        (Ok(()), None) => (Verdict::Passed, String::new()),
        (Err(Stop::Skip(reason)), None) => (Verdict::Skipped, reason),
        (Err(Stop::Fail(said)), None) => (Verdict::Failed, said),
        (Err(Stop::Fail(_)), Some(reason)) => (Verdict::Expected, reason.to_string()),
        (Ok(()), Some(reason)) => {
            (Verdict::Failed, format!("expected to fail ({reason}), but it passed"))
        }
        (Err(Stop::Skip(skipped)), Some(reason)) => {
            (Verdict::Failed, format!("expected to fail ({reason}), but skipped: {skipped}"))
        }
    }
}
