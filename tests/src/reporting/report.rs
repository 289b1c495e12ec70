//! The report of the suite.
//!
//! Owns [`Report`], [`Case`] and [`Verdict`]. Invariant: every case that ran is there once, in the order of
//! running.
//!
//! Not here: the table for people (`table.rs`), the text of a mismatch (`compare.rs`).

use serde_json::{Value, json};
use std::time::Duration;

/// All cases that ran on one driver.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The device, as the driver names it.
    pub device: String,
    /// The cases, in the order in which they ran.
    pub cases: Vec<Case>,
    /// Counts of groups beyond their cases, a line each.
    pub notes: Vec<String>,
}

/// One case and how it ended.
#[derive(Clone, Debug)]
pub struct Case {
    /// The group: a function of the contract, or a level.
    pub group: &'static str,
    /// The name within the group.
    pub name: String,
    /// How it ended.
    pub verdict: Verdict,
    /// The failure, or the reason of a skip or an expected failure; empty when it passed.
    pub reason: String,
    /// How long it took.
    pub time: Duration,
}

/// How a case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The driver keeps this promise.
    Passed,
    /// The driver breaks it; or it keeps one that it was expected to break.
    Failed,
    /// The driver does not claim to do this.
    Skipped,
    /// The driver breaks it, as expected.
    Expected,
}

impl Verdict {
    /// The verdict in a word.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Passed => "passed",
            Verdict::Failed => "failed",
            Verdict::Skipped => "skipped",
            Verdict::Expected => "expected",
        }
    }
}

impl Case {
    /// `group/case`, the name by which a case is repeated.
    pub fn full_name(&self) -> String {
        format!("{}/{}", self.group, self.name)
    }
}

impl Report {
    /// The cases that failed, apart from those that were expected to.
    pub fn failures(&self) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter(|case| case.verdict == Verdict::Failed)
    }

    /// How many cases ended so.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.cases.iter().filter(|case| case.verdict == verdict).count()
    }

    /// How long all cases took.
    pub fn time(&self) -> Duration {
        self.cases.iter().map(|case| case.time).sum()
    }

    /// The whole report: `device`, `counts` by verdict, `seconds`, `notes`, and `cases`, each with
    /// its `group`, `name`, `outcome`, `reason` and `seconds`.
    pub fn to_json(&self) -> Value {
        let all = [Verdict::Passed, Verdict::Failed, Verdict::Skipped, Verdict::Expected];
        let counts = all.map(|verdict| (verdict.word().to_string(), self.count(verdict).into()));
        let case = |case: &Case| {
            json!({
                "group": case.group,
                "name": case.name,
                "outcome": case.verdict.word(),
                "reason": case.reason,
                "seconds": case.time.as_secs_f64(),
            })
        };
        json!({
            "device": self.device,
            "counts": counts.into_iter().collect::<serde_json::Map<_, _>>(),
            "seconds": self.time().as_secs_f64(),
            "cases": self.cases.iter().map(case).collect::<Vec<_>>(),
            "notes": self.notes,
        })
    }
}
