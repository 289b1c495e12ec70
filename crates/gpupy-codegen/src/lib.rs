//! Code generation for GPUs: IR programs become GLSL and WGSL.
//!
//! All GPU drivers share it, so that an operation has one spelling and the same bits on each. Begin with [`compute`] or
//! [`fragment`] for a complete shader, and with `emit/operations.rs` for the spelling of an operation.
//!
//! The crate has `call_errors.rs` and these folders; each imports only earlier ones:
//!
//! ```text
//! dialect      the constructs of a C-like shading language; GLSL and WGSL
//! analysis     facts about a program or launch: liveness, sign and NaN analysis, kernel arguments, axis coalescing
//! emit         code emission: operations, casts, library functions, loops
//! kernels      compiled kernels: of this process (kernel_cache) and of earlier ones (disk_cache)
//! emulation64  64-bit emulation for devices without 64-bit types: split storage, word pairs
//! device       what a device gets wrong (probe, exact); answers that all GPU drivers share (driver_answers)
//! fragment     complete GLSL fragment shaders, and how their draws address textures
//! compute      complete compute kernels in GLSL and WGSL
//! ```
//!
//! Invariants: a kernel's text depends on its program and plan alone, so that a cache on disk finds it again.
//! No float is printed in decimal. Operands of arithmetic that compilers fold under `precise` (0, ±1, NaN,
//! infinities) are never literals.
//!
//! Not here: compiling and running the text (drivers), the meaning of operations (`op_eval` of gpupy-core).

mod analysis;
mod call_errors;
pub mod compute;
mod device;
pub mod dialect;
mod emit;
mod emulation64;
pub mod fragment;
mod kernels;
mod thresholds;

pub use analysis::uses::live_for;
pub use device::operation_support::OperationSupport;
pub use device::{driver_answers, exact, mesa_cache, probe};
pub use dialect::glsl::Glsl;
pub use dialect::wgsl::Wgsl;
pub use emit::loop_bounds::MOST_STEPS;
pub use emit::operations::{emitted_dtypes, instructions, supports};
pub use emulation64::{split_program, split_storage, word_pairs};
pub use kernels::{disk_cache, kernel_cache};
