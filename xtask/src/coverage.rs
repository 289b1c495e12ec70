//! The command `coverage`: the page of which functions are recorded.
//!
//! Owns nothing: the program that the tests ask whether the page is fresh writes it. Not here: what the page says
//! (`crates/gpupy-py/coverage`).

use crate::develop;
use crate::machine::failure::{self, Result};
use crate::machine::process::{announce, command, run as start};
use crate::machine::workspace;

/// What writes the page.
const WRITE: &str = "crates/gpupy-py/coverage/write.py";

/// Writes the page.
pub fn run(arguments: &[String]) -> Result<()> {
    failure::no_arguments("coverage", arguments)?;
    develop::prepare()?;
    announce("coverage");
    start(command(workspace::python()).arg(WRITE))
}
