//! Shaders: from their text to pipelines.
//!
//! A [`Compiler`](kernels::Compiler) makes a [`Kernel`](kernels::Kernel) of a text, or finds it on disk;
//! `compiler.rs` is the step from that to SPIR-V, into which `spirv.rs` puts the modes of float arithmetic.
//!
//! Imports `gpu`. Not here: the text of shaders (`gpupy-codegen`), which kernel a launch gets (`eval.rs`).

mod compiler;
pub mod kernels;
mod spirv;
