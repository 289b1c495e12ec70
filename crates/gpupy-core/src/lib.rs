//! The contract between gpupy's engine and its drivers: the driver trait, the IR of programs, and the meaning of both.
//!
//! Begin with [`Driver`] to write a driver, with [`ir`] to read or build a program, and with
//! [`op::OPS`] for the operations.
//!
//! ```text
//! driver.rs      the 14 functions, capabilities, launches, blocks; device_choice.rs resolves a device's name
//! op.rs          the table of operations, with dtype.rs, scalar.rs and shape.rs
//! ir/            programs: flat, typed and fingerprinted, with a text form and a verifier
//! op_eval/       the reference meaning of operations and whole-program forms, to the bit
//! functions/     mathematical functions as programs of operations
//! routines/      the table of library operations, with their references
//! plugin/        the contract as a C table, and the macro by which a Rust library exports it
//! error.rs       errors, and the facts that they carry
//! thresholds.rs  the macro for the thresholds of a crate
//! memory/        fallible allocation of host memory; private files; guard pages for tests
//! ```
//!
//! This crate has all that a driver needs, and nothing else: a change in the engine rebuilds no driver.
//!
//! Not here: arrays, expressions and their evaluation (crate `gpupy-engine`), shader languages
//! (`gpupy-codegen`), machine code (`gpupy-jit`).

mod device_choice;
pub mod driver;
pub mod dtype;
mod error;
pub mod functions;
pub mod ir;
pub mod memory;
pub mod op;
pub mod op_eval;
pub mod plugin;
pub mod routines;
mod scalar;
pub mod shape;
pub mod thresholds;

pub use driver::{Capabilities, Driver};
pub use dtype::DType;
pub use error::{Error, ErrorKind, Result};
pub use op::Op;
pub use scalar::Scalar;
pub use shape::{MAX_RANK, Shape, Strides, broadcast_shapes};
