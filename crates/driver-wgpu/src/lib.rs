//! The wgpu driver: programs as compute kernels on Vulkan, Metal, Direct3D 12 or OpenGL.
//!
//! Owns [`new`]. In the order of a call: `driver.rs` has the contract's functions and `open.rs` what an open driver
//! has; `instance.rs` and `device.rs` find devices; `eval.rs` turns launches into dispatches of `kernels.rs`;
//! `queue.rs` is given all work; `blocks.rs`, `memory.rs` and `transfer.rs` are about elements; `faults.rs` hears of
//! what goes wrong.
//!
//! Not here: the text of kernels and what fits in one of them (`gpupy-codegen`).

mod blocks;
mod device;
mod disk;
mod driver;
mod eval;
mod faults;
mod instance;
mod kernels;
mod memory;
mod open;
mod queue;
mod transfer;

pub use driver::{new, new_on, new_short};

/// The name under which a program asks for this driver.
pub const NAME: &str = "wgpu";
