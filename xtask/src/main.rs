//! `cargo xtask`: the one entry for people and for continuous integration.
//!
//! Owns the table [`COMMANDS`], its help text and the exit status. Invariants: every command is one row of the
//! table, and a failure ends as one line on standard error, never as a panic. Not here: the reading of the command
//! line (`command_line.rs`), what the commands do (each has a module of its own) and the Python programs that they
//! start (`examples/`, `benches/`).

mod checks;
mod coverage;
mod demo;
mod develop;
mod dist;
mod header;
mod machine;
mod site;
mod suites;
mod timing;

use std::ffi::OsString;
use std::process::ExitCode;

use machine::command_line::{self, CommandForm, GivenWords};
use machine::failure::{Failure, Result};
use machine::steps::SuiteStep;

/// One command of `cargo xtask`.
struct XtaskCommand {
    name: &'static str,
    arguments: &'static str,
    does: &'static str,
    forms: &'static [CommandForm],
}

/// Every command, in the order in which the help shows them.
const COMMANDS: &[XtaskCommand] = &[
    XtaskCommand {
        name: "demo",
        arguments: "[--driver NAME] [--points N] [--size N] [--sweep]",
        does: "set up, build, and run a shaded sphere, a distance map and heat in a plate by NumPy and by gpupy",
        forms: demo::FORMS,
    },
    XtaskCommand {
        name: "test",
        arguments: "[all] [rust] [conformance] [python] [versions] [libraries] [numpy] | quick | numpy --python PYTHON | array-api --folder DIR | cupy --folder DIR | suites --folder DIR",
        does: "set up, build, and run the tests, or only the named parts; with `all` every test on every driver, where otherwise a tenth of those of the front end runs on GPU drivers; `quick`: a choice of each for the time between two edits",
        forms: suites::all_tests::FORMS,
    },
    XtaskCommand {
        name: "develop",
        arguments: "",
        does: "make .venv/ and build the optimised Python module there",
        forms: &[CommandForm::new("", "", develop::run)],
    },
    XtaskCommand {
        name: "bench",
        arguments: "[--driver NAME] [--sizes N,…] [--programs WORD,…] [--rounds N] [--quick] [--accelerator | --peers | --simulations | --small] | --loops [--nodes] | --functions | --kernels DIR | --scale | --shaders | --second | --record | --chart [--store FILE]",
        does: "time NumPy beside each driver, or with --peers JAX, numexpr and loops by hand; with --accelerator the ten programs of an article, and shaders by hand too; writes to out/; --small: what a call costs; --loops: plain NumPy loops, first run and warm, and with --nodes the planning of a node; --functions: compiled functions beside numba's; --scale: Dask's workers with NumPy's chunks and with ours; --shaders: GPU drivers beside shaders by hand; --second: the first run in a second process beside a warm one; --record: keep how many instructions small operations need; --chart: draw the README's chart from stored results",
        forms: timing::bench::FORMS,
    },
    XtaskCommand {
        name: "tune",
        arguments: "",
        does: "time both ways around each threshold that chooses between two, on this machine",
        forms: &[CommandForm::new("", "", timing::tune::run)],
    },
    XtaskCommand {
        name: "lint",
        arguments: "[--fix]",
        does: "check formatting, Python's sources, types and stubs, spelling, dependencies, clippy, documentation links, and that the sources compile for other targets",
        forms: checks::lint::FORMS,
    },
    XtaskCommand {
        name: "header",
        arguments: "",
        does: "write include/gpupy_driver.h afresh from the driver table in Rust",
        forms: &[CommandForm::new("", "", header::run)],
    },
    XtaskCommand {
        name: "coverage",
        arguments: "",
        does: "write docs/coverage.md afresh: which of NumPy's functions are recorded, tried with the module as it is",
        forms: &[CommandForm::new("", "", coverage::run)],
    },
    XtaskCommand {
        name: "site",
        arguments: "",
        does: "build the pages as a site in out/site/, with links checked, the reference of gpupy's functions, and a notebook that runs",
        forms: &[CommandForm::new("", "", site::run)],
    },
    XtaskCommand {
        name: "dist",
        arguments: "[--twice]",
        does: "build a wheel for many Linuxes and a source distribution into dist/, and try the wheel on each Python that is here; --twice: our crates are compiled and linked again, to the same bytes",
        forms: dist::FORMS,
    },
    XtaskCommand {
        name: "sanitize",
        arguments: "[core | python]",
        does: "run the core's unsafe code under address sanitizer and Miri, where a nightly Rust has them, and Python's tests on a module between guard pages",
        forms: checks::sanitize::FORMS,
    },
    XtaskCommand {
        name: "ci",
        arguments: "",
        does: "what continuous integration runs: lint, test, the site and a small demo",
        forms: &[CommandForm::new("", "", continuous_integration)],
    },
];

fn main() -> ExitCode {
    match given().and_then(|words| dispatch(&words)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// The words of the command line.
fn given() -> Result<Vec<String>> {
    let words = std::env::args_os().skip(1).map(OsString::into_string);
    let wrong = |word: OsString| Failure::new(format!("{word:?} is no text in UTF-8"));
    words.collect::<std::result::Result<_, _>>().map_err(wrong)
}

fn dispatch(words: &[String]) -> Result<()> {
    let asks = |name: &str| ["help", "--help", "-h"].contains(&name);
    let ran = match words.split_first().filter(|(name, _)| !asks(name)) {
        None => false,
        Some((name, rest)) => match COMMANDS.iter().find(|task| task.name == name) {
            Some(task) => command_line::run(name, task.forms, rest)?,
            None => {
                let names = COMMANDS.iter().map(|task| task.name).collect::<Vec<_>>().join(", ");
                return Err(Failure::new(format!("no command `{name}`; there are {names}")));
            }
        },
    };
    if !ran {
        print!("{}", help());
    }
    Ok(())
}

fn help() -> String {
    let mut text = String::from("usage: cargo xtask COMMAND\n\n");
    for task in COMMANDS {
        text += &format!("  {} {}\n      {}\n", task.name, task.arguments, task.does);
    }
    text
}

/// Runs all that continuous integration runs, which `.ci/run` starts.
fn continuous_integration(_: &GivenWords) -> Result<()> {
    let small = ["demo", "--size", "128", "--points", "20"].map(String::from);
    let mut steps = checks::lint::checks(false);
    steps.extend(suites::all_tests::parts(&[], suites::suite_parts::Share::OfCommit));
    steps.push(
        SuiteStep::new("counts of instructions", timing::bench::counts)
            .after(suites::suite_parts::MODULE),
    );
    steps.push(SuiteStep::new("site", site::build).after(suites::suite_parts::MODULE));
    // The README's first command, small.
    steps.push(SuiteStep::new("demo", move || dispatch(&small)));
    machine::steps::run(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_names_every_command() {
        let text = help();
        for task in COMMANDS {
            assert!(text.contains(&format!("\n  {} ", task.name)), "{text}");
        }
    }

    #[test]
    fn what_help_names_is_taken() {
        for task in COMMANDS {
            for word in task.arguments.split(['[', ']', '|', ' ']) {
                let taken = task.forms.iter().any(|form| form.names(word));
                assert!(taken || !word.starts_with("--"), "{} {word}", task.name);
            }
        }
    }

    #[test]
    fn an_unknown_command_lists_the_right_ones() {
        let message = dispatch(&["tset".to_owned()]).map_err(|f| f.to_string());
        assert_eq!(
            message,
            Err("no command `tset`; there are demo, test, develop, bench, tune, lint, header, coverage, site, dist, sanitize, ci"
                .to_owned())
        );
    }
}
