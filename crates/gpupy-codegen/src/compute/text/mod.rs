//! The text of kernels: what stands around statements, and the entry point of each form.
//!
//! A [`KernelText`](kernel_text::KernelText) writes what depends on the device: blocks, the launch's numbers, the entry point.
//! `quotient.rs` divides, `element_storage.rs` says how dtypes lie in blocks, a [`ElementReader`](element_reader::ElementReader) reads operands;
//! `map.rs`, `tree_reduction.rs`, `scan.rs` and `matmul.rs` write the entry points of the forms.
//!
//! Imports `analysis`, `dialect`, `emit`, `kernel_features.rs` and `plan`. Not here: statements (`emit/body.rs`).

pub(crate) mod element_reader;
mod element_storage;
pub(crate) mod kernel_text;
pub(crate) mod map;
pub(crate) mod matmul;
mod quotient;
pub(crate) mod scan;
pub(crate) mod tree_reduction;
