//! The CPU driver: whole programs at once, tile by tile in the nearest cache, with vector code on
//! all cores, directly on host memory.
//!
//! Owns nothing itself. Its folders, each of which imports only those above it:
//!
//! ```text
//! rows        what operations compute, on rows of elements
//! index_split boxes of a launch in which computed numbers are affine
//! compile     programs become plans of operations on rows, and machine code
//! traversal   the way that rows go through a launch
//! threads     work that several cores share
//! run         plans on the rows of maps and reductions
//! library_ops scans, sorts and products
//! ```
//!
//! Beside them `errors.rs`, `resources.rs` (what fits in one evaluation) and `blocks.rs` (memory), which they import, and
//! `eval.rs` (a launch) and `driver.rs` (the contract), which import them.
//!
//! Invariants: `check_ir` and `eval_ir` agree; every dtype is
//! done; results do not depend on threads, vector width or the way of the rows.
//!
//! Not here: machine code (`gpupy-jit`), which values are computed where (the core).

mod blocks;
mod compile;
mod driver;
mod errors;
mod eval;
mod index_split;
mod library_ops;
mod resources;
pub mod rows;
mod run;
mod threads;
mod traversal;

pub use driver::{Cpu, new};
pub use errors::NAME;
pub use threads::thread_count::{set_threads, threads};
