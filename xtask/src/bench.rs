//! The command `bench`: times NumPy against gpupy.
//!
//! Owns its command line. What is timed is Python's (`python -m gpupy bench`), but for the recording of an
//! operation in the core (`benches/src/main.rs`). Invariant: it judges nothing; times are printed and written,
//! never asserted.

use std::fs;

use crate::failure::{Failure, Result};
use crate::{demo, develop, process, workspace};

/// Sets up, builds and runs the benchmarks.
pub fn run(arguments: &[String]) -> Result<()> {
    demo::check(arguments, &["--driver", "--programs", "--rounds", "--sizes"], &["--quick"])?;
    develop::prepare()?;
    process::announce("bench");
    let out = workspace::root().join("out");
    fs::create_dir_all(&out).map_err(|error| Failure::file("make", &out, &error))?;
    let mut bench = process::command(workspace::python());
    bench.args(["-m", "gpupy", "bench", "--out", "out/bench.svg", "--json", "out/bench.json"]);
    process::run(bench.args(arguments))?;
    let mut core = process::cargo();
    process::run(core.args(["run", "--release", "--quiet", "-p", "gpupy-bench"]))
}
