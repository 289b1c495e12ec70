//! Fuzzing of gpupy's inputs from outside: programs in their three forms, plug-ins, and files of
//! recorded functions.
//!
//! Owns [`TARGETS`]. A target is a plain function of bytes that panics when a promise is broken, so
//! any fuzzer can call it; the engine here is small, and runs on stable Rust:
//!
//! ```text
//! cargo run --release -p gpupy-fuzz -- text --runs 1000000
//! ```
//!
//! With `CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true` in the environment, sums that leave their integers
//! are panics too; so they are in the tests of the dev profile.
//!
//! | file | content |
//! |---|---|
//! | `text.rs`, `json.rs`, `memory_form.rs`, `answers.rs`, `saved.rs` | a target each |
//! | `table.rs` | a driver's table that answers with the input's numbers, for `answers` |
//! | `exported.rs` | the table's functions of a library in Rust, called by `memory_form` |
//! | `follow.rs` | the properties of every program that verifies |
//! | `programs.rs` | valid programs to begin with |
//! | `bytes.rs` | bytes as a source of numbers |
//! | `engine.rs` | mutation, and the order of runs |
//!
//! Invariant: a target's run depends on its bytes alone.
//!
//! Not here: programs that are valid by construction (`gpupy-core`'s tests), whether values are
//! right (the conformance suite).

mod answers;
mod bytes;
pub mod engine;
mod exported;
mod follow;
mod json;
mod memory_form;
mod programs;
mod saved;
mod table;
mod text;

use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// Something to try with bytes.
pub struct Target {
    /// The name on the command line.
    pub name: &'static str,
    /// Its description, for people.
    pub does: &'static str,
    /// Runs it, and returns a number for its outcome.
    pub run: fn(&[u8]) -> Reached,
    /// Inputs to begin with.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// True when inputs are text.
    pub is_text: bool,
}

/// A number for the outcome of a run: equal for runs that ended alike. Inputs with a new number are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Reached(u64);

impl Reached {
    /// The number of a message's beginning and end, without its numbers and quoted parts.
    fn words(said: &str) -> Reached {
        let letters =
            |part: Option<&str>| part.map(|p| p.replace(|c: char| c.is_ascii_digit(), ""));
        let mut parts = said.split(['`', '"']);
        Reached::value((letters(parts.next()), letters(parts.next_back())))
    }

    /// This value.
    fn value(value: impl Hash) -> Reached {
        let mut hasher = FxHasher::default();
        value.hash(&mut hasher);
        Reached(hasher.finish())
    }
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target {
        name: "text",
        does: "the text form: what verifies prints and reads back as the same program",
        run: text::run,
        seeds: text::seeds,
        is_text: true,
    },
    Target {
        name: "json",
        does: "the JSON form: what verifies becomes shaders and rows, and is evaluated",
        run: json::run,
        seeds: json::seeds,
        is_text: true,
    },
    Target {
        name: "memory_form",
        does: "programs and launches of a C caller: what is read is what was given",
        run: memory_form::run,
        seeds: memory_form::seeds,
        is_text: false,
    },
    Target {
        name: "answers",
        does: "plug-ins whose tables and answers make no sense",
        run: answers::run,
        seeds: answers::seeds,
        is_text: false,
    },
    Target {
        name: "saved",
        does: "files of recorded functions: what is read is written, and called if it is little work",
        run: saved::run,
        seeds: saved::seeds,
        is_text: true,
    },
];

/// The target of a name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
