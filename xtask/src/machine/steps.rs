//! The steps of a command, with progress, times and results.
//!
//! Owns [`SuiteStep`] and [`run`], which counts the steps, times them and prints the table at the end, with what a
//! step notes about itself.
//! Invariants: a step runs even when an earlier one failed, so that one run shows everything to fix. Only a
//! step that needs the output of a failed one is skipped, with that reason; the command fails then anyway. Not
//! here: the work of the steps (`process`).

use std::time::{Duration, Instant};

use crate::machine::failure::{Failure, Result};

/// A part of a command, with its title.
pub struct SuiteStep<'a> {
    title: String,
    needs: Option<&'a str>,
    /// Its result is a note for the table; most have none.
    does: Box<dyn FnOnce() -> Result<String> + 'a>,
}

impl<'a> SuiteStep<'a> {
    /// A step that does this.
    pub fn new(title: impl Into<String>, does: impl FnOnce() -> Result<()> + 'a) -> Self {
        Self::noting(title, || does().map(|()| String::new()))
    }

    /// A step that does this, and notes something about it in the table.
    pub fn noting(title: impl Into<String>, does: impl FnOnce() -> Result<String> + 'a) -> Self {
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
    /// Its note, or the reason if it did not pass.
    result: std::result::Result<String, String>,
}

/// Runs all steps and prints their results; fails if one failed, and names the failed ones.
pub fn run(steps: Vec<SuiteStep<'_>>) -> Result<()> {
    let count = steps.len();
    let mut ended: Vec<Ended> = Vec::with_capacity(count);
    for (number, SuiteStep { title, needs, does }) in (1..).zip(steps) {
        println!("\n[{number}/{count}] {title}");
        let begun = Instant::now();
        let lacks = needs.filter(|needed| ended.iter().any(|e| e.title == *needed && e.failed()));
        let result = match lacks {
            Some(needed) => Err(format!("left out, as `{needed}` failed")),
            None => does().map_err(|failure| failure.to_string()),
        };
        let took = begun.elapsed();
        match &result {
            Ok(_) => println!("[{number}/{count}] {title}: passed in {}", seconds(took)),
            Err(words) => println!("[{number}/{count}] {title}: FAILED: {words}"),
        }
        ended.push(Ended { title, took, result });
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
        self.result.is_err()
    }
}

/// A line for each step, and one for all.
fn table(ended: &[Ended]) -> String {
    let line = |e: &Ended| match &e.result {
        Ok(note) if note.is_empty() => format!("   passed {:>8}  {}\n", seconds(e.took), e.title),
        Ok(note) => format!("   passed {:>8}  {}: {note}\n", seconds(e.took), e.title),
        Err(words) => format!("   FAILED {:>8}  {}: {words}\n", seconds(e.took), e.title),
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
    fn the_table_has_seconds_notes_and_reasons() {
        let part = |title: &str, took, result: std::result::Result<&str, &str>| Ended {
            title: title.to_owned(),
            took: Duration::from_millis(took),
            result: result.map(str::to_owned).map_err(str::to_owned),
        };
        let ended = [
            part("clippy", 1_240, Ok("")),
            part("Rust tests", 0, Ok("2 skipped")),
            part("typos", 98_760, Err("a word")),
        ];
        let wanted = "   passed    1.2 s  clippy\n   passed    0.0 s  Rust tests: 2 skipped\n   \
            FAILED   98.8 s  typos: a word\n           100.0 s  together";
        assert_eq!(table(&ended), wanted);
    }
}
