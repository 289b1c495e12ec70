//! The text of kernels: what stands around statements, and the entry point of each form.
//!
//! A [`Text`](kernel::Text) writes what depends on the device: blocks, the launch's numbers, the entry point.
//! `quotient.rs` divides, `stored.rs` says how dtypes lie in blocks, a [`Reader`](reader::Reader) reads operands;
//! `map.rs`, `reduce.rs`, `scan.rs` and `product.rs` write the entry points of the forms.
//!
//! Imports `analysis`, `dialect`, `spell`, `device.rs` and `plan`. Not here: statements (`spell/body.rs`).

pub(crate) mod kernel;
pub(crate) mod map;
pub(crate) mod product;
mod quotient;
pub(crate) mod reader;
pub(crate) mod reduce;
pub(crate) mod scan;
mod stored;
