//! Plug-ins: the driver contract as a C table, so that a driver may be a library of its own.
//!
//! ```text
//! driver_table.rs   the structs and the table, from which include/gpupy_driver.h is generated
//! growing.rs        structs that begin with their size: each side takes what both know
//! fixed_strings.rs  errors and names as fixed arrays of characters
//! program.rs        programs and launches as flat arrays of integers
//! export.rs         a driver → a table, for libraries written in Rust; functions.rs has the functions
//!                   around it, panic_guard.rs keeps its panics inside
//! ```
//!
//! Invariants: what the other side says is read as integers and converted with checks; no panic
//! crosses. Pointers are believed: a library is as trusted as any other code of the process.
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
pub use program::{ProgramCache, read_launch, read_program, with_launch, with_program};

/// The former path of [`driver_table`], for plug-ins that name it. It is not marked as deprecated: importing the
/// function [`table()`] would warn too.
#[doc(hidden)]
pub mod table {
    pub use super::driver_table::*;
}
