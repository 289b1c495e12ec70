//! The context's side: what happens on the thread that an OpenGL context lives on.
//!
//! A [`Context`](egl::Context) is opened through EGL, with a [`Share`](display::Share) of the process's displays, or
//! shares its objects with a [`Renderer`](joined::Renderer)'s; its
//! [`Limits`](egl::Limits) are what it can do, and `memory.rs` says how much blocks may take.
//! [`Texture`](textures::Texture)s hold blocks, [`Kernel`](kernels::Kernel)s are compiled shaders, which
//! `disk.rs` keeps between runs. A [`Gpu`](gpu::Gpu) has all of these and draws; a [`GlThread`](thread::GlThread)
//! has the thread and the queue of what it does.
//!
//! Imports `errors.rs`. Not here: which blocks and kernels there are (`blocks.rs`, `eval.rs`).

mod disk;
mod display;
pub mod egl;
pub mod gpu;
pub mod joined;
mod kernels;
pub mod memory;
pub mod textures;
pub mod thread;
