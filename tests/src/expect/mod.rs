//! What is right: results by ways that share no code with what is under test.
//!
//! `arithmetic.rs` computes scalar operations, `oracle.rs` interprets programs, `model.rs` computes with arrays;
//! `samples.rs` has inputs, `compare.rs` says when a result counts as the expected one.
//!
//! Imports `reporting`. Not here: how drivers are asked (`drivers`).

pub mod arithmetic;
pub mod compare;
pub mod model;
pub mod oracle;
pub mod samples;
