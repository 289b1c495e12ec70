//! The command `dist`: wheels for many Linuxes and a source distribution, in `dist/`, and what a stranger does with
//! the wheel of this machine.
//!
//! Owns the order of the steps. `release_checks.rs` checks forms and metadata, `wheel_build.rs` makes the files, and
//! `wheel_trial.rs` tries the wheel. Python programs that these start, and the versions of the tools, are in
//! `xtask/wheel`. Not here: the profile (`Cargo.toml`), what is in the source distribution (`pyproject.toml`), other
//! systems (`.github/workflows`).

mod release_checks;
mod wheel_build;
mod wheel_program;
mod wheel_trial;

use std::fs;

use crate::dist::wheel_build::WheelBuild;
use crate::machine::command_line::{CommandForm, GivenWords};
use crate::machine::failure::{Failure, Result};
use crate::machine::{process, rust_targets, venv, workspace};

/// The processors that wheels are for.
const PROCESSORS: [&str; 2] = ["x86_64", "aarch64"];

/// What the command takes.
pub const FORMS: &[CommandForm] = &[CommandForm::new("", "--twice", run)];

fn run(given: &GivenWords) -> Result<()> {
    let twice = given.has("--twice");
    venv::prepare()?;
    let tools = venv::locked("dist", "xtask/wheel/requirements.txt")?;
    let checks = venv::locked("dist-checks", "xtask/wheel/checks.txt")?;
    release_checks::forms(&checks)?;
    let out = workspace::root().join("dist");
    if out.exists() {
        fs::remove_dir_all(&out).map_err(|error| Failure::file("remove", &out, &error))?;
    }
    let build = WheelBuild::new(&tools);
    for processor in PROCESSORS.into_iter().filter(|name| *name != std::env::consts::ARCH) {
        process::announce(&format!("wheel for {processor}"));
        if rust_targets::is_there(&wheel_build::target(processor)) {
            build.wheel(processor, &out, twice)?;
        }
    }
    // The source distribution has the licences that are written last.
    process::announce("wheel for this machine");
    let own = build.wheel(std::env::consts::ARCH, &out, twice)?;
    process::announce("source distribution");
    build.source(&out)?;
    release_checks::metadata(&checks, &out)?;
    wheel_trial::on_each_python(&own)?;
    println!("\n{} is tried, and lies beside the others", own.display());
    Ok(())
}
