//! The command `lint`: all that is checked without running the product.
//!
//! Owns the list of checks. Invariant: each check runs even when an earlier one failed, so that one run shows
//! all there is to mend. Not here: the tests (`test`).

use crate::failure::{self, Failure, Result};
use crate::process::{announce, cargo, command, run as start};
use crate::{features, process, venv, workspace};

/// The Python linter and formatter; no part of the environment that people need.
const RUFF: &str = "ruff>=0.9";

/// Runs every check; with `--fix` the formatters write instead of complaining.
pub fn run(arguments: &[String]) -> Result<()> {
    let fix = match arguments {
        [] => false,
        [word] if word == "--fix" => true,
        [word, ..] => return Err(Failure::new(format!("no option `{word}`; there is --fix"))),
    };
    failure::all_of([
        ("rustfmt", rustfmt(fix)),
        ("clippy", clippy()),
        ("documentation", documentation()),
        ("ruff", ruff(fix)),
    ])
}

fn rustfmt(fix: bool) -> Result<()> {
    announce("formatting (Rust)");
    let check: &[&str] = if fix { &[] } else { &["--check"] };
    start(cargo().args(["fmt", "--all"]).args(check))
}

fn clippy() -> Result<()> {
    announce("clippy");
    let mut clippy = cargo();
    clippy.args(["clippy", "--workspace", "--all-targets"]).args(features::of_workspace());
    start(clippy.args(["--", "-D", "warnings"]))
}

fn documentation() -> Result<()> {
    announce("documentation");
    let mut doc = cargo();
    // Private items too: a module's page links to what it owns.
    doc.args(["doc", "--workspace", "--no-deps", "--document-private-items"]);
    doc.args(features::of_workspace());
    start(doc.env("RUSTDOCFLAGS", "-D warnings"))
}

fn ruff(fix: bool) -> Result<()> {
    announce("formatting and lints (Python)");
    venv::prepare()?;
    if !process::succeeds(command(workspace::python()).args(["-m", "ruff", "--version"])) {
        venv::install(&[RUFF])?;
    }
    let ruff = || {
        let mut ruff = command(workspace::python());
        ruff.args(["-m", "ruff"]);
        ruff
    };
    let (check, format): (&[&str], &[&str]) =
        if fix { (&["--fix"], &[]) } else { (&[], &["--diff"]) };
    let checked = start(ruff().arg("check").args(check));
    let formatted = start(ruff().args(["format", "--quiet"]).args(format));
    checked.and(formatted)
}
