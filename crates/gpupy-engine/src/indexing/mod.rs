//! Index arrays and masks.
//!
//! `pick.rs` makes positions of index arrays, `where_true.rs` of masks; `gather.rs` records reads at positions,
//! `put.rs` writes. `dense.rs` computes everywhere what a mask picks and puts back. [`Outside`](crate::Outside) says
//! what becomes of an index that is outside.
//!
//! Imports all other folders: an index is checked at its line, for which its bounds may have to be computed. Not here:
//! basic indexing, which is a view (`array/views.rs`), masks of few elements (`eager/masked.rs`).

mod dense;
mod gather;
pub(crate) mod pick;
mod put;
mod where_true;
