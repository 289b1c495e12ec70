//! The text of kernels: declarations, and the entry point of each form.
//!
//! A [`KernelText`](kernel_text::KernelText) writes the parts that depend on the device: blocks, arguments, the entry
//! point. An [`ElementReader`](element_reader::ElementReader) loads and stores elements; `element_storage.rs` converts
//! them; `quotient.rs` has functions for integer division. `map.rs`, `tree_reduction.rs`, `scan.rs` and `matmul.rs`
//! write the entry points of the forms.
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
