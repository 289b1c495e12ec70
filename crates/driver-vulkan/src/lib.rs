//! The Vulkan driver: it dispatches programs as compute shaders, on any device with Vulkan 1.2.
//!
//! Owns [`new`]. Shaders are compiled by naga, or with the feature `shaderc` by that library, which is then
//! linked; `vulkan/gpu/gpu_device.rs` explains the differences between their kernels. The Vulkan library
//! itself is opened at run time. The folders of the driver, each of which imports only those above it:
//!
//! ```text
//! vulkan/gpu       the loader, an instance, and an open device with its limits and features
//! vulkan/shaders   texts become pipelines
//! vulkan/commands  memory, blocks, and the queue of commands
//! ```
//!
//! Begin with `vulkan/eval.rs`, which turns a launch into a dispatch.
//!
//! Beside them lie `open.rs` (an open driver), `block_transfer.rs`, `eval.rs`, `binding_choice.rs` and
//! `driver.rs` (the contract), which import them.
//!
//! Not here: the driver (`vulkan/`), the text of shaders (`gpupy-codegen`).

mod vulkan;

pub use vulkan::{BindingCosts, Trial, complaints, new, new_trial};

/// The name under which a program asks for this driver.
pub const NAME: &str = "vulkan";
