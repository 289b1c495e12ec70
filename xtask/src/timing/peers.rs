//! `cargo xtask bench --peers`: gpupy beside JAX, numexpr and loops by hand.
//!
//! Owns the peers' environment, `target/peers/`, made by the interpreter of `.venv/` so that it can import
//! gpupy's module, and the library of the loops by hand. Invariant: peers have the versions of
//! `benches/peers/requirements.txt`. Not here: the comparison (`benches/peers/`).

use std::path::PathBuf;
use std::process::Command;

use crate::develop;
use crate::machine::command_line::GivenWords;
use crate::machine::failure::Result;
use crate::machine::{process, venv, workspace};

const REQUIREMENTS: &str = "benches/peers/requirements.txt";

/// Sets up, builds and compares.
pub fn run(given: &GivenWords) -> Result<()> {
    develop::prepare()?;
    let python = environment()?;
    let hand = loops_by_hand()?;
    process::announce("peers");
    let mut peers = command(python);
    peers.arg("benches/peers").arg("--hand").arg(hand);
    process::run(peers.args(&given.others))
}

/// Compares compiled functions with numba's.
pub fn functions(given: &GivenWords) -> Result<()> {
    develop::prepare()?;
    let python = environment()?;
    process::announce("compiled functions");
    process::run(
        command(python).env("GPUPY_DRIVER", "cpu").arg("benches/functions.py").args(&given.others),
    )
}

/// Builds the library of the loops by hand; returns its path.
pub fn loops_by_hand() -> Result<PathBuf> {
    process::announce("loops by hand");
    process::run(process::cargo().args(["build", "--release", "--quiet", "-p", "gpupy-hand"]))?;
    Ok(workspace::library("gpupy_hand"))
}

/// An interpreter of the peers' environment, which imports gpupy's module in place.
pub fn command(python: PathBuf) -> Command {
    let mut command = process::command(python);
    command.env("PYTHONPATH", workspace::root().join(develop::PACKAGES));
    command
}

/// Makes the environment unless it is there with these versions; returns its interpreter.
pub fn environment() -> Result<PathBuf> {
    venv::locked("peers", REQUIREMENTS)
}
