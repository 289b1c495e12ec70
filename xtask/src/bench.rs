//! The command `bench`: times NumPy against gpupy.
//!
//! Owns its command line. What is timed is Python's (`benches/bench.py`). Invariant: it judges nothing; times
//! are printed and written, never asserted.

use crate::failure::Result;
use crate::{demo, develop, process, workspace};

/// Sets up, builds and runs the benchmarks.
pub fn run(arguments: &[String]) -> Result<()> {
    demo::check(arguments, &["--driver", "--rounds"], &["--quick"])?;
    develop::prepare()?;
    process::announce("bench");
    process::run(
        process::command(workspace::python())
            .arg("benches/bench.py")
            .args(arguments),
    )
}
