//! Machine code: opcodes and their encoding.
//!
//! `opcodes.rs` has a row for each instruction; `encode.rs` is the assembler.
//!
//! Imports `isa.rs`. Not here: which instructions an operation takes (`lower/`), the function around them
//! (`function_writer.rs`).

pub(crate) mod encode;
pub(crate) mod opcodes;
