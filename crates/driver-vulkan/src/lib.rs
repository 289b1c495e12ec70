//! The Vulkan driver: programs dispatched as compute shaders, on any device with Vulkan 1.2.
//!
//! Owns [`new`]. The driver needs shaderc, a compiler of shaders that is linked under the feature
//! `shaderc`; without it, opening the driver says what to do. Vulkan itself is opened at run time.
//! The folders of the driver, each of which imports only those above it:
//!
//! ```text
//! vulkan/gpu       the loader, an instance, and an open device with what it can do
//! vulkan/shaders   texts become pipelines
//! vulkan/commands  memory, blocks, and the queue of commands
//! ```
//!
//! Beside them lie `open.rs` (an open driver), `transfer.rs`, `eval.rs`, `ways.rs` and `driver.rs` (the contract),
//! which import them.
//!
//! Not here: the driver (`vulkan/`), the text of shaders (`gpupy-codegen`).

#[cfg(feature = "shaderc")]
mod vulkan;
#[cfg(not(feature = "shaderc"))]
mod without;

#[cfg(feature = "shaderc")]
pub use vulkan::{Trial, Ways, complaints, new, new_trial};
#[cfg(not(feature = "shaderc"))]
pub use without::new;

/// The name under which a program asks for this driver.
pub const NAME: &str = "vulkan";
