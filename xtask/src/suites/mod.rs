//! The suites of tests.
//!
//! `all_tests.rs` is the command; its parts stand in `suite_parts.rs`, the choice for the time between two edits in `quick_tests.rs`,
//! other Pythons and NumPys in `versions.rs`, other libraries in `libraries.rs`.
//!
//! Imports `machine` and `develop.rs`.

pub mod all_tests;
pub mod libraries;
pub mod quick_tests;
pub mod suite_parts;
pub mod versions;
