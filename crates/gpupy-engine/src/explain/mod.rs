//! Telling people what was done.
//!
//! A [`Flush`](trace::Flush) is the record of one evaluation: the graph, and an [`Event`](trace::Event) for each thing
//! that was done, most of them a [`Step`](step::Step) of its schedule. The [`Tracer`](tracer::Tracer) records it;
//! `text.rs` (with `names.rs` and the `words.rs` of a step) and `picture.rs` show it, which an
//! [`Explanation`](explanation::Explanation) hands out. [`Stats`](stats::Stats) are the counts.
//!
//! Imports `memory` and `graph`. Not here: who asks (`context/explaining.rs`, `context/counts.rs`).

pub(crate) mod explanation;
mod layered;
mod names;
mod picture;
pub(crate) mod stats;
pub(crate) mod step;
pub(crate) mod text;
pub mod trace;
pub(crate) mod tracer;
mod words;
