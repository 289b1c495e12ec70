//! The command `header`: the C header of the driver contract.
//!
//! Owns nothing: the test that checks the header also writes it, like other snapshots. Not here: the content of
//! the header (`crates/gpupy-core/src/plugin/driver_table.rs`).

use crate::machine::command_line::GivenWords;
use crate::machine::failure::Result;
use crate::machine::process::{announce, cargo, run as start};

/// Writes the header.
pub fn run(_: &GivenWords) -> Result<()> {
    announce("C header");
    let mut test = cargo();
    test.args(["test", "--release", "--quiet", "-p", "gpupy-core", "--test", "header"]);
    start(test.env("GPUPY_BLESS", "1"))
}
