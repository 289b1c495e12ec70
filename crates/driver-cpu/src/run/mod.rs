//! Running: what happens to each row of a map or a reduction.
//!
//! A [`RowFrame`](row_frame::RowFrame) runs the steps of a plan on one row. [`LaunchItems`](launch_items::LaunchItems) is a launch as items that
//! threads take; `column_reduce.rs` has its reductions across rows, `lane_sums.rs` its sums along long ones, `reduce_scratch.rs` where
//! their rows lie. `few_rows.rs` runs
//! launches of few rows, which need no route. Invariant: all of them give the same bits.
//!
//! Imports `blocks.rs`, `rows`, `compile`, `traversal` and `threads`. Not here: scans, sorts and products (`library_ops`),
//! the choice between these ways (`eval.rs`).

mod column_reduce;
mod compacted_loop;
pub mod few_rows;
mod lane_sums;
pub mod launch_items;
mod reduce_scratch;
pub mod row_frame;
