//! Fallback: calls that NumPy serves.
//!
//! `calls.rs` has them by kind of call; `fast_call.rs` passes plain arguments to NumPy and results back;
//! `call_sites.rs` counts calls by the line that makes them. `border.rs` tells calls of other libraries' functions with
//! arrays of ours from those without.
//!
//! Imports `session`, `convert` and `array`. Not here: the policy (`python/gpupy/_fallback/policy.py`).

pub mod border;
pub mod call_sites;
pub mod calls;
pub mod fast_call;
