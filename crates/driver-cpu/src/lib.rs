//! The CPU driver: whole programs at once, tile by tile in the nearest cache, with vector code on
//! all cores, directly on host memory.
//!
//! Owns nothing itself; the parts, each of which imports only earlier ones: `errors.rs` and `resources.rs`
//! (what fits in one evaluation), `blocks.rs` (memory), [`rows`] (what operations compute), `compile` (programs
//! become plans), `traversal` (the way that rows go), `threads`, `run` (plans on the rows of maps and reductions),
//! `whole` (scans, sorts, products), `eval.rs` (a launch), `driver.rs` (the contract).
//! Invariants: `check_ir` and `eval_ir` agree; every dtype is
//! done; results do not depend on threads, vector width or the way of the rows.
//!
//! Not here: machine code (`gpupy-jit`), which values are computed where (the core).

mod blocks;
mod compile;
mod driver;
mod errors;
mod eval;
mod resources;
pub mod rows;
mod run;
mod threads;
mod traversal;
mod whole;

pub use driver::{Cpu, new};
pub use errors::NAME;
