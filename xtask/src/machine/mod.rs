//! The basis of all commands: processes, folders, environments, steps, failures.
//!
//! A [`SuiteStep`](steps::SuiteStep) is a part of a command; a [`Failure`](failure::Failure) is one line for
//! people. `command_line.rs` reads what a command was given, `process.rs` starts programs, `workspace.rs` has the
//! folders, `features.rs` the enabled features, `venv.rs` has Python environments, which `python_packages.rs` makes,
//! `tools.rs` the tools, `system.rs` the system's packages, and `rust_targets.rs` Rust's library for other targets.
//!
//! Imports nothing else of this crate.

pub mod command_line;
pub mod failure;
pub mod features;
pub mod process;
pub mod python_packages;
pub mod rust_targets;
pub mod steps;
pub mod system;
pub mod tools;
pub mod venv;
pub mod workspace;
