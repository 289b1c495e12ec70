//! `cargo xtask bench --accelerator`: the ten programs of Accelerator's article, on each driver, beside NumPy,
//! JAX, loops and shaders by hand.
//!
//! Owns the builds for it. Not here: the peers' environment and the library of the loops (`peers.rs`), the
//! comparison (`benches/accelerator/`), the programs (`examples/accelerator/`).

use crate::develop;
use crate::machine::command_line::GivenWords;
use crate::machine::failure::Result;
use crate::machine::{features, process, workspace};
use crate::timing::peers;

/// Sets up, builds and compares.
pub fn run(given: &GivenWords) -> Result<()> {
    develop::prepare()?;
    let python = peers::environment()?;
    let hand = peers::loops_by_hand()?;
    process::announce("shaders by hand");
    let mut shaders = process::cargo();
    shaders.args(["build", "--release", "--quiet", "-p", "gpupy-shaders"]);
    process::run(shaders.args(features::of_shaders()))?;
    process::announce("Accelerator's programs");
    let mut programs = peers::command(python);
    programs.arg("benches/accelerator").arg("--hand").arg(hand);
    programs.arg("--shaders").arg(workspace::program("gpupy-shaders"));
    process::run(programs.args(&given.others))
}
