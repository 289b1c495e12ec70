//! The canonical reduction tree: over the elements of one row (`reduction_tree.rs`), of each chunk of a row
//! (`tree_reduce.rs`), and of each column of many rows (`column_tree.rs`).
//!
//! Not here: sums and extremes of floats by vectors (`vector_rows.rs`), many short rows (`short`).

mod column_tree;
mod reduction_tree;
mod tree_reduce;

pub use column_tree::{ColumnsFn, SpacedRows, columns};
pub use reduction_tree::reduced;
pub use tree_reduce::{nothing_added, reduce_chunks};
