//! 64-bit elements on devices that lack them.
//!
//! [`Planes`](planes::Planes) are programs over the halves of elements, for devices that compute with 64 bits;
//! [`pairs`] computes with two words where no 64-bit integers are; [`Longs`](longs::Longs) are the blocks in halves.
//!
//! Imports `errors.rs`. Not here: which devices lack them (`device`).

pub mod longs;
pub mod pairs;
pub mod planes;
