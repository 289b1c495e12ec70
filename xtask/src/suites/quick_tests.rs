//! The part `quick` of the command `test`: a subset of every part, for the time between two edits.
//!
//! Owns the choice: the unit tests of Rust, the conformance suite on the drivers that need no GPU, the Python
//! tests [`TESTS`], and of NumPy's own tests [`NUMPYS`]. Invariants: it takes less than three minutes on two
//! processors, without builds; all of it is also part of the full run. Not here: all tests (`all_tests`), the
//! same choice on other Pythons (`versions`).

use std::path::Path;
use std::process::Command;

use crate::machine::failure::Result;
use crate::machine::process::run as start;
use crate::machine::steps::SuiteStep;
use crate::machine::{features, process, workspace};
use crate::suites::suite_parts::{self, MODULE};

/// The Python tests by words of their names: GPU drivers take long, above all where a processor emulates one.
pub const DRIVERS: &str = "not gl- and not vulkan- and not wgpu-";

/// Python tests that neither wait nor start processes, and users' programs.
const TESTS: [&str; 27] = [
    "test_calls_as_numpys.py",
    "test_creation.py",
    "test_dtypes.py",
    "test_bitcast_views.py",
    "test_fallback.py",
    "test_index_arrays.py",
    "test_interop.py",
    "test_joining.py",
    "test_layout.py",
    "test_letter.py",
    "test_linear.py",
    "test_memory.py",
    "test_numpys_memory.py",
    "test_operators.py",
    "test_programs.py",
    "test_public_names.py",
    "test_reduce.py",
    "test_rewrites.py",
    "test_scalars.py",
    "test_scalars_as_sizes.py",
    "test_small.py",
    "test_sorting.py",
    "test_views.py",
    "test_warnings.py",
    "test_writes_within.py",
    "test_writing.py",
    "differential",
];

/// Random programs on each driver.
const PROGRAMS: &str = "300";

/// Files of NumPy's own tests.
const NUMPYS: [&str; 4] = [
    "_core/tests/test_indexing.py",
    "_core/tests/test_shape_base.py",
    "fft/tests/test_pocketfft.py",
    "lib/tests/test_index_tricks.py",
];

/// A choice of every part.
pub fn steps() -> Vec<SuiteStep<'static>> {
    let mut steps = vec![suite_parts::module(), SuiteStep::noting("Rust unit tests", rust)];
    steps.extend(["cpu", "soft"].map(|driver| {
        SuiteStep::new(format!("conformance on {driver}"), || suite_parts::conformance_on(driver))
    }));
    steps.push(
        SuiteStep::new("Python tests, a choice", || start(&mut tests(&workspace::python())))
            .after(MODULE),
    );
    steps.push(
        SuiteStep::new("NumPy's own tests, a choice", || {
            suite_parts::numpy(&workspace::python(), &NUMPYS)
        })
        .after(MODULE),
    );
    steps
}

fn rust() -> Result<String> {
    let mut tests = process::cargo();
    // The module has no Rust tests. `benches/Cargo.toml` explains why this builds nothing twice.
    tests.args(["test", "--release", "--workspace", "--exclude", "gpupy-py"]);
    tests.args(["--lib", "--quiet", "--no-fail-fast"]);
    suite_parts::rust(tests.args(features::of_all_but_module()))
}

/// The chosen Python tests, by this interpreter.
pub fn tests(python: &Path) -> Command {
    let folder = workspace::root().join("crates/gpupy-py/tests");
    let mut tests = suite_parts::pytest(python);
    tests.args(["-q", "-p", "no:cacheprovider", "-k", DRIVERS]);
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
