//! What a case tells.
//!
//! An [`Outcome`](outcome::Outcome) is how a case ends; a [`Report`](report::Report) has all of them; a *story* is what a
//! case tells of itself while it runs (`trace.rs`), with elements and launches in words (`describe.rs`);
//! `table.rs` shows a report to people.
//!
//! Imports nothing else of this crate.

pub mod describe;
pub mod outcome;
pub mod report;
mod table;
pub mod trace;
