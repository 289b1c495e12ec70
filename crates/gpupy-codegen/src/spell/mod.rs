//! Statements: the text that any kernel has, in whatever language.
//!
//! `operations.rs` and `casts.rs` spell every scalar operation from a dialect's pieces; what takes more than an
//! expression is a function of `library`, called by `calls.rs` and printed by `definitions.rs`; `loops.rs` prints
//! loops and bounds their steps, `lanes.rs` names what reductions keep; a [`Body`](body::Body) walks a program and writes its statements, with what its
//! [`Leaves`](body::Leaves) give.
//!
//! Imports `dialect` and `analysis`. Not here: where leaves come from (`fragment`, `compute`).

pub mod body;
pub mod calls;
mod casts;
pub mod definitions;
pub mod lanes;
mod library;
pub mod loops;
pub mod operations;
