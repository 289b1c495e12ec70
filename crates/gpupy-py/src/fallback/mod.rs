//! Calls that NumPy serves.
//!
//! `calls.rs` has them by what is called; `fast_call.rs` is the way of plain arguments to NumPy and back; `call_sites.rs` counts
//! where they come from.
//!
//! Imports `session`, `convert` and `array`. Not here: the policy (`python/gpupy/_fallback.py`).

pub mod call_sites;
pub mod calls;
pub mod fast_call;
