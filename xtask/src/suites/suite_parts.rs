//! The parts that `test` and its subsets share.
//!
//! Owns these commands and [`Share`]. Not here: the choice of parts (`all_tests`, `quick_tests`, `versions`).

use std::path::Path;
use std::process::Command;

use crate::develop;
use crate::machine::failure::Result;
use crate::machine::process::{self, cargo, command, run as start};
use crate::machine::steps::SuiteStep;
use crate::machine::{features, workspace};

/// The title of the step that others depend on.
pub const MODULE: &str = "Python module";

/// The beginning of the line of a Rust test that is skipped (`tests/src/reporting/skipped.rs`).
pub const SKIPPED: &str = "skipped: ";

/// The script of NumPy's own tests.
const NUMPYS: &str = "crates/gpupy-py/numpy_tests/run.py";

/// Which of the Python tests run on GPU drivers.
#[derive(Clone, Copy)]
pub enum Share {
    /// All that are of a driver, and of those of the front end the share of the commit.
    OfCommit,
    /// All.
    Everything,
}

impl Share {
    /// The words for pytest.
    pub fn words(self) -> &'static [&'static str] {
        match self {
            Self::OfCommit => &[],
            Self::Everything => &["--share=all"],
        }
    }
}

/// The build of the module that the Python tests import.
pub fn module() -> SuiteStep<'static> {
    SuiteStep::new(MODULE, develop::prepare)
}

/// Runs Rust tests; the note has how many were skipped.
pub fn rust(tests: &mut Command) -> Result<String> {
    process::run_counting(tests, SKIPPED).map(skipped)
}

/// The note about so many tests that were skipped.
pub fn skipped(count: usize) -> String {
    if count == 0 { String::new() } else { format!("{count} skipped, with reasons above") }
}

/// Pytest by this interpreter, in a process for each processor; an idle one steals tests from another.
pub fn pytest(python: &Path) -> Command {
    let mut tests = command(python);
    tests.args(["-m", "pytest", "-n", "auto", "--dist", "worksteal"]);
    tests
}

/// Runs the suite's command on a driver, or on the plug-in at a path.
pub fn conformance_on(driver: &str) -> Result<()> {
    as_in_all_tests("c_driver")?;
    start(command(workspace::program("gpupy-conformance")).arg(driver))
}

/// Builds the software driver as a plug-in and returns its path.
pub fn plugin() -> Result<String> {
    as_in_all_tests("loaded")?;
    Ok(workspace::library_of_tests("gpupy_soft").display().to_string())
}

/// Builds a test, and the command and library beside it, as a part of all tests. A build of its own would have fewer
/// features of what it depends on, and build nearly everything again.
fn as_in_all_tests(test: &str) -> Result<()> {
    let mut build = cargo();
    build.args(["test", "--release", "--quiet", "--workspace", "--no-run", "--test", test]);
    start(build.args(features::of_workspace()))
}

/// Runs the tests in NumPy's wheel with gpupy in NumPy's place; only these files, if any are named.
pub fn numpy(python: &Path, files: &[&str]) -> Result<()> {
    start(command(python).arg(NUMPYS).args(files))
}
