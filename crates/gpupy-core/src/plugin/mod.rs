//! Plug-ins: the driver contract as a C table, so that a driver may be a separate library.
//!
//! ```text
//! driver_table.rs   the structs and the table, from which include/gpupy_driver.h is generated
//! growing.rs        versioned structs: each begins with its size, and both sides use the fields that both know
//! fixed_strings.rs  errors and names as fixed arrays of characters
//! program.rs        programs and launches as flat arrays of integers
//! export.rs         the table of a driver in Rust; functions.rs has the table's functions, panic_guard.rs
//!                   catches panics
//! ```
//!
//! Invariants: values from the other side are read as integers and converted with checks. No panic crosses the
//! boundary. Pointers are trusted: a library is as trusted as any other code of the process.
//!
//! Not here: the contract itself (`driver.rs`), loading a library and calling its table (the engine's
//! `plugin/`).

pub mod driver_table;
mod export;
pub mod fixed_strings;
mod functions;
mod growing;
mod panic_guard;
pub mod program;

pub use export::table;
pub use functions::Plugin;
pub use growing::Growing;
pub use program::{
    ProgramCache, read_launch, read_program, with_launch, with_numbered_launch, with_program,
};

/// The former path of [`driver_table`], for plug-ins that name it. It is not marked as deprecated: importing the
/// function [`table()`] would warn too.
#[doc(hidden)]
pub mod table {
    pub use super::driver_table::*;
}
