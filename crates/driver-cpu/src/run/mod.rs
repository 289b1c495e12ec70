//! Running: what happens to each row of a map or a reduction.
//!
//! A [`Frame`](frame::Frame) runs the steps of a plan on one row. [`Work`](work::Work) is a launch as items that
//! threads take; `across.rs` has its reductions across rows, `sums.rs` its sums along long ones, `rooms.rs` where
//! their rows lie. `lone.rs` runs
//! launches of few rows, which need no route. Invariant: all of them give the same bits.
//!
//! Imports `blocks.rs`, `rows`, `compile`, `traversal` and `threads`. Not here: scans, sorts and products (`whole`),
//! the choice between these ways (`eval.rs`).

mod across;
pub mod frame;
pub mod lone;
mod rooms;
mod sums;
mod turns;
pub mod work;
