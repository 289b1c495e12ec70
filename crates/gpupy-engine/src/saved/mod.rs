//! Recorded functions in files.
//!
//! A [`Saved`](file::Saved) function is [`Look`](look::Look)s, each of which says what arguments were like, and what
//! was done with them: [`Outline`](outline::Outline)s of segments, one after another, which part where the function
//! decided. Integers that follow from extents which may differ are [`Extent`](extent::Extent)s; looks that differ in
//! extents alone are one with open ones (`open_extents.rs`, `split_paths.rs`, `among.rs`). The front end makes looks
//! with a [`Writer`](writer::Writer); a program without one calls a file by [`Saved::run`](file::Saved::run).
//!
//! Imports all folders above it. Not here: recording (`record/`), what arguments and results are to the front end.

mod among;
pub mod extent;
pub mod file;
pub mod look;
mod look_check;
pub mod open_extents;
pub mod open_view;
pub mod outline;
mod run;
mod split_paths;
pub mod writer;

use gpupy_core::{Error, ErrorKind};

fn unsupported(words: &str) -> Error {
    Error::new(ErrorKind::Unsupported, "save").says(words)
}
