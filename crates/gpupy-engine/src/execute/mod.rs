//! Execution: values are computed, tile by tile.
//!
//! The [`Engine`](evaluate::Engine) has the open devices and evaluates: what is asked for is compiled, and
//! `run_commands.rs` does the commands, those of `strip_launches.rs` for several results of the same rows;
//! `rehearsal.rs` tells them instead. `launch.rs` calls the driver, `run_sequence.rs` once for many launches;
//! `transfer.rs` moves blocks, `filling.rs` has blocks that are filled by several launches. `host_ops/` computes in
//! host memory. `progress/` has where an evaluation stands and when it pauses;
//! [`EngineState`](engine_state::EngineState) is shared by all threads.
//!
//! Imports `memory`, `drivers`, `graph`, `explain`, `blocks` and `schedule`. Not here: requests for values
//! (`context/`).

pub(crate) mod engine_state;
pub(crate) mod evaluate;
mod external_elements;
mod filling;
pub(crate) mod host_ops;
pub(crate) mod launch;
pub(crate) mod progress;
mod rehearsal;
mod run_commands;
mod run_sequence;
mod spilling;
mod strip_launches;
pub(crate) mod transfer;
