//! Index arrays and masks.
//!
//! `fancy_index.rs` makes positions of index arrays, `nonzero.rs` of masks; `gather_recording.rs` records reads at
//! positions, `put.rs` writes. `predicated_write.rs` computes everywhere what a mask picks and puts back.
//! [`Outside`](crate::Outside) says what becomes of an index that is outside.
//!
//! Imports all other folders: an index is checked at its line, for which its bounds may have to be computed. Not here:
//! basic indexing, which is a view (`array/views.rs`), masks of few elements (`eager/small_boolean_mask.rs`).

pub(crate) mod fancy_index;
mod gather_recording;
mod nonzero;
mod predicated_write;
mod put;
