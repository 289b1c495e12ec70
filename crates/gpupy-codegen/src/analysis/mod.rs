//! What is known of a program and of a launch before any text is written.
//!
//! `liveness.rs` says which instructions destinations need; [`FloatClasses`](float_classes::FloatClasses) what numbers a float can be;
//! [`ArgumentWords`](kernel_arguments::ArgumentWords) are the numbers of a launch, by which one kernel serves many; `axis_coalescing.rs`
//! merges axes that all [`AffineWalk`](axis_coalescing::AffineWalk)s go along alike; [`Uses`](uses::Uses) are what live instructions ask for.
//!
//! Imports `dialect`, for how registers hold values. Not here: text (`emit`), how walks are addressed (`fragment`,
//! `compute`).

pub mod axis_coalescing;
pub mod float_classes;
pub mod kernel_arguments;
pub mod liveness;
pub mod uses;
