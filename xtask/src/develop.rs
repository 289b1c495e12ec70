//! The optimised Python module, built into `.venv/`.
//!
//! Owns the build by maturin and the stamp that avoids it. Invariant: after [`prepare`] the module that
//! `.venv/bin/python` imports was built from the current sources. The stamp lists every source file of the
//! module, and the module, with size and time, so a change of any of them starts a build; cargo decides what is
//! rebuilt. Python sources are imported in place and need no build. Not here: the environment itself (`venv`),
//! the system's packages (`system`).

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use crate::machine::command_line::GivenWords;
use crate::machine::failure::{Failure, Result};
use crate::machine::{features, process, system, venv, workspace};

/// Files and folders that the module is compiled from.
const SOURCES: [&str; 4] = ["Cargo.toml", "Cargo.lock", "pyproject.toml", "crates"];

/// The folder of Python packages that is imported in place.
pub const PACKAGES: &str = "crates/gpupy-py/python";

/// Where maturin puts the module, for the Python package beside it to import.
const PACKAGE: &str = "crates/gpupy-py/python/gpupy";

/// The command `develop`.
pub fn run(_: &GivenWords) -> Result<()> {
    prepare()?;
    println!("\ngpupy is ready: .venv/bin/python -c 'import gpupy'");
    Ok(())
}

/// Sets up the machine and the environment, and builds changed sources.
pub fn prepare() -> Result<()> {
    system::prepare();
    venv::prepare()?;
    let stamp = workspace::venv().join("gpupy-module.txt");
    if fs::read_to_string(&stamp).is_ok_and(|built| built == state()) {
        return Ok(());
    }
    let built = sources();
    process::announce("Python module (optimised)");
    let mut maturin = process::command(workspace::python());
    maturin.args(["-m", "maturin", "develop", "--release", "--locked"]);
    maturin.args(features::of_module());
    // Maturin uses this environment; one that is active in the caller's shell must not take precedence.
    maturin.env("VIRTUAL_ENV", workspace::venv()).env_remove("CONDA_PREFIX");
    process::run(&mut maturin)?;
    if built != sources() {
        // Files that changed during the build may not be in the module.
        return Ok(());
    }
    fs::write(&stamp, state()).map_err(|error| Failure::file("write", &stamp, &error))
}

/// One line for the features, then one for each source file, and one for the module.
fn state() -> String {
    let package = fs::read_dir(workspace::root().join(PACKAGE));
    let modules = package.into_iter().flatten().flatten().map(|entry| entry.path());
    let mut modules: Vec<PathBuf> = modules.filter(|path| has_extension(path, "so")).collect();
    if modules.is_empty() {
        // Not built: a state that no stamp equals, because the stamp is written after the build.
        return String::from("no module");
    }
    modules.sort();
    modules.iter().map(|path| description(path)).fold(sources(), |state, line| state + &line)
}

/// One line for the features, then one for each source file.
fn sources() -> String {
    let root = workspace::root();
    let mut files = Vec::new();
    for source in SOURCES {
        list(&root.join(source), &mut files);
    }
    files.retain(|path| is_source(path));
    files.sort();
    let features = format!("{}\n", features::of_module().join(" "));
    std::iter::once(features).chain(files.iter().map(|path| description(path))).collect()
}

/// All files below `path`, or itself.
fn list(path: &Path, files: &mut Vec<PathBuf>) {
    let mut folders = vec![path.to_path_buf()];
    while let Some(path) = folders.pop() {
        match fs::read_dir(&path) {
            Ok(entries) => folders.extend(entries.flatten().map(|entry| entry.path())),
            Err(_) => files.push(path),
        }
    }
}

/// Whether a change of this file can change the compiled module.
fn is_source(path: &Path) -> bool {
    let python = ["py", "pyi", "pyc", "so"].iter().any(|e| has_extension(path, e));
    // A crate's `tests/` are not part of the module, and tools write into hidden folders.
    let parts = path.strip_prefix(workspace::root()).unwrap_or(path).components();
    let mut names = parts.map(|part| part.as_os_str().to_string_lossy());
    !python && !names.any(|name| name == "tests" || name.starts_with('.'))
}

fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|e| e == extension)
}

fn description(path: &Path) -> String {
    let (length, time) = match fs::metadata(path) {
        Ok(data) => {
            let modified = data.modified().ok().and_then(|t| t.duration_since(UNIX_EPOCH).ok());
            (data.len(), modified.unwrap_or_default().as_nanos())
        }
        Err(_) => (0, 0),
    };
    format!("{} {length} {time}\n", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_goes_into_the_module_counts() {
        let check = |path: &str, wanted| assert_eq!(is_source(Path::new(path)), wanted, "{path}");
        check("crates/gpupy-core/src/lib.rs", true);
        check("crates/gpupy-core/Cargo.toml", true);
        check("crates/driver-gl/shaders/copy.glsl", true);
        check("crates/gpupy-py/python/gpupy/__init__.py", false);
        check("crates/gpupy-py/tests/test_array.py", false);
        check("crates/gpupy-py/.ruff_cache/CACHEDIR.TAG", false);
    }
}
