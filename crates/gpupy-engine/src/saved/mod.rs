//! Recorded functions in files.
//!
//! A [`Saved`](file::Saved) function is [`Look`](look::Look)s, each of which says what arguments were like, and what
//! was done with them: [`Outline`](outline::Outline)s of segments, one after another, which part where the function
//! decided. Integers that follow from extents which may differ are [`Extent`](extent::Extent)s; looks that differ in
//! extents alone are one with open ones (`joined.rs`, `single.rs`, `among.rs`). The front end makes looks with a
//! [`Writer`](writer::Writer); a program without one calls a file by [`Saved::run`](file::Saved::run).
//!
//! Imports all folders above it. Not here: recording (`record/`), what arguments and results are to the front end.

mod among;
mod checked;
pub mod extent;
pub mod file;
pub mod joined;
pub mod look;
pub mod outline;
mod run;
pub mod seen;
mod single;
pub mod writer;

use gpupy_core::{Error, ErrorKind};

fn unsupported(words: &str) -> Error {
    Error::new(ErrorKind::Unsupported, "save").says(words)
}
