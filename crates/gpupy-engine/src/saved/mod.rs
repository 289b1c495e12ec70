//! Recorded functions in files.
//!
//! A [`Saved`](file::Saved) function is a list of [`Look`](look::Look)s. A look describes the arguments of a call, and
//! the operations done with them: [`Outline`](outline::Outline)s of segments, one after another, with a branch where
//! the function decided. Integers that follow from open extents are [`Extent`](extent::Extent)s; looks that differ in
//! extents alone are merged into one with open extents (`open_extents.rs`, `split_paths.rs`, `among.rs`). The front end
//! makes looks with a [`Writer`](writer::Writer); a program without a front end calls a file by
//! [`Saved::run`](file::Saved::run).
//!
//! Imports all folders above it. Not here: recording (`record/`), the front end's objects for arguments and results.

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
