//! IR programs as the text of shading languages.
//!
//! Owns nothing itself. Its folders, each of which imports only those above it, and `call_errors.rs`:
//!
//! ```text
//! dialect    what a C-like shading language must spell, and the languages
//! analysis   what is known of a program and a launch before text is written
//! emit       statements: operations, casts, functions, loops
//! kernels    what drivers have compiled: in this run (kernel_cache), and before (disk_cache)
//! emulation64  64-bit emulation for devices without such elements: split storage, word pairs
//! device     what a device gets wrong (probe, exact), and what drivers answer alike (driver_answers)
//! fragment   whole GLSL fragment shaders, and how their launches address textures
//! compute    whole compute kernels, in GLSL and WGSL
//! ```
//!
//! Invariants: the text of a kernel depends on its program and plan alone, so that caches on disk
//! find it again; no float is printed in decimal; no operand of arithmetic that compilers fold under
//! `precise` (0, ±1, NaN, infinities) is a literal.
//!
//! Not here: compiling and running the text (drivers), what operations mean (`op_eval` of the
//! core).

mod analysis;
mod call_errors;
pub mod compute;
mod device;
pub mod dialect;
mod emit;
mod emulation64;
pub mod fragment;
mod kernels;

pub use analysis::liveness::{live_instructions, most_live_values};
pub use device::operation_support::OperationSupport;
pub use device::{driver_answers, exact, probe};
pub use dialect::glsl::Glsl;
pub use dialect::wgsl::Wgsl;
pub use emit::loop_bounds::MOST_STEPS;
pub use emit::operations::supports;
pub use emulation64::{split_program, split_storage, word_pairs};
pub use kernels::{disk_cache, kernel_cache};
