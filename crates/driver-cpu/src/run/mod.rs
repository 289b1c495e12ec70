//! Running: the computation of each row of a map or a reduction.
//!
//! A [`RowFrame`](row_frame::RowFrame) runs the steps of a plan on one row; `compacted_loop.rs` runs compiled
//! loops. [`LaunchItems`](launch_items::LaunchItems) is a launch as items that threads take. `column_reduce.rs`
//! has its column reductions, `search_rows.rs` its searches, `lane_sums.rs` its sums along long rows, and
//! `reduce_scratch.rs` the layout of their scratch rows. `few_rows.rs` is the fast path for launches of few rows,
//! which need no loop order.
//! Invariant: all of them give the same bits.
//!
//! Imports `blocks.rs`, `rows`, `compile`, `traversal` and `threads`. Not here: scans, sorts and products
//! (`library_ops`), the choice between these paths (`eval`).

mod column_reduce;
mod compacted_loop;
pub mod few_rows;
mod lane_sums;
pub mod launch_items;
mod reduce_scratch;
pub mod row_frame;
mod search_rows;
