//! The context's side: what happens on the thread that an OpenGL context lives on.
//!
//! A [`GlContext`](egl::GlContext) is opened through EGL, with a [`DisplayLease`](display::DisplayLease) of the process's displays, or
//! shares its objects with a [`Renderer`](shared_context::Renderer)'s; its
//! [`Limits`](egl::Limits) are what it can do, and `memory_budget.rs` says how much blocks may take.
//! [`Texture`](textures::Texture)s hold blocks, [`Kernel`](kernel_compiler::Kernel)s are compiled shaders, which
//! `disk_cache.rs` keeps between runs. A [`Gpu`](gpu::Gpu) has all of these and draws; a [`GlThread`](thread::GlThread)
//! has the thread and the queue of what it does.
//!
//! Imports `errors.rs`. Not here: which blocks and kernels there are (`blocks.rs`, `eval.rs`).

mod disk_cache;
mod display;
pub mod egl;
pub mod gpu;
mod kernel_compiler;
pub mod memory_budget;
pub mod shared_context;
pub mod textures;
pub mod thread;
