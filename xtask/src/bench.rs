//! The command `bench`: times NumPy against gpupy.
//!
//! Owns its command line. What is timed is Python's (`benches/bench.py`), but for the recording of an
//! operation in the core (`benches/src/main.rs`). Invariant: it judges nothing; times are printed and written,
//! never asserted.

use crate::failure::Result;
use crate::{demo, develop, process, workspace};

/// Sets up, builds and runs the benchmarks.
pub fn run(arguments: &[String]) -> Result<()> {
    demo::check(arguments, &["--driver", "--rounds"], &["--quick"])?;
    develop::prepare()?;
    process::announce("bench");
    let mut core = process::cargo();
    core.args(["run", "--release", "--quiet", "-p", "gpupy-bench"]);
    let nanoseconds = process::capture(&mut core)?;
    let mut bench = process::command(workspace::python());
    bench.arg("benches/bench.py").args(arguments);
    process::run(bench.args(["--core-ns", nanoseconds.trim()]))
}
