//! The report as a table for people.
//!
//! Invariant: failures stand first, in full, so that the counts are the last thing on a terminal.
//!
//! Not here: the report itself (`report.rs`).

use crate::reporting::report::{Case, Report, Verdict};
use std::collections::BTreeMap;
use std::fmt;

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for case in self.failures() {
            writeln!(f, "FAILED {}: {}\n", case.full_name(), case.reason)?;
        }
        writeln!(f, "device: {}", self.device)?;
        writeln!(
            f,
            "{:<16}{:>8}{:>8}{:>9}{:>10}",
            "group", "passed", "failed", "skipped", "seconds"
        )?;
        for cases in self.cases.chunk_by(|a, b| a.group == b.group) {
            row(f, cases[0].group, cases)?;
            reasons(f, cases)?;
        }
        self.notes.iter().try_for_each(|note| writeln!(f, "{note}"))?;
        row(f, "all", &self.cases)
    }
}

/// The counts of some cases; the last line of all has no end, as `Display` wants it.
fn row(f: &mut fmt::Formatter<'_>, name: &str, cases: &[Case]) -> fmt::Result {
    let count = |verdict| cases.iter().filter(|case: &&Case| case.verdict == verdict).count();
    let (passed, failed) = (count(Verdict::Passed), count(Verdict::Failed));
    let skipped = count(Verdict::Skipped);
    let seconds: f64 = cases.iter().map(|case| case.time.as_secs_f64()).sum();
    write!(f, "{name:<16}{passed:>8}{failed:>8}{skipped:>9}{seconds:>10.2}")?;
    match count(Verdict::Expected) {
        0 => Ok(()),
        expected => write!(f, "  ({expected} failed as expected)"),
    }?;
    if name == "all" { Ok(()) } else { writeln!(f) }
}

/// Why cases were skipped, or expected to fail.
fn reasons(f: &mut fmt::Formatter<'_>, cases: &[Case]) -> fmt::Result {
    for verdict in [Verdict::Skipped, Verdict::Expected] {
        let mut counts = BTreeMap::<&str, usize>::new();
        for case in cases.iter().filter(|case| case.verdict == verdict) {
            *counts.entry(&case.reason).or_default() += 1;
        }
        for (reason, count) in counts {
            writeln!(f, "    {} {count}: {reason}", verdict.word())?;
        }
    }
    Ok(())
}
