//! Fancy indexing: index arrays and boolean masks.
//!
//! `fancy_index.rs` makes positions of index arrays, `nonzero.rs` of masks. `gather_recording.rs` records reads at
//! positions (take), `put.rs` writes (put). `predicated_write.rs` replaces a read and a write by one mask with a select
//! over all elements. [`Outside`](crate::Outside) is the rule for an index outside its axis: an error, wrapping or
//! clipping.
//!
//! Imports `context/mod.rs` and `exports/leases.rs` of the contexts: an index is checked at its line, for which its
//! bounds may have to be computed. Not here: basic indexing, which is a view (`array/views.rs`), small masks
//! (`eager/small_boolean_mask.rs`).

pub(crate) mod fancy_index;
mod gather_recording;
mod nonzero;
mod predicated_write;
mod put;
