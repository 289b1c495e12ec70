//! What the suite found.
//!
//! Owns [`Report`]. Invariant: every case that ran is counted once: passed, failed or skipped.
//!
//! Not here: how a mismatch is worded (`compare.rs`).

use std::collections::BTreeMap;
use std::fmt;

/// Results by group, and everything that failed.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The device, as the driver names it.
    pub device: String,
    /// Groups in the order in which they ran.
    pub groups: Vec<Group>,
    /// Cases that failed.
    pub failures: Vec<Failure>,
}

/// Counts of one group of cases.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// The group's name.
    pub name: &'static str,
    /// Cases that passed.
    pub passed: usize,
    /// Cases that failed.
    pub failed: usize,
    /// Cases that were skipped, counted by reason.
    pub skipped: BTreeMap<String, usize>,
}

/// One failed case.
#[derive(Clone, Debug)]
pub struct Failure {
    /// `group/case`.
    pub case: String,
    /// What went wrong.
    pub said: String,
}

/// How a case ended early.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Stop {
    /// The driver does not claim to do this.
    Skip(String),
    /// The driver does not do what it claims.
    Fail(String),
}

/// How a case ended.
pub(crate) type Outcome<T = ()> = Result<T, Stop>;

pub(crate) fn fail<T>(said: impl Into<String>) -> Outcome<T> {
    Err(Stop::Fail(said.into()))
}

pub(crate) fn skip<T>(reason: impl Into<String>) -> Outcome<T> {
    Err(Stop::Skip(reason.into()))
}

/// Fails with a message unless the condition holds.
pub(crate) fn ensure(holds: bool, said: impl FnOnce() -> String) -> Outcome {
    if holds { Ok(()) } else { fail(said()) }
}

impl Report {
    pub(crate) fn record(&mut self, group: &'static str, case: &str, outcome: Outcome) {
        if self.groups.last().is_none_or(|last| last.name != group) {
            self.groups.push(Group { name: group, ..Group::default() });
        }
        let Some(counts) = self.groups.last_mut() else { return };
        match outcome {
            Ok(()) => counts.passed += 1,
            Err(Stop::Skip(reason)) => *counts.skipped.entry(reason).or_default() += 1,
            Err(Stop::Fail(said)) => {
                counts.failed += 1;
                self.failures.push(Failure { case: format!("{group}/{case}"), said });
            }
        }
    }

    /// How many cases passed, failed and were skipped.
    pub fn totals(&self) -> (usize, usize, usize) {
        self.groups.iter().fold((0, 0, 0), |(passed, failed, skipped), group| {
            let here: usize = group.skipped.values().sum();
            (passed + group.passed, failed + group.failed, skipped + here)
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for failure in &self.failures {
            writeln!(f, "FAILED {}: {}\n", failure.case, failure.said)?;
        }
        writeln!(f, "device: {}", self.device)?;
        writeln!(f, "{:<14}{:>8}{:>8}{:>9}", "group", "passed", "failed", "skipped")?;
        for group in &self.groups {
            let skipped: usize = group.skipped.values().sum();
            let counts = (group.passed, group.failed, skipped);
            writeln!(f, "{:<14}{:>8}{:>8}{:>9}", group.name, counts.0, counts.1, counts.2)?;
            for (reason, count) in &group.skipped {
                writeln!(f, "    skipped {count}: {reason}")?;
            }
        }
        let (passed, failed, skipped) = self.totals();
        write!(f, "{:<14}{passed:>8}{failed:>8}{skipped:>9}", "all")
    }
}
