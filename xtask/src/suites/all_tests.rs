//! The command `test`: the tests of the project, and `test all`: every one on every driver.
//!
//! Owns the order of the parts and the list of drivers that the suite runs on. Invariants: all parts use the
//! release profile, so that they share builds; a driver that does not start here is skipped with its reason,
//! never silently. Not here: the tests themselves, the share of them that runs on GPU drivers
//! (`crates/gpupy-py/tests/duties.py`), subsets (`quick_tests`, `versions`), other libraries (`libraries`).

use std::path::Path;

use crate::develop;
use crate::machine::command_line::{CommandForm, GivenWords};
use crate::machine::failure::{Failure, Result};
use crate::machine::process::{announce, capture, cargo, command, run as start};
use crate::machine::steps::{self, SuiteStep};
use crate::machine::{features, venv, workspace};
use crate::suites::suite_parts::{MODULE, Share, conformance_on, module, numpy, plugin};
use crate::suites::{libraries, quick_tests, rust_tests, suite_parts, versions};

/// One line for each driver: its name, whether it starts, its device or the reason.
const DRIVERS: &str = "
import gpupy
for d in gpupy.drivers():
    text = str(d['device'] if d['starts'] else d['reason'])
    print(d['name'], 'starts' if d['starts'] else 'fails', ' '.join(text.split()))
";

/// Tests of other projects from a folder of the user's; they run only when they are named.
struct Suite {
    name: &'static str,
    title: &'static str,
    folder: &'static str,
    script: &'static str,
}

/// What the command takes: a suite, a subset, or parts in the order in which they run.
pub const FORMS: &[CommandForm] = &[
    CommandForm::new(SUITES[0].name, FOLDER, of_others),
    CommandForm::new(SUITES[1].name, FOLDER, of_others),
    CommandForm::new(SUITES[2].name, FOLDER, of_others),
    CommandForm::new("quick", "", |_| steps::run(quick_tests::steps())),
    CommandForm::new("", PARTS, of_parts),
];

const FOLDER: &str = "--folder DIR";
const PARTS: &str = "all rust conformance python versions libraries numpy --python PYTHON";

/// The word for every test on every driver.
const EVERYTHING: &str = "all";

const SUITES: [Suite; 3] = [
    Suite {
        name: "array-api",
        title: "the Array API's tests",
        folder: "a checkout of array-api-tests",
        script: "crates/gpupy-py/numpy_tests/array_api.py",
    },
    Suite {
        name: "cupy",
        title: "CuPy's own tests",
        folder: "a checkout of cupy",
        script: "crates/gpupy-py/numpy_tests/run_cupy.py",
    },
    Suite {
        name: "suites",
        title: "tests of libraries",
        folder: "where libraries are installed (`.venv/bin/python -m pip install --target DIR`)",
        script: "crates/gpupy-py/library_tests/run_libraries.py",
    },
];

/// Sets up, builds, and runs the named parts.
fn of_parts(given: &GivenWords) -> Result<()> {
    let mut names = given.words.clone();
    if let Some(interpreter) = given.option("--python") {
        return match &names[..] {
            [name] if name == "numpy" => numpy_on(interpreter),
            _ => Err(Failure::new("`--python` is for `test numpy --python PYTHON`")),
        };
    }
    let share = if given.has(EVERYTHING) { Share::Everything } else { Share::OfCommit };
    names.retain(|name| name != EVERYTHING);
    steps::run(parts(&names, share))
}

/// The steps of the named parts; without names, of all.
pub fn parts(names: &[String], share: Share) -> Vec<SuiteStep<'static>> {
    let all = names.is_empty();
    let wanted = |part: &str| all || names.iter().any(|word| word == part);
    let mut steps = vec![module()];
    if wanted("rust") {
        steps.push(SuiteStep::noting("Rust tests", move || rust(share)));
    }
    if wanted("conformance") {
        // Each driver's own tests, in the first part, run the suite on it.
        let drivers = SuiteStep::new("conformance on the drivers that start", conformance);
        steps.extend((!all).then_some(drivers.after(MODULE)));
        steps.push(SuiteStep::new("conformance on a plug-in", || conformance_on(&plugin()?)));
    }
    if wanted("python") {
        steps.push(SuiteStep::new("Python tests", move || python(share)).after(MODULE));
    }
    if wanted("versions") {
        steps.extend(versions::steps());
    }
    if wanted("libraries") {
        steps.push(libraries::step(share));
    }
    if wanted("numpy") {
        steps.push(
            SuiteStep::new("NumPy's own tests", || numpy(&workspace::python(), &[])).after(MODULE),
        );
    }
    steps
}

