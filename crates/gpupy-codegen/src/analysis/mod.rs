//! Analysis of a program and a launch before any text is written.
//!
//! [`live_for`](uses::live_for) finds the instructions that destinations need.
//! [`FloatClasses`](float_classes::FloatClasses) are the signs, infinities and NaN that a float can be.
//! [`ArgumentWords`](kernel_arguments::ArgumentWords) are the kernel arguments of a launch. `axis_coalescing.rs`
//! merges axes that every [`AffineWalk`](axis_coalescing::AffineWalk) traverses alike. [`Uses`](uses::Uses) are the
//! accesses and constants of live instructions.
//!
//! Imports `dialect`, for how registers hold values. Not here: text (`emit`), addressing (`fragment`, `compute`).

pub mod axis_coalescing;
pub mod float_classes;
pub mod kernel_arguments;
pub mod uses;
