//! The part `quick` of the command `test`: something of every part, for the time between two edits.
//!
//! Owns the choice: of Rust the unit tests, of the conformance suite the drivers that need no GPU, of the Python
//! tests [`TESTS`], of NumPy's own tests [`NUMPYS`]. Invariants: it takes less than three minutes on two processors,
//! beside what has to be built; what it runs is also in the whole. Not here: all tests (`test`), the same choice on
//! other Pythons (`versions`).

use std::path::Path;
use std::process::Command;

use crate::process::{command, run as start};
use crate::steps::Step;
use crate::test::{self, MODULE};
use crate::{features, process, workspace};

/// Python tests by the words of their names: drivers of GPUs take long, above all where a processor plays one.
pub const DRIVERS: &str = "not gl- and not vulkan- and not wgpu-";

/// Files of Python tests: what every program does, and what goes by the versions of Python and NumPy.
const TESTS: [&str; 1] = ["test_views.py"];

/// Random programs on each driver.
const PROGRAMS: &str = "60";

/// Files of NumPy's own tests.
const NUMPYS: [&str; 1] = ["_core/tests/test_ufunc.py"];

/// A choice of every part.
pub fn steps() -> Vec<Step<'static>> {
    let module = || test::module();
    let mut steps = vec![module(), Step::new("Rust unit tests", rust)];
    steps.extend(["cpu", "soft"].map(|driver| {
        Step::new(format!("conformance on {driver}"), || test::conformance_on(driver))
    }));
    steps.push(
        Step::new("Python tests, a choice", || start(&mut tests(&workspace::python())))
            .after(MODULE),
    );
    steps.push(Step::new("NumPy's own tests, a choice", || test::numpy(&NUMPYS)).after(MODULE));
    steps
}

fn rust() -> crate::failure::Result<()> {
    let mut tests = process::cargo();
    // As all of the workspace, so that nothing is built a second time with other features.
    tests.args(["test", "--release", "--workspace", "--lib", "--quiet", "--no-fail-fast"]);
    start(tests.args(features::of_workspace()))
}

/// The chosen Python tests, by this interpreter.
pub fn tests(python: &Path) -> Command {
    let folder = workspace::root().join("crates/gpupy-py/tests");
    let mut tests = command(python);
    tests.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", DRIVERS]);
    tests.args(TESTS.map(|file| folder.join(file)));
    tests.env("GPUPY_DIFFERENTIAL", PROGRAMS);
    tests
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_chosen_exists() {
        for file in TESTS {
            assert!(workspace::root().join("crates/gpupy-py/tests").join(file).exists(), "{file}");
        }
    }
}
