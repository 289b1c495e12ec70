//! Execution: values are computed, tile by tile.
//!
//! The [`Engine`](evaluate::Engine) has the open devices and evaluates; tiles that another tile needs first go on a
//! stack; those that came otherwise than expected are tried again. `perform.rs` does the commands of the step that
//! computes a tile, `replay.rs` those of an earlier flush of equal structure, `strip_launches.rs` several steps for the
//! same rows. `launch.rs` calls the driver, `transfer.rs` moves blocks, `filling.rs` has blocks that are filled by
//! several launches. `host_ops/` computes in host memory. `progress/` has where an evaluation stands and when it
//! pauses, `pauses.rs` how it goes on; [`EngineState`](engine_state::EngineState) is shared by all threads.
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
mod run;
mod spilling;
mod strip_launches;
pub(crate) mod transfer;
