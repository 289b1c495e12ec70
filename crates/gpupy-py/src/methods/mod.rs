//! What Python and NumPy call of arrays and scalars.
//!
//! The methods of `ndarray`: `attributes.rs`, `conversion.rs`, `copies.rs`, `indexing.rs`, `lend.rs`, `lifetime.rs`,
//! `reductions.rs`, `transport.rs`, `views.rs`; those of scalars: `scalar.rs`. `dispatch.rs` has NumPy's dispatch protocols,
//! `evaluate.rs` and `explain.rs` the functions of these names.
//!
//! Imports all other folders, and no other imports it. Not here: number slots (`compute/operators.rs`), methods
//! that are a few lines of Python (`python/gpupy/_methods.py`).

mod attributes;
mod conversion;
mod copies;
pub mod dispatch;
pub mod evaluate;
pub mod explain;
mod indexing;
pub mod lend;
mod lifetime;
mod reductions;
mod scalar;
mod transport;
pub mod views;
