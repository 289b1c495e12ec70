//! The results of cases, and their trace.
//!
//! An [`Outcome`](outcome::Outcome) is the end of a case; a [`Report`](report::Report) has all of them. A trace
//! is the output of a case while it runs (`trace.rs`), with elements and launches as text (`describe.rs`).
//! `table.rs` prints a report for people, `skipped.rs` the line of a test that cannot run.
//!
//! Imports nothing else of this crate.

pub mod describe;
pub mod outcome;
pub mod report;
pub mod skipped;
mod table;
pub mod trace;
