//! Shaders: from their text to pipelines.
//!
//! A [`Compiler`](kernel_compiler::Compiler) makes a [`Kernel`](kernel_compiler::Kernel) of a text, or finds it on disk;
//! `to_spirv.rs` is the step from that to SPIR-V, into which `float_controls.rs` puts the modes of float arithmetic.
//!
//! Imports `gpu`. Not here: the text of shaders (`gpupy-codegen`), which kernel a launch gets (`eval.rs`).

mod float_controls;
pub mod kernel_compiler;
mod to_spirv;
