//! Indexing: which elements a key names, read and written.
//!
//! A [`BasicKey`](basic_key::BasicKey) is integers and ranges; `basic.rs` has all keys without index arrays, as views; a key with index
//! arrays or masks has [`KeyPart`](advanced_key::KeyPart)s, which name elements together (`indexed_axes.rs`), read and written by `fancy.rs`
//! and taken by `take.rs`; `mask_positions.rs` keeps positions of masks; `setitem.rs` writes; `fast_path.rs` is the short way of everyday
//! keys; [`RowIterator`](row_iterator::RowIterator) iterates.
//!
//! Imports `session`, `convert` and `array`. Not here: `a[key]` itself (`methods/indexing.rs`).

pub mod advanced_key;
pub mod basic;
pub mod basic_key;
pub mod fancy;
pub mod fast_path;
pub mod indexed_axes;
pub mod mask_positions;
pub mod row_iterator;
pub mod setitem;
pub mod take;
