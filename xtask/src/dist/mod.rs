//! The command `dist`: a wheel for many Linuxes and a source distribution, in `dist/`, and what a stranger does with
//! the wheel.
//!
//! Owns the order of the steps. `wheel_build.rs` makes both files; `wheel_trial.rs` tries the wheel. Python programs
//! that these start, and the versions of the tools, are in `xtask/wheel`. Not here: the profile (`Cargo.toml`), what is
//! in the source distribution (`pyproject.toml`), other systems and processors (`.github/workflows`).

mod wheel_build;
mod wheel_trial;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::machine::failure::{Failure, Result};
use crate::machine::{process, venv, workspace};

/// The command.
pub fn run(arguments: &[String]) -> Result<()> {
    let twice = match arguments {
        [] => false,
        [word] if word == "--twice" => true,
        [word, ..] => return Err(Failure::new(format!("no option `{word}`; there is --twice"))),
    };
    venv::prepare()?;
    let tools = venv::locked("dist", "xtask/wheel/requirements.txt")?;
    let wheel = wheel_build::both(&tools)?;
    if twice {
        wheel_build::again(&tools, &wheel)?;
    }
    wheel_trial::on_each_python(&wheel)?;
    println!("\n{} is tried, and lies beside the source distribution", wheel.display());
    Ok(())
}

/// A Python program of this command.
fn program(python: &Path, name: &str) -> Command {
    let mut program = process::command(python);
    program.arg(workspace::root().join("xtask/wheel").join(name));
    program
}

/// The folder of what is built.
fn out() -> PathBuf {
    workspace::root().join("dist")
}
