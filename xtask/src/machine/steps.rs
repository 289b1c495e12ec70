//! The steps of a command, with progress, times and results.
//!
//! Owns [`SuiteStep`] and [`run`], which counts the steps, times them and prints the table at the end.
//! Invariants: a step runs even when an earlier one failed, so that one run shows everything to fix. Only a
//! step that needs the output of a failed one is skipped, with that reason; the command fails then anyway. Not
//! here: the work of the steps (`process`).

use std::time::{Duration, Instant};

use crate::machine::failure::{Failure, Result};

/// A part of a command, with its title.
pub struct SuiteStep<'a> {
    title: String,
    needs: Option<&'a str>,
    does: Box<dyn FnOnce() -> Result<()> + 'a>,
}

impl<'a> SuiteStep<'a> {
    /// A step that does this.
    pub fn new(title: impl Into<String>, does: impl FnOnce() -> Result<()> + 'a) -> Self {
        Self { title: title.into(), needs: None, does: Box::new(does) }
    }

    /// Makes the step depend on another: it is skipped if the step of this title failed.
    pub fn after(self, title: &'a str) -> Self {
        Self { needs: Some(title), ..self }
    }
}

/// The result of a step.
struct Ended {
    title: String,
    took: Duration,
    /// The reason, if it did not pass.
    failure: Option<String>,
}

/// Runs all steps and prints their results; fails if one failed, and names the failed ones.
pub fn run(steps: Vec<SuiteStep<'_>>) -> Result<()> {
    let count = steps.len();
    let mut ended: Vec<Ended> = Vec::with_capacity(count);
    for (number, SuiteStep { title, needs, does }) in (1..).zip(steps) {
        println!("\n[{number}/{count}] {title}");
        let begun = Instant::now();
        let lacks = needs.filter(|needed| ended.iter().any(|e| e.title == *needed && e.failed()));
        let failure = match lacks {
            Some(needed) => Some(format!("left out, as `{needed}` failed")),
            None => does().err().map(|failure| failure.to_string()),
        };
        let took = begun.elapsed();
        match &failure {
            None => println!("[{number}/{count}] {title}: passed in {}", seconds(took)),
            Some(words) => println!("[{number}/{count}] {title}: FAILED: {words}"),
        }
        ended.push(Ended { title, took, failure });
    }
    println!("\n== summary\n{}", table(&ended));
    let failed: Vec<&str> = ended.iter().filter(|e| e.failed()).map(|e| e.title.as_str()).collect();
    if failed.is_empty() {
        Ok(())
    } else {
        Err(Failure::new(format!("failed: {}", failed.join(", "))))
    }
}

impl Ended {
    fn failed(&self) -> bool {
        self.failure.is_some()
    }
}

/// A line for each step, and one for all.
fn table(ended: &[Ended]) -> String {
    let line = |e: &Ended| match &e.failure {
        None => format!("   passed {:>8}  {}\n", seconds(e.took), e.title),
        Some(words) => format!("   FAILED {:>8}  {}: {words}\n", seconds(e.took), e.title),
    };
    let all = seconds(ended.iter().map(|e| e.took).sum());
    ended.iter().map(line).collect::<String>() + &format!("   {:>15}  together", all)
}

fn seconds(took: Duration) -> String {
    format!("{:.1} s", took.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_runs_and_the_failed_are_named() {
        let counter = std::cell::Cell::new(0);
        let pass = || {
            counter.set(counter.get() + 1);
            Ok(())
        };
        let result = run(vec![
            SuiteStep::new("a", pass),
            SuiteStep::new("b", || Err(Failure::new("no"))),
            SuiteStep::new("c", pass),
        ]);
        assert_eq!((counter.get(), result), (2, Err(Failure::new("failed: b"))));
        assert_eq!(run(vec![SuiteStep::new("a", pass)]), Ok(()));
    }

    #[test]
    fn a_step_is_left_out_where_what_it_needs_failed() {
        let ran = std::cell::Cell::new("nothing");
        let does = |name| {
            let ran = &ran;
            move || {
                ran.set(name);
                Ok(())
            }
        };
        let module = || SuiteStep::new("module", || Err(Failure::new("no")));
        let result = run(vec![module(), SuiteStep::new("tests", does("tests")).after("module")]);
        assert_eq!(result, Err(Failure::new("failed: module, tests")));
        assert_eq!(ran.get(), "nothing");
        assert_eq!(run(vec![SuiteStep::new("tests", does("alone")).after("module")]), Ok(()));
        assert_eq!(ran.get(), "alone");
    }

    #[test]
    fn the_table_has_seconds_and_reasons() {
        let part = |title: &str, took, failure: Option<&str>| Ended {
            title: title.to_owned(),
            took: Duration::from_millis(took),
            failure: failure.map(str::to_owned),
        };
        let ended = [part("clippy", 1_240, None), part("typos", 98_760, Some("a word"))];
        let wanted = "   passed    1.2 s  clippy\n   FAILED   98.8 s  typos: a word\n           100.0 s  together";
        assert_eq!(table(&ended), wanted);
    }
}
