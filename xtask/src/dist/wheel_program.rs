//! The Python programs in `xtask/wheel`, which the workflows run too.
//!
//! Owns their place. Not here: what they do.

use std::path::Path;
use std::process::Command;

use crate::machine::{process, workspace};

/// One of them, for this interpreter; its arguments are to be added.
pub fn program(python: &Path, name: &str) -> Command {
    let mut program = process::command(python);
    program.arg(workspace::root().join("xtask/wheel").join(name));
    program
}
