//! The command `coverage`: the page of recorded functions.
//!
//! Owns nothing: the page is written by the program that the tests use to check it. Not here: the content of
//! the page (`crates/gpupy-py/coverage`).

use crate::develop;
use crate::machine::command_line::GivenWords;
use crate::machine::failure::Result;
use crate::machine::process::{announce, command, run as start};
use crate::machine::workspace;

/// The program that writes the page.
const WRITE: &str = "crates/gpupy-py/coverage/write.py";

/// Writes the page.
pub fn run(_: &GivenWords) -> Result<()> {
    develop::prepare()?;
    announce("coverage");
    start(command(workspace::python()).arg(WRITE))
}
