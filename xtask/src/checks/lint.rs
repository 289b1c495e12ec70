//! The command `lint`: all checks that do not run the product, which is imported only to compare the stubs with
//! it.
//!
//! Owns the list of checks. Invariant: a check runs even when an earlier one failed, so that one run shows
//! everything to fix. Not here: the tools' versions (`tools`), types (`types`), other targets (`targets`), the
//! tests (`all_tests`).

use crate::checks::{targets, types};
use crate::machine::command_line::{CommandForm, GivenWords};
use crate::machine::failure::Result;
use crate::machine::process::{cargo, command, run as start};
use crate::machine::steps::{self, SuiteStep};
use crate::machine::{features, tools};

/// What the command takes; with `--fix` the formatters write instead of complaining.
pub const FORMS: &[CommandForm] = &[CommandForm::new("", "--fix", run)];

/// Runs every check.
fn run(given: &GivenWords) -> Result<()> {
    let mut all = checks(given.has("--fix"));
    all.push(of_target(targets::APPLES));
    steps::run(all)
}

/// Every check but those for a system that takes long, in the order in which they run: the quick ones first.
pub fn checks(fix: bool) -> Vec<SuiteStep<'static>> {
    let mut checks = vec![
        SuiteStep::new("formatting (Rust)", move || rustfmt(fix)),
        SuiteStep::new("formatting and lints (Python)", move || ruff(fix)),
        SuiteStep::new("spelling", spelling),
        SuiteStep::new("types (Python)", move || types::check(fix)),
        SuiteStep::new("licences, versions and sources of dependencies", dependencies),
        SuiteStep::new("clippy", clippy),
        SuiteStep::new("documentation", documentation),
    ];
    checks.extend(targets::TARGETS.map(of_target));
    checks.push(SuiteStep::new("stubs beside the module", types::stubs));
    checks
}

fn of_target(target: &'static str) -> SuiteStep<'static> {
    SuiteStep::new(format!("compiler's check for {target}"), move || targets::check(target))
}

fn rustfmt(fix: bool) -> Result<()> {
    let check: &[&str] = if fix { &[] } else { &["--check"] };
    start(cargo().args(["fmt", "--all"]).args(check))
}

fn clippy() -> Result<()> {
    let mut clippy = cargo();
    clippy.args(["clippy", "--workspace", "--all-targets"]).args(features::of_workspace());
    start(clippy.args(["--", "-D", "warnings"]))
}

fn documentation() -> Result<()> {
    let mut doc = cargo();
    // Private items too, because a module's page links to them.
    doc.args(["doc", "--workspace", "--no-deps", "--document-private-items"]);
    doc.args(features::of_workspace());
    start(doc.env("RUSTDOCFLAGS", "-D warnings"))
}

fn ruff(fix: bool) -> Result<()> {
    let ruff = tools::ruff()?;
    let (check, format): (&[&str], &[&str]) =
        if fix { (&["--fix"], &[]) } else { (&[], &["--diff"]) };
    let checked = start(command(&ruff).arg("check").args(check));
    let formatted = start(command(&ruff).args(["format", "--quiet"]).args(format));
    checked.and(formatted)
}

/// Exceptions are in `_typos.toml`, with their reasons.
fn spelling() -> Result<()> {
    start(&mut command(tools::typos()?))
}

/// The rules for dependencies are in `deny.toml`. Known vulnerabilities are not checked: new ones would fail a
/// run without a change of ours.
fn dependencies() -> Result<()> {
    let mut deny = command(tools::cargo_deny()?);
    start(deny.args(["check", "--hide-inclusion-graph", "licenses", "bans", "sources"]))
}
