//! The JSON form of programs.

use crate::{Reached, follow, programs};
use gpupy_core::ir::Program;

/// The JSON forms of valid programs.
pub fn seeds() -> Vec<Vec<u8>> {
    programs::all().iter().filter_map(|program| serde_json::to_vec(program).ok()).collect()
}

/// Reads JSON. A program that verifies is read back as the same program, and every later stage accepts it.
pub fn run(input: &[u8]) -> Reached {
    match serde_json::from_slice::<Program>(input) {
        Ok(program) => follow::read(&program, |program| {
            let again = serde_json::to_vec(program).map(|json| serde_json::from_slice(&json));
            assert!(matches!(again, Ok(Ok(again)) if *program == again), "{program}");
            follow::stages(program);
        }),
        Err(error) => Reached::words(&error.to_string()),
    }
}