fn rust(share: Share) -> Result<String> {
    // Variants of drivers run a share of the suite (`tests/src/share.rs`).
    let commit = match share {
        Share::OfCommit => Some(capture(command("git").args(["rev-parse", "HEAD"]))),
        Share::Everything => None,
    };
    rust_tests::run(|| {
        let mut tests = cargo();
        if let Some(commit) = &commit {
            tests.env("GPUPY_TEST_SHARE", commit.as_deref().map_or("unknown", str::trim));
        }
        tests.args(["test", "--release", "--workspace"]);
        tests.args(features::of_workspace());
        tests
    })
}

/// Runs the suite's command on each driver that starts on this machine.
fn conformance() -> Result<()> {
    let mut failed = Vec::new();
    for driver in starting()? {
        announce(&driver);
        if conformance_on(&driver).is_err() {
            failed.push(driver);
        }
    }
    match failed.is_empty() {
        true => Ok(()),
        false => Err(Failure::new(format!("failed on {}", failed.join(", ")))),
    }
}

/// The drivers that start on this machine.
fn starting() -> Result<Vec<String>> {
    announce("drivers on this machine");
    let answer = capture(command(workspace::python()).args(["-c", DRIVERS]))?;
    let mut names = Vec::new();
    for (name, starts, text) in answer.lines().filter_map(driver) {
        println!(
            "   {name}: {}",
            if starts { text.to_owned() } else { format!("left out: {text}") }
        );
        if starts {
            names.push(name.to_owned());
        }
    }
    match names.is_empty() {
        true => Err(Failure::new("no driver starts on this machine")),
        false => Ok(names),
    }
}

/// Parses one line of the output of [`DRIVERS`].
fn driver(line: &str) -> Option<(&str, bool, &str)> {
    let (name, rest) = line.split_once(' ')?;
    let (starts, text) = rest.split_once(' ').unwrap_or((rest, ""));
    Some((name, starts == "starts", text))
}

fn python(share: Share) -> Result<()> {
    let plugin = plugin()?;
    let mut tests = suite_parts::pytest(&workspace::python());
    tests.args(share.words());
    start(tests.env("GPUPY_TEST_PLUGIN", plugin))
}

/// NumPy's own tests with another interpreter, and the newest NumPy that there is for it.
fn numpy_on(interpreter: &str) -> Result<()> {
    develop::prepare()?;
    let python = venv::beside(Path::new(interpreter), None)?;
    announce("NumPy's own tests");
    numpy(&python, &[])
}

/// Runs the tests of a suite from a folder of the user's.
fn of_others(given: &GivenWords) -> Result<()> {
    let Some(suite) = SUITES.iter().find(|suite| suite.name == given.chosen_by) else {
        return Err(Failure::new(format!("no suite `{}`", given.chosen_by)));
    };
    let Some(folder) = given.option("--folder") else {
        let Suite { name, folder, .. } = suite;
        return Err(Failure::new(format!("`test {name}` needs `--folder DIR`, {folder}")));
    };
    develop::prepare()?;
    announce(suite.title);
    start(command(workspace::python()).args([suite.script, folder]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::command_line;

    #[test]
    fn a_driver_line_is_taken_apart() {
        assert_eq!(
            driver("gl starts llvmpipe (LLVM 15)"),
            Some(("gl", true, "llvmpipe (LLVM 15)"))
        );
        assert_eq!(
            driver("gl fails no EGL: install it"),
            Some(("gl", false, "no EGL: install it"))
        );
        assert_eq!(driver("soft starts"), Some(("soft", true, "")));
    }

    /// The reason why these words are refused.
    fn refusal(words: &[&str]) -> String {
        let words: Vec<_> = words.iter().map(|&word| word.to_owned()).collect();
        let ran = command_line::run("test", FORMS, &words);
        ran.map_or_else(|failure| failure.to_string(), |_| String::new())
    }

    #[test]
    fn what_cannot_be_run_is_refused_before_anything_is_built() {
        assert_eq!(
            refusal(&["rusty"]),
            "`test` takes all rust conformance python versions libraries numpy --python PYTHON | array-api | cupy | \
             suites | quick: got `rusty`"
        );
        let refused = refusal(&["rust", "--python", "python3"]);
        assert_eq!(refused, "`--python` is for `test numpy --python PYTHON`");
    }

    #[test]
    fn tests_of_other_projects_want_a_folder() {
        for Suite { name, folder, .. } in SUITES {
            let wanted = format!("`test {name}` needs `--folder DIR`, {folder}");
            assert_eq!(refusal(&[name]), wanted);
            let takes = format!("`test {name}` takes --folder DIR: ");
            for words in [&[name, "here"][..], &[name, "--where", "here"], &[name, "--folder"]] {
                assert!(refusal(words).starts_with(&takes), "{words:?}");
            }
        }
    }
}
