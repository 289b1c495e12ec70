//! The trial of a wheel on each Python that is here, as a stranger's who has no checkout.
//!
//! Owns the environments and the choice of tests. Invariant: nothing is imported from the checkout, whose tests are
//! copied out of it. Not here: the first steps themselves (`xtask/wheel/trial.py`).

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::dist;
use crate::machine::failure::{Failure, Result};
use crate::machine::venv::Interpreter;
use crate::machine::{process, venv, workspace};
use crate::suites::quick_tests;

/// Tests that need nothing of the checkout but themselves.
const TESTS: [&str; 3] = ["test_creation.py", "test_reduce.py", "test_views.py"];

/// Tries the wheel on each Python, the oldest first.
pub fn on_each_python(wheel: &Path) -> Result<()> {
    let folder = std::env::temp_dir().join(format!("gpupy-trial-{}", std::process::id()));
    fs::create_dir(&folder).map_err(|error| Failure::file("make", &folder, &error))?;
    let mut pythons = venv::interpreters();
    pythons.sort_by_key(|python| python.version);
    let tried = pythons.iter().try_for_each(|python| on(python, wheel, &folder));
    fs::remove_dir_all(&folder).map_err(|error| Failure::file("remove", &folder, &error))?;
    tried
}

/// Installs the wheel into an environment made anew, and runs what a stranger runs first, then tests.
fn on(interpreter: &Interpreter, wheel: &Path, folder: &Path) -> Result<()> {
    let (major, minor) = interpreter.version;
    process::announce(&format!("the wheel on Python {major}.{minor}"));
    let place = folder.join(format!("{major}.{minor}"));
    let python = place.join("bin").join("python");
    process::run(process::command(&interpreter.program).args(["-m", "venv"]).arg(&place))?;
    let start = Instant::now();
    venv::install_into(&python, &["--quiet", &wheel.to_string_lossy()])?;
    println!("   installed with NumPy in {:.1} s", start.elapsed().as_secs_f64());
    let mut first = dist::program(&python, "trial.py");
    process::run(first.current_dir(&place).arg(workspace::root().join("README.md")))?;
    let mut info = process::command(place.join("bin").join("gpupy"));
    process::run(info.current_dir(&place).arg("info"))?;
    venv::install_into(&python, &[&["--quiet"], &venv::FOR_TESTS[..]].concat())?;
    let tests = copied(&place)?;
    let mut pytest = process::command(&python);
    pytest.current_dir(&tests).args([
        "-I",
        "-m",
        "pytest",
        "-q",
        "-n",
        "2",
        "-p",
        "no:cacheprovider",
    ]);
    pytest.args(["-k", quick_tests::DRIVERS]).args(TESTS).env_remove("PYTHONPATH");
    process::run(&mut pytest)
}

/// Copies the tests, without their folders, beside an environment.
fn copied(place: &Path) -> Result<PathBuf> {
    let from = workspace::root().join("crates/gpupy-py/tests");
    let to = place.join("tests");
    fs::create_dir(&to).map_err(|error| Failure::file("make", &to, &error))?;
    let files = fs::read_dir(&from).map_err(|error| Failure::file("read", &from, &error))?;
    for path in files.flatten().map(|entry| entry.path()).filter(|path| path.is_file()) {
        let copy = to.join(path.file_name().unwrap_or_default());
        fs::copy(&path, &copy).map_err(|error| Failure::file("write", &copy, &error))?;
    }
    Ok(to)
}
