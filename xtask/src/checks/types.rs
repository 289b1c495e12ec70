//! The checks of Python's types: of the package and of typed programs, and of the stubs against the module.
//!
//! Owns both steps of `lint`. Invariant: files are written below `target/`, except the stubs that
//! `crates/gpupy-py/stubs/write.py` writes where formatters may write. Settings are in `pyproject.toml`, and
//! stubtest's exceptions in `crates/gpupy-py/stubs/allowlist.txt`. Not here: the checker's version (`tools`).

use std::fs;

use crate::develop;
use crate::machine::failure::{Failure, Result};
use crate::machine::process::{capture, command, run as start};
use crate::machine::{tools, workspace};

/// The program that writes the stubs of NumPy's submodules.
const WRITE: &str = "crates/gpupy-py/stubs/write.py";
/// The program that prints a program with every name of the modules.
const NAMES: &str = "crates/gpupy-py/stubs/names.py";
/// The known differences.
const ALLOWED: &str = "crates/gpupy-py/stubs/allowlist.txt";
/// Typed programs, right ones and one of mistakes.
const PROGRAMS: &str = "crates/gpupy-py/tests/typing";

/// Checks the package's sources, its stubs, and programs that use it; needs no module.
pub fn check(fix: bool) -> Result<()> {
    let mypy = tools::mypy()?;
    let check: &[&str] = if fix { &[] } else { &["--check"] };
    let written = start(command(workspace::python()).arg(WRITE).args(check));
    let package = start(command(&mypy).args(["-m", "mypy", "-p", "gpupy"]));
    let programs = start(command(&mypy).args(["-m", "mypy", PROGRAMS]));
    written.and(package).and(programs)
}

/// Compares the stubs with the module, which is built if necessary: the stubs have each of its names, and
/// describe gpupy's own correctly.
pub fn stubs() -> Result<()> {
    develop::prepare()?;
    let mypy = tools::mypy()?;
    let file = workspace::target().join("names.py");
    let program = capture(command(&mypy).arg(NAMES))?;
    fs::write(&file, program).map_err(|error| Failure::file("write", &file, &error))?;
    let names = start(command(&mypy).args(["-m", "mypy"]).arg(&file));
    let mut stubtest = command(&mypy);
    stubtest.args(["-m", "mypy.stubtest", "gpupy", "--mypy-config-file", "pyproject.toml"]);
    // NumPy's stubs do not say which classes have a layout of their own.
    stubtest.args(["--concise", "--ignore-disjoint-bases", "--allowlist", ALLOWED]);
    names.and(start(&mut stubtest))
}
