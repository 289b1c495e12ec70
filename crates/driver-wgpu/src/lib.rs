//! The wgpu driver: programs as compute kernels on Vulkan, Metal, Direct3D 12 or OpenGL.
//!
//! It is for systems without Vulkan, such as macOS. Owns [`new`]. In the order of a call: `driver.rs` has the
//! contract's functions and `open.rs` the state of an open driver; `instance.rs` and `gpu_device.rs` find devices;
//! `eval.rs` turns launches into dispatches of the kernels that `kernel_compiler.rs` compiles, with `pipeline_cache.rs`
//! between runs; `queue.rs` receives all commands; `blocks.rs`, `memory_budget.rs` and `block_transfer.rs` handle
//! elements; `faults.rs` collects errors.
//!
//! Not here: the text of kernels and the account of what fits in one (`gpupy-codegen`).

mod block_transfer;
mod blocks;
mod driver;
mod eval;
mod faults;
mod gpu_device;
mod instance;
mod kernel_compiler;
mod memory_budget;
mod open;
mod pipeline_cache;
mod queue;

pub use driver::{new, new_on, new_short};

/// The name under which a program asks for this driver.
pub const NAME: &str = "wgpu";
