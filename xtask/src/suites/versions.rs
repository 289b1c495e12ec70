//! The part `versions` of the command `test`: the quick Python tests on the oldest supported Python and NumPy,
//! and on the newest Python here with its newest NumPy.
//!
//! Owns the choice of the two. The module is built once and serves every Python, so nothing is built.
//! Invariant: if this machine lacks a Python, a line says that the tests are skipped; this is no failure. Not
//! here: the choice of tests (`quick_tests`), the environments and the search for interpreters (`venv`).

use std::path::Path;

use crate::machine::failure::Result;
use crate::machine::process::{capture, command, run as start};
use crate::machine::steps::SuiteStep;
use crate::machine::venv::{self, Interpreter};
use crate::machine::workspace;
use crate::suites::quick_tests;
use crate::suites::suite_parts::MODULE;

/// The oldest supported NumPy, and the last Python that has a wheel of it.
const OLDEST_NUMPY: &str = "2.0";
const LAST_WITH_IT: (u32, u32) = (3, 12);

/// Prints the versions that the tests run on.
const VERSIONS: &str = "
import sys, numpy
print('Python', sys.version.split()[0] + ',', 'NumPy', numpy.__version__)
";

/// The random programs, by pytest's name.
const RANDOM: &str = "crates/gpupy-py/tests/differential/test_differential.py::test_random_programs_do_what_numpys_do";

/// A step for each pair.
pub fn steps() -> [SuiteStep<'static>; 2] {
    [
        SuiteStep::new("Python tests, a choice, on the oldest Python and NumPy", oldest)
            .after(MODULE),
        SuiteStep::new("Python tests, a choice, on the newest Python", newest).after(MODULE),
    ]
}

fn oldest() -> Result<()> {
    let found = venv::interpreters();
    match oldest_of(&found) {
        Some(python) => tests(&venv::beside(&python.program, Some(OLDEST_NUMPY))?),
        None => {
            let (major, minor) = LAST_WITH_IT;
            println!("   left out: NumPy {OLDEST_NUMPY} wants Python {major}.{minor} or older");
            Ok(())
        }
    }
}

fn newest() -> Result<()> {
    let found = venv::interpreters();
    match newest_of(&found, venv::version(&workspace::python())) {
        Some(python) => tests(&venv::beside(&python.program, None)?),
        None => {
            println!("   left out: no Python is here that is newer than that of `.venv/`");
            Ok(())
        }
    }
}

fn oldest_of(found: &[Interpreter]) -> Option<&Interpreter> {
    let oldest = found.iter().min_by_key(|python| python.version);
    oldest.filter(|python| python.version <= LAST_WITH_IT)
}

fn newest_of(found: &[Interpreter], own: Option<(u32, u32)>) -> Option<&Interpreter> {
    let newest = found.iter().max_by_key(|python| python.version);
    newest.filter(|python| Some(python.version) > own)
}

fn tests(python: &Path) -> Result<()> {
    println!("   {}", capture(command(python).args(["-c", VERSIONS]))?.trim());
    // Random programs expect the messages and warnings of the NumPy in `.venv/`.
    start(quick_tests::tests(python).args(["--deselect", RANDOM]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_and_the_newest_are_chosen_where_they_serve() {
        let of = |minors: &[u32]| -> Vec<Interpreter> {
            let one = |&minor| Interpreter { program: "python".into(), version: (3, minor) };
            minors.iter().map(one).collect()
        };
        let minor = |found: Option<&Interpreter>| found.map(|python| python.version.1);
        let found = of(&[12, 11, 14]);
        assert_eq!(minor(oldest_of(&found)), Some(11));
        assert_eq!(minor(newest_of(&found, Some((3, 12)))), Some(14));
        assert_eq!(minor(newest_of(&found, Some((3, 14)))), None);
        assert_eq!(minor(oldest_of(&of(&[13]))), None);
        assert_eq!(minor(oldest_of(&[])), None);
        assert_eq!(minor(newest_of(&[], None)), None);
    }
}
