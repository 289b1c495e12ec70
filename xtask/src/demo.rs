//! The command `demo`: the example programs with their pictures and times.
//!
//! Owns its command line. The programs and the table are in Python (`examples/demo.py`).

use crate::develop;
use crate::machine::command_line::{CommandForm, GivenWords};
use crate::machine::failure::Result;
use crate::machine::{process, workspace};

/// What the command takes.
pub const FORMS: &[CommandForm] =
    &[CommandForm::new("", "--driver NAME --points N --size N --sweep", run)];

/// Sets up, builds and runs the demo.
fn run(given: &GivenWords) -> Result<()> {
    develop::prepare()?;
    process::announce("demo");
    process::run(process::command(workspace::python()).arg("examples/demo.py").args(&given.others))
}
