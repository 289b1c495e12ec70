//! Short rows: many rows of few elements, computed by vectors that run across them.
//!
//! Vectors along a short axis would be mostly empty, and each row would cost a call. So the elements of a
//! [`ShortTile`](tile::ShortTile) of rows are transposed (`transpose.rs`), and every length costs alike: so rows are
//! reduced (`tile_reductions.rs`); scans, sorts and copies of small matrices use tiles in `library_ops`. Where nothing
//! is computed along short rows, `expand.rs` puts them one after another as they are.
//! Invariant: the bits are those of each row by itself.
//!
//! Imports the files beside it. Not here: one row, long rows (`rows`).

pub mod expand;
pub mod tile;
pub mod tile_reductions;
mod transpose;
