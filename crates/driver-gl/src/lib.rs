//! The OpenGL driver: programs drawn as fragment shaders into textures, without a display.
//!
//! Owns [`new`]. The context lives on a thread of its own (`thread.rs`): `context.rs`, `display.rs`, `gpu.rs`,
//! `textures.rs` and `kernels.rs` are its side. The caller's side knows blocks, layouts and compiled kernels without
//! asking it: `driver.rs` has the contract's functions, `open.rs` what an open driver has, `eval.rs` turns launches
//! into draws, `blocks.rs` and `memory.rs` are about elements, `resources.rs` about what fits in one evaluation.
//!
//! Not here: the text of shaders (`gpupy-codegen`).

mod across;
mod blocks;
mod context;
mod disk;
mod display;
mod driver;
mod eval;
mod gpu;
mod kernels;
mod memory;
mod open;
mod resources;
mod textures;
mod thread;

pub use driver::{new, new_short};

/// The name under which a program asks for this driver.
pub const NAME: &str = "gl";
