//! Execution: values are computed, tile by tile.
//!
//! The [`Engine`](evaluate::Engine) has the open devices and evaluates; what a tile needs first goes on a stack.
//! `replay.rs` does what an earlier flush of the structure did; `perform.rs` does the step that computes a tile,
//! `strips.rs` several for the same rows: `pieces.rs` takes walks through a device, `reduce.rs` what is reduced of
//! more than a block, `launch.rs` calls the driver, `transfer.rs` moves blocks, `assign.rs`, `fill.rs`, `filling.rs`,
//! `scatter.rs` write, `gather.rs`, `positions.rs`, `whole.rs` do what is no kernel of a walk. A
//! [`Slice`](slice::Slice) is the time after which an evaluation pauses; [`State`](state::State) is what threads
//! share.
//!
//! Imports `memory`, `drivers`, `graph`, `explain`, `blocks` and `schedule`. Not here: who asks for values
//! (`context/`).

pub(crate) mod assign;
pub(crate) mod evaluate;
pub(crate) mod fill;
mod filling;
pub(crate) mod gather;
pub(crate) mod launch;
mod perform;
pub(crate) mod pieces;
pub(crate) mod positions;
mod reduce;
mod replay;
pub(crate) mod scatter;
pub(crate) mod slice;
pub(crate) mod state;
mod strips;
pub(crate) mod transfer;
pub(crate) mod whole;
