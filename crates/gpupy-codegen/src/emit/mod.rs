//! Code emission: the statements that kernels have in any language.
//!
//! `operations.rs` and `casts.rs` emit every scalar operation through a dialect. An operation that takes more than an
//! expression is a function of `library`, called by `library_calls.rs` and printed by `definitions.rs`.
//! `loop_bounds.rs` prints loops and bounds their steps; `accumulator_lanes.rs` names the accumulators of reductions.
//! A [`Body`](body::Body) emits the statements of a program, with the expressions of its [`Leaves`](body::Leaves).
//!
//! Imports `dialect` and `analysis`. Not here: loads and stores (`fragment`, `compute`).

pub mod accumulator_lanes;
pub mod body;
mod casts;
pub mod definitions;
mod library;
pub mod library_calls;
pub mod loop_bounds;
pub mod operations;
