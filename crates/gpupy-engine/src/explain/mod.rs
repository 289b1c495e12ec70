//! Telling people what was done.
//!
//! A [`Flush`](trace::Flush) is the record of one evaluation: the graph, and an [`Event`](trace::Event) for each thing
//! that was done, most of them a [`Step`](step::Step) of its schedule. The [`Tracer`](tracer::Tracer) records it;
//! `flush_text.rs` (with `names.rs` and the `event_words.rs` of a step) and `picture.rs` show it, which an
//! [`Explanation`](explanation::Explanation) hands out. [`Stats`](stats::Stats) are the counts.
//!
//! Imports `memory` and `graph`. Not here: who asks (`context/explaining.rs`, `context/counts.rs`).

mod event_words;
pub(crate) mod explanation;
pub(crate) mod flush_text;
mod layered;
mod names;
mod picture;
pub(crate) mod stats;
pub(crate) mod step;
pub mod trace;
pub(crate) mod tracer;
