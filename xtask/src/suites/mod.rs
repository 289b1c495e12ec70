//! The suites of tests.
//!
//! `all_tests.rs` has the command, `suite_parts.rs` its parts, `rust_tests.rs` the programs of the Rust tests,
//! `quick_tests.rs` the subset for the time between two edits, `versions.rs` other versions of Python and NumPy,
//! `libraries.rs` other libraries.
//!
//! Imports `machine` and `develop.rs`.

pub mod all_tests;
pub mod libraries;
pub mod quick_tests;
pub mod rust_tests;
pub mod suite_parts;
pub mod versions;
