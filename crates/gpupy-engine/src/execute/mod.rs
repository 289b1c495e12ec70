//! Execution: values are computed, tile by tile.
//!
//! The [`Engine`](evaluate::Engine) has the open devices and evaluates; what a tile needs first goes on a stack.
//! `perform.rs` does the commands of the step that computes a tile, `replay.rs` those of an earlier flush of the
//! structure, `strips.rs` several steps for the same rows. `launch.rs` calls the driver, `transfer.rs` moves blocks,
//! `filling.rs` has those that are filled by several launches; `assign.rs`, `scatter.rs`, `gather.rs`, `positions.rs`,
//! `whole.rs` are done in host memory. A [`TimeSlice`](slice::TimeSlice) is the time after which an evaluation pauses;
//! [`EngineState`](state::EngineState) is what threads share.
//!
//! Imports `memory`, `drivers`, `graph`, `explain`, `blocks` and `schedule`. Not here: who asks for values
//! (`context/`).

pub(crate) mod assign;
pub(crate) mod evaluate;
mod filling;
pub(crate) mod gather;
pub(crate) mod launch;
mod outside;
mod perform;
pub(crate) mod positions;
mod replay;
pub(crate) mod scatter;
pub(crate) mod slice;
mod spill;
pub(crate) mod state;
mod strips;
pub(crate) mod transfer;
pub(crate) mod whole;
