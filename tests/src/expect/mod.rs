//! The expected results, by code that is independent of the code under test.
//!
//! `arithmetic.rs` computes scalar operations, `oracle.rs` interprets programs, `model.rs` computes with
//! arrays; `samples.rs` has inputs, `compare.rs` decides whether a result counts as the expected one.
//!
//! Imports `reporting`. Not here: calls of drivers (`drivers`).

pub mod arithmetic;
pub mod compare;
pub mod model;
pub mod oracle;
pub mod samples;
