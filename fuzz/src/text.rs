//! The text form of programs.

use crate::{Reached, follow, programs};
use gpupy_core::ir::Program;

/// The text forms of valid programs.
pub fn seeds() -> Vec<Vec<u8>> {
    programs::all().iter().map(|program| program.to_string().into_bytes()).collect()
}

/// Reads a text. A program that was read prints; one that verifies prints and reads back as the same program.
pub fn run(input: &[u8]) -> Reached {
    match String::from_utf8_lossy(input).parse::<Program>() {
        Ok(program) => follow::read(&program, follow::text),
        Err(error) => Reached::words(error.message()),
    }
}
