//! What is known of a program and of a launch before any text is written.
//!
//! [`live_for`](uses::live_for) says which instructions destinations need; [`Kinds`](kinds::Kinds) what numbers a float can be;
//! [`Words`](numbers::Words) are the numbers of a launch, by which one kernel serves many; `space.rs`
//! merges axes that all [`Walk`](space::Walk)s go along alike; [`Uses`](uses::Uses) are what live instructions ask for.
//!
//! Imports `dialect`, for how registers hold values. Not here: text (`spell`), how walks are addressed (`fragment`,
//! `compute`).

pub mod kinds;
pub mod numbers;
pub mod space;
pub mod uses;
