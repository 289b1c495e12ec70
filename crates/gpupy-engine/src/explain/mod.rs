//! Explanations and traces of evaluations, for people.
//!
//! A [`Flush`](trace::Flush) is the record of one evaluation: the graph, and an [`Event`](trace::Event) for each
//! action, most of them a [`Step`](step::Step) of its schedule. The [`Tracer`](tracer::Tracer) records it.
//! `flush_text.rs` (with `names.rs` and `event_words.rs`), `picture.rs` and `dot.rs` show it; an
//! [`Explanation`](explanation::Explanation) hands them out. [`Stats`](stats::Stats) are the counts, among them those
//! of flushes that are planned again, by the reason ([`NotKept`](not_kept::NotKept)).
//!
//! Imports `memory` and `graph`. Not here: requests for explanations (`context/explaining.rs`, `context/counts.rs`).

mod dot;
mod event_words;
pub(crate) mod explanation;
pub(crate) mod flush_text;
mod names;
pub(crate) mod not_kept;
mod picture;
pub(crate) mod stats;
pub(crate) mod step;
pub mod trace;
pub(crate) mod tracer;
