//! The Rust tests: cargo builds them, and several of their programs run at a time.
//!
//! Owns [`run`]. The conformance suite goes through its cases one after another, and a software rasteriser keeps one
//! processor busy with most of them, so that one program at a time leaves the others idle. Invariants: a program
//! runs as by `cargo test`, in the folder of its package; what it prints is shown whole when it has ended; every
//! program runs even when another failed. Not here: which tests there are and with which features (`all_tests`).

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;

use crate::machine::failure::{Failure, Result};
use crate::machine::process::{self, Told};
use crate::suites::suite_parts::{SKIPPED, skipped};

/// The programs that take longest begin first: the suite on each driver, and on groups of devices.
const LONGEST: [&str; 2] = ["conformance", "groups"];

/// A test program, or the tests in documentation.
struct TestProgram {
    title: String,
    command: Command,
}

/// Builds test programs by a command of cargo's that names their packages, targets and features, and runs them and the
/// tests in documentation; the note has how many tests were skipped.
pub fn run(cargo: impl Fn() -> Command) -> Result<String> {
    let mut build = cargo();
    build.args(["--no-run", "--message-format=json-render-diagnostics"]);
    let mut programs = programs(&process::answer(&mut build)?);
    let mut documentation = cargo();
    documentation.args(["--doc", "--no-fail-fast"]);
    programs.push(TestProgram { title: "documentation".to_owned(), command: documentation });
    // The next one is taken from the end.
    programs.sort_by_key(|program| {
        LONGEST.iter().any(|name| program.title.ends_with(&format!(" {name}")))
    });
    let (waiting, ended) = (Mutex::new(programs), Mutex::new((0, Vec::new())));
    let next = || waiting.lock().ok().and_then(|mut programs| programs.pop());
    let work = || {
        while let Some(mut program) = next() {
            let told = process::told(&mut program.command);
            let Ok(mut ended) = ended.lock() else { return };
            // Shown under the lock: the output of one program is in one piece.
            let (count, passed) = shown(&program.title, told);
            ended.0 += count;
            ended.1.extend((!passed).then_some(program.title));
        }
    };
    thread::scope(|scope| {
        let workers = thread::available_parallelism().map_or(1, usize::from);
        (0..workers).for_each(|_| drop(scope.spawn(work)));
    });
    let (count, mut failed) = ended.into_inner().unwrap_or_default();
    failed.sort();
    match failed.is_empty() {
        true => Ok(skipped(count)),
        false => Err(Failure::new(format!("tests failed: {}", failed.join(", ")))),
    }
}

/// Prints what a program told; how many of its tests were skipped, and whether it passed.
fn shown(title: &str, told: Result<Told>) -> (usize, bool) {
    println!("\n   tests of {title}");
    match told {
        Ok(told) => {
            print!("{}{}", told.output, told.errors);
            (told.errors.lines().filter(|line| line.starts_with(SKIPPED)).count(), told.passed)
        }
        Err(failure) => {
            println!("{failure}");
            (0, false)
        }
    }
}

/// The test programs among the messages of cargo, which are one on each line.
fn programs(messages: &str) -> Vec<TestProgram> {
    messages.lines().filter_map(program).collect()
}

/// The program of a message, if it was built for tests: others are commands that tests start.
fn program(message: &str) -> Option<TestProgram> {
    let (_, profile) = message.split_once("\"profile\":{")?;
    let (profile, _) = profile.split_once('}')?;
    if !profile.contains("\"test\":true") {
        return None;
    }
    let executable = PathBuf::from(field(message, "executable")?);
    let folder = Path::new(field(message, "manifest_path")?).parent()?.to_owned();
    let package = folder.file_name()?.to_string_lossy();
    let title = format!("{package} {}", field(message, "name")?);
    let mut command = process::command(executable);
    command.current_dir(&folder).env("CARGO_MANIFEST_DIR", &folder);
    Some(TestProgram { title, command })
}

/// A text in a message of cargo's, the first of its name.
fn field<'a>(message: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = message.split_once(&format!("\"{name}\":\""))?;
    rest.split_once('"').map(|(text, _)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_programs_are_found_with_their_folder() {
        let message = |test: bool, executable: &str| {
            format!(
                "{{\"reason\":\"compiler-artifact\",\"manifest_path\":\"/work/crates/driver-x/Cargo.toml\",\"target\":\
                 {{\"kind\":[\"test\"],\"name\":\"conformance\",\"test\":true}},\"profile\":{{\"test\":{test}}},\
                 \"executable\":{executable},\"fresh\":true}}\n"
            )
        };
        let messages = message(true, "\"/work/target/conformance-1\"")
            + &message(false, "\"/work/target/command\"")
            + &message(true, "null");
        let [found] = &programs(&messages)[..] else { unreachable!("one program is a test") };
        assert_eq!(found.title, "driver-x conformance");
        assert_eq!(found.command.get_program(), "/work/target/conformance-1");
        assert_eq!(found.command.get_current_dir(), Some(Path::new("/work/crates/driver-x")));
    }

    #[test]
    fn what_is_skipped_is_counted_and_a_failure_is_no_pass() {
        let told = |passed| Told {
            output: "ok\n".to_owned(),
            errors: "skipped: a\nno\nskipped: b\n".to_owned(),
            passed,
        };
        assert_eq!(shown("one", Ok(told(true))), (2, true));
        assert_eq!(shown("one", Ok(told(false))), (2, false));
        assert_eq!(shown("one", Err(Failure::new("not started"))), (0, false));
    }
}
