//! The command `sanitize`: the core's unsafe code under address sanitizer and Miri, and Python's tests on a
//! module whose accesses are checked.
//!
//! Owns the list of checks. Invariants: a missing part of the nightly toolchain is reported with the command
//! that installs it, and is no failure; the builds are apart from other builds. Not here: the other tests
//! (`all_tests`), how the module is checked and for which target (`guarded_memory`).

use std::process::Command;

use crate::checks::guarded_memory::{self, TARGET};
use crate::machine::command_line::CommandForm;
use crate::machine::failure::Result;
use crate::machine::process::{command, run as start, succeeds};
use crate::machine::steps::{self, SuiteStep};

/// Tests of the core for Miri, which is a thousand times slower: the C table, host memory, and arrays that are
/// computed, moved and read.
const FOR_MIRI: [&[&str]; 3] = [
    &["--test", "plugin"],
    &["--lib", "--", "host::", "pool::", "value::", "plugin::"],
    &["--test", "arrays", "--", "operations_broadcast", "a_view_of"],
];

/// The checks that the nightly toolchain offers, or Python's tests, or both.
pub const FORMS: &[CommandForm] = &[
    CommandForm::new("core", "", |_| steps::run(core())),
    CommandForm::new("python", "", |_| steps::run(guarded_memory::steps())),
    CommandForm::new("", "", |_| {
        steps::run(core().into_iter().chain(guarded_memory::steps()).collect())
    }),
];

fn core() -> Vec<SuiteStep<'static>> {
    if !succeeds(nightly().arg("--version")) {
        println!("left out: there is no nightly toolchain; `rustup toolchain install nightly`");
        return Vec::new();
    }
    let mut steps = vec![SuiteStep::new("address sanitizer", address)];
    steps.extend(
        FOR_MIRI.map(|words| SuiteStep::new(format!("Miri: {}", words.join(" ")), || miri(words))),
    );
    steps
}

fn nightly() -> Command {
    // The `cargo` that started this program belongs to another toolchain, and does not accept `+nightly`.
    let mut cargo = command("rustup");
    cargo.args(["run", "nightly", "cargo"]).env_remove("RUSTC").env_remove("RUSTDOC");
    cargo
}

fn is_installed(component: &str) -> bool {
    let listed = crate::machine::process::capture(command("rustup").args([
        "component",
        "list",
        "--toolchain",
        "nightly",
        "--installed",
    ]));
    let there = listed.is_ok_and(|listed| listed.lines().any(|line| line.starts_with(component)));
    if !there {
        println!("left out: `rustup component add --toolchain nightly {component}`");
    }
    there
}

/// The tests of core and engine, and the fuzz targets' short runs.
fn address() -> Result<()> {
    if !is_installed("rust-src") {
        return Ok(());
    }
    let mut test = nightly();
    test.args(["test", "-Zbuild-std", "--target", TARGET, "--target-dir", "target/sanitize"]);
    test.args([
        "-p",
        "gpupy-core",
        "-p",
        "gpupy-engine",
        "-p",
        "gpupy-fuzz",
        "--lib",
        "--tests",
        "--no-fail-fast",
    ]);
    test.env("RUSTFLAGS", "-Zsanitizer=address").env("ASAN_OPTIONS", "detect_leaks=1");
    start(&mut test)
}

fn miri(words: &[&str]) -> Result<()> {
    if !is_installed("miri") {
        return Ok(());
    }
    let mut test = nightly();
    test.args([
        "miri",
        "test",
        "--target-dir",
        "target/miri",
        "-p",
        "gpupy-core",
        "-p",
        "gpupy-engine",
    ]);
    // The tests read settings from the environment.
    start(test.args(words).env("MIRIFLAGS", "-Zmiri-disable-isolation"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::command_line;
    use crate::machine::failure::Failure;

    #[test]
    fn an_unknown_part_is_refused_before_anything_is_built() {
        let refused = command_line::run("sanitize", FORMS, &["rust".to_owned()]);
        let wanted = "`sanitize` takes core | python: got `rust`";
        assert_eq!(refused, Err(Failure::new(wanted)));
    }
}
