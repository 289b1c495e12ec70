//! Shaders: from their text to pipelines.
//!
//! A [`Compiler`](kernel_compiler::Compiler) makes a [`Kernel`](kernel_compiler::Kernel) from a text, or loads
//! it from the disk cache. `to_spirv.rs` compiles the text to SPIR-V, and `float_controls.rs` adds the modes of
//! float arithmetic.
//!
//! Imports `gpu`. Not here: the text of shaders (`gpupy-codegen`), the choice of a launch's kernel (`eval.rs`).

mod float_controls;
pub mod kernel_compiler;
mod to_spirv;
