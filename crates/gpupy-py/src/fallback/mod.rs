//! Calls that NumPy serves.
//!
//! `calls.rs` has them by what is called; `plain.rs` is the way of plain arguments to NumPy and back; `sites.rs` counts
//! where they come from.
//!
//! Imports `session`, `convert` and `array`. Not here: the policy (`python/gpupy/_fallback.py`).

pub mod calls;
pub mod plain;
pub mod sites;
