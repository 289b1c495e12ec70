//! Guarantees of the IR: text, serde and fingerprint identify a program, and the verifier protects drivers.
//!
//! Not here: the results of programs (the conformance suite).

#![allow(clippy::unwrap_used)]

mod analysis;
mod docs;
mod generate;
mod snapshots;
mod text;
mod verify;
