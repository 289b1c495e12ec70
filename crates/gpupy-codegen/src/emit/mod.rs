//! Statements: the text that any kernel has, in whatever language.
//!
//! `operations.rs` and `casts.rs` spell every scalar operation from a dialect's pieces; what takes more than an
//! expression is a function of `library`, called by `library_calls.rs` and printed by `definitions.rs`; `loop_bounds.rs` prints
//! loops and bounds their steps, `reduction_lanes.rs` names what reductions keep; a [`Body`](body::Body) walks a program and writes its statements, with what its
//! [`Leaves`](body::Leaves) give.
//!
//! Imports `dialect` and `analysis`. Not here: where leaves come from (`fragment`, `compute`).

pub mod body;
mod casts;
pub mod definitions;
mod library;
pub mod library_calls;
pub mod loop_bounds;
pub mod operations;
pub mod reduction_lanes;
