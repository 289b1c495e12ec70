//! The part `libraries` of the command `test`: everyday steps with other libraries, at their newest versions.
//!
//! Owns the list [`LIBRARIES`] and their installation, into an environment of their own below `target/`.
//! Invariant: a library that cannot be installed is named, and its steps are skipped and counted; that is no
//! failure. Not here: the steps (`crates/gpupy-py/tests/libraries`), the environments (`venv`).

use std::path::{Path, PathBuf};

use crate::machine::failure::Result;
use crate::machine::process::run as start;
use crate::machine::python_packages::Installer;
use crate::machine::steps::SuiteStep;
use crate::machine::{venv, workspace};
use crate::suites::suite_parts::{self, MODULE, Share};

/// Where the steps are.
const TESTS: &str = "crates/gpupy-py/tests/libraries";

/// The libraries. PyTorch, TensorFlow and CuPy are missing, because they are gigabytes.
const LIBRARIES: [&str; 19] = [
    "awkward",
    "cubed",
    "dask",
    "distributed",
    "einops",
    "h5py",
    "ipython",
    "jax",
    "matplotlib",
    "networkx",
    "numba",
    "pandas",
    "pillow",
    "polars",
    "pyarrow",
    "scikit-learn",
    "scipy",
    "xarray",
    "zarr",
];

/// The step.
pub fn step(share: Share) -> SuiteStep<'static> {
    SuiteStep::new("everyday steps with other libraries", move || run(share)).after(MODULE)
}

fn run(share: Share) -> Result<()> {
    let python = environment()?;
    let mut tests = suite_parts::pytest(&python);
    start(tests.args(["-q", "-p", "no:cacheprovider", TESTS]).args(share.words()))
}

/// Makes the environment with the libraries; returns its interpreter.
pub fn environment() -> Result<PathBuf> {
    let python = venv::apart(&workspace::python(), "-libraries", "numpy>=2")?;
    install(&python);
    Ok(python)
}

/// Installs all at once, so that their versions fit together; if that fails, one by one.
fn install(python: &Path) {
    if newest(python, &LIBRARIES).is_ok() {
        return;
    }
    for library in LIBRARIES {
        if newest(python, &[library]).is_err() {
            println!("   left out: `{library}` cannot be installed at its newest version");
        }
    }
}

fn newest(python: &Path, libraries: &[&str]) -> Result<()> {
    Installer::of_machine().upgrade(python, libraries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_are_there_and_every_library_is_installed_once() {
        assert!(workspace::root().join(TESTS).join("steps.py").exists());
        assert!(LIBRARIES.is_sorted_by(|a, b| a < b), "{LIBRARIES:?}");
    }
}
