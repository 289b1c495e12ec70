//! The suites of tests.
//!
//! `all_tests.rs` has the command, `suite_parts.rs` its parts, `quick_tests.rs` the subset for the time between
//! two edits, `versions.rs` other versions of Python and NumPy, `libraries.rs` other libraries.
//!
//! Imports `machine` and `develop.rs`.

pub mod all_tests;
pub mod libraries;
pub mod quick_tests;
pub mod suite_parts;
pub mod versions;
