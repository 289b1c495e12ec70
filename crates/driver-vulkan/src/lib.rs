//! The Vulkan driver: programs dispatched as compute shaders, on any device with Vulkan 1.2.
//!
//! Owns [`new`]. Shaders are compiled by naga, or under the feature `shaderc` by that library, which is
//! linked. What kernels are like with each is told in `vulkan/gpu/open_device.rs`. Vulkan itself is opened at run time.
//! The folders of the driver, each of which imports only those above it:
//!
//! ```text
//! vulkan/gpu       the loader, an instance, and an open device with what it can do
//! vulkan/shaders   texts become pipelines
//! vulkan/commands  memory, blocks, and the queue of commands
//! ```
//!
//! Beside them lie `open.rs` (an open driver), `block_transfer.rs`, `eval.rs`, `binding_choice.rs` and `driver.rs` (the contract),
//! which import them.
//!
//! Not here: the driver (`vulkan/`), the text of shaders (`gpupy-codegen`).

mod vulkan;

pub use vulkan::{BindingCosts, Trial, complaints, new, new_trial};

/// The name under which a program asks for this driver.
pub const NAME: &str = "vulkan";
