//! What commands stand on: processes, folders, environments, steps, failures.
//!
//! A [`SuiteStep`](steps::SuiteStep) is a part of a command; a [`Failure`](failure::Failure) is one line for people.
//! `process.rs` starts programs, `workspace.rs` knows the folders, `features.rs` what is built in, `venv.rs` and
//! `tools.rs` what is installed, `system.rs` what the system has.
//!
//! Imports nothing else of this crate.

pub mod failure;
pub mod features;
pub mod process;
pub mod steps;
pub mod system;
pub mod tools;
pub mod venv;
pub mod workspace;
