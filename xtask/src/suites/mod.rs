//! The suites of tests.
//!
//! `test.rs` is the command; its parts stand in `parts.rs`, the choice for the time between two edits in `quick.rs`,
//! other Pythons and NumPys in `versions.rs`, other libraries in `libraries.rs`.
//!
//! Imports `machine` and `develop.rs`.

pub mod libraries;
pub mod parts;
pub mod quick;
pub mod test;
pub mod versions;
