//! The command `header`: the C header of the driver contract.
//!
//! Owns nothing: the test that checks the header also writes it, like other snapshots. Not here: the content of
//! the header (`crates/gpupy-core/src/plugin/driver_table.rs`).

use crate::machine::failure::{self, Result};
use crate::machine::process::{announce, cargo, run as start};

/// Writes the header.
pub fn run(arguments: &[String]) -> Result<()> {
    failure::no_arguments("header", arguments)?;
    announce("C header");
    let mut test = cargo();
    test.args(["test", "--release", "--quiet", "-p", "gpupy-core", "--test", "header"]);
    start(test.env("GPUPY_BLESS", "1"))
}
