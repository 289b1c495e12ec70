//! The context's side: all that happens on the thread that an OpenGL context lives on.
//!
//! A [`GlContext`](egl::GlContext) is opened through EGL, with a [`DisplayLease`](display::DisplayLease) on the
//! process's displays, or shares its objects with the context of a [`Renderer`](shared_context::Renderer). Its
//! [`Limits`](egl::Limits) describe it, and `memory_budget.rs` limits the memory of blocks.
//! [`Texture`](textures::Texture)s hold blocks, and [`Kernel`](kernel_compiler::Kernel)s are compiled shaders,
//! which `program_binaries.rs` keeps between runs. A [`Gpu`](gpu::Gpu) has all of these and draws; a
//! [`GlThread`](thread::GlThread) has the thread and its queue of jobs. Threads whose contexts are rasterisers on the
//! CPU take [`Turn`](turns::Turn)s.
//!
//! Imports `errors.rs`. Not here: blocks and compiled kernels as the caller knows them (`blocks.rs`,
//! `eval.rs`).

mod display;
pub mod egl;
pub mod gpu;
mod kernel_compiler;
pub mod memory_budget;
mod program_binaries;
pub mod shared_context;
pub mod textures;
pub mod thread;
mod turns;
