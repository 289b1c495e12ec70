//! The trial of a wheel on each Python that is here.
//!
//! Owns the choice of Pythons. Not here: what is tried, in an environment made anew (`xtask/wheel/trial.py`).

use std::path::Path;

use crate::dist::wheel_program::program;
use crate::machine::failure::Result;
use crate::machine::{process, venv};

/// Tries the wheel on each Python, the oldest first.
pub fn on_each_python(wheel: &Path) -> Result<()> {
    let mut pythons = venv::interpreters();
    pythons.sort_by_key(|python| python.version);
    pythons.iter().try_for_each(|python| {
        let (major, minor) = python.version;
        process::announce(&format!("the wheel on Python {major}.{minor}"));
        process::run(program(&python.program, "trial.py").arg(wheel))
    })
}
