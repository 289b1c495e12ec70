//! The CPU driver: it evaluates a whole program at once, tile by tile in the nearest cache, with vector code on
//! all cores, directly on host memory. It is the default where there is no GPU, and computes what a GPU's driver
//! lacks.
//!
//! Begin with `eval/evaluator.rs`: it finds or compiles the plan of a launch, and runs it. The crate's page owns
//! nothing. Each of its folders imports only those above it:
//!
//! ```text
//! rows        row kernels: what operations compute, on rows of elements
//! index_split index-set splitting: boxes of a launch in which numbers in pieces are affine
//! compile     programs become plans of row operations, and machine code
//! traversal   loop order and axis coalescing: how rows go through a launch
//! threads     a thread pool whose workers steal chunks of work
//! run         plans run on the rows of maps and reductions
//! routines    rows of the table of library operations, such as transforms
//! library_ops scans, sorts and matrix products
//! eval        launches
//! ```
//!
//! Beside the folders lie `errors.rs`, `resources.rs` (what fits in one evaluation) and `blocks.rs` (memory),
//! which the folders import, and `driver.rs` (the contract), which imports the folders.
//!
//! Invariants: `check_ir` and `eval_ir` agree; every dtype is supported; results do not depend on the number of
//! threads, on vector width or on loop order.
//!
//! Not here: machine code (`gpupy-jit`), the placement of values (the engine).

mod blocks;
mod compile;
mod driver;
mod errors;
mod eval;
mod index_split;
mod library_ops;
mod resources;
mod routines;
pub mod rows;
mod run;
mod threads;
mod thresholds;
mod traversal;

pub use driver::{Cpu, new};
pub use errors::NAME;
pub use library_ops::vector_product;
pub use threads::thread_count::{set_threads, threads};
