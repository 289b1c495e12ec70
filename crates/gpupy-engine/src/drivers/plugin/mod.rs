//! The loader of plug-ins: a library's C table becomes a driver of this process.
//!
//! ```text
//! load.rs              a library's path → its table, checked
//! imported_driver.rs   a table → a driver
//! ```
//!
//! Invariants: answers of the library are read as integers and converted with checks; a library that was loaded stays.
//!
//! Not here: the table and its C types (`plugin/` of gpupy-core), names and paths to choose from (`registry.rs`).

mod imported_driver;
mod load;

pub use imported_driver::Imported;
pub use load::{checked, driver, is_path};
