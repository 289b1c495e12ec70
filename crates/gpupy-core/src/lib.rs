//! The contract between gpupy's engine and its drivers: what a driver is, the programs that it is given, and
//! what they mean.
//!
//! ```text
//! driver.rs    the 14 functions, capabilities, launches, blocks; device_choice.rs says which of several devices is meant
//! op.rs        the table of operations, with dtype.rs, scalar.rs and shape.rs
//! ir/          programs: flat, typed and fingerprinted, with a text form and a verifier
//! op_eval/     what operations and whole-program forms mean, to the bit
//! functions/   functions that are made of operations, as programs
//! plugin/      the contract as a C table, and the macro by which a Rust library exports it
//! error.rs     errors, and the facts that they carry
//! thresholds.rs  the macro for the thresholds of a crate
//! memory.rs    memory whose size a program decides: granted or refused; guard_pages.rs for tests between guard pages
//! ```
//!
//! Everything that a driver needs is here, and nothing else: a change in the engine rebuilds no driver.
//!
//! Not here: arrays, expressions and their evaluation (crate `gpupy-engine`), shader languages
//! (`gpupy-codegen`), machine code (`gpupy-jit`).

mod device_choice;
pub mod driver;
pub mod dtype;
mod error;
pub mod functions;
#[cfg(feature = "guard")]
pub mod guard_pages;
pub mod ir;
pub mod memory;
pub mod op;
pub mod op_eval;
pub mod plugin;
mod scalar;
pub mod shape;
pub mod thresholds;

pub use driver::{Capabilities, Driver};
pub use dtype::DType;
pub use error::{Error, ErrorKind, Result};
pub use op::Op;
pub use scalar::Scalar;
pub use shape::{MAX_RANK, Shape, Strides, broadcast_shapes};
