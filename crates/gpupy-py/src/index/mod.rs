//! Indexing: which elements a key names, read and written.
//!
//! A [`Key`](key::Key) is integers and ranges; `basic.rs` has all keys without index arrays, as views; a key with index
//! arrays or masks has [`Part`](parts::Part)s, which name elements together (`place.rs`), read and written by `pick.rs`
//! and taken by `take.rs`; `masks.rs` keeps positions of masks; `assign.rs` writes; `few.rs` is the short way of everyday
//! keys; [`Rows`](rows::Rows) iterates.
//!
//! Imports `session`, `convert` and `array`. Not here: `a[key]` itself (`methods/indexing.rs`).

pub mod assign;
pub mod basic;
pub mod few;
pub mod key;
pub mod masks;
pub mod parts;
pub mod pick;
pub mod place;
pub mod rows;
pub mod take;
