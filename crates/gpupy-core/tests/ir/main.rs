//! The IR's promises: text, serde and fingerprint name a program, and the verifier guards drivers.
//!
//! Not here: what programs compute (the conformance suite).

#![allow(clippy::unwrap_used)]

mod analysis;
mod docs;
mod generate;
mod snapshots;
mod text;
mod verify;
