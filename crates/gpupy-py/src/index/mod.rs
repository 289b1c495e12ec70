//! Indexing: from a key to the elements that it selects, to read and write.
//!
//! A [`BasicKey`](basic_key::BasicKey) is integers and slices; `basic.rs` has all keys without index arrays, as
//! views. Advanced (fancy) keys, with index arrays or masks, have [`KeyPart`](advanced_key::KeyPart)s, which select
//! axes together (`indexed_axes.rs`); `fancy.rs` reads and writes by them, `take.rs` has `take` and
//! `take_along_axis`. `mask_positions.rs` caches positions of masks; `setitem.rs` writes, and `listed_numbers.rs`
//! makes arrays of lists; `fast_path.rs` is the fast path of everyday keys, `held.rs` that of arrays that NumPy holds;
//! [`RowIterator`](row_iterator::RowIterator) iterates.
//!
//! Imports `session`, `convert` and `array`. Not here: `a[key]` itself (`methods/indexing.rs`).

pub mod advanced_key;
pub mod basic;
pub mod basic_key;
pub mod fancy;
pub mod fast_path;
pub mod held;
pub mod indexed_axes;
pub mod listed_numbers;
pub mod mask_positions;
pub mod row_iterator;
pub mod setitem;
pub mod take;
