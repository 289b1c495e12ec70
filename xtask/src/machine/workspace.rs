//! The folders and files of the repository.
//!
//! Owns the paths that several tasks share. Invariant: nothing here touches the file system. Not here: the use
//! of the paths.

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX, EXE_SUFFIX};
use std::path::PathBuf;

/// The root of the repository.
pub fn root() -> PathBuf {
    // Cargo sets it when it runs us, so that a moved checkout works without a rebuild.
    let manifest =
        std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let mut root = PathBuf::from(manifest);
    root.pop();
    root
}

/// The virtual environment that `cargo xtask develop` makes.
pub fn venv() -> PathBuf {
    root().join(".venv")
}

/// The interpreter of the virtual environment.
pub fn python() -> PathBuf {
    venv().join("bin").join("python")
}

/// An environment with another interpreter, for tests alone.
pub fn beside(version: &str) -> PathBuf {
    target().join(format!("python-{version}"))
}

/// Where cargo builds.
pub fn target() -> PathBuf {
    root().join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// A program of the release profile.
pub fn program(name: &str) -> PathBuf {
    target().join("release").join(format!("{name}{EXE_SUFFIX}"))
}

/// A shared library of the release profile.
pub fn library(name: &str) -> PathBuf {
    target().join("release").join(format!("{DLL_PREFIX}{name}{DLL_SUFFIX}"))
}

/// The dynamic library with this name that the tests of its crate were built with.
pub fn library_of_tests(name: &str) -> PathBuf {
    target().join("release").join("deps").join(format!("{DLL_PREFIX}{name}{DLL_SUFFIX}"))
}
