//! Machine code: instructions, and their bytes.
//!
//! `opcodes.rs` has a row for each instruction, `encode.rs` writes their bytes.
//!
//! Imports `isa.rs`. Not here: which instructions an operation takes (`lower/`), the function around them
//! (`function_writer.rs`).

pub(crate) mod encode;
pub(crate) mod opcodes;
