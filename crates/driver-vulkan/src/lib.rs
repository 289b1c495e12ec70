//! The Vulkan driver: programs dispatched as compute shaders, on any device with Vulkan 1.2.
//!
//! Owns [`new`]. The driver needs shaderc, a compiler of shaders that is linked under the feature
//! `shaderc`; without it, opening the driver says what to do. Vulkan itself is opened at run time.
//!
//! Not here: the driver (`driver.rs`), the text of shaders (`gpupy-codegen`).

#[cfg(feature = "shaderc")]
mod blocks;
#[cfg(feature = "shaderc")]
mod compiler;
#[cfg(feature = "shaderc")]
mod device;
#[cfg(feature = "shaderc")]
mod driver;
#[cfg(feature = "shaderc")]
mod eval;
#[cfg(feature = "shaderc")]
mod failure;
#[cfg(feature = "shaderc")]
mod instance;
#[cfg(feature = "shaderc")]
mod kernels;
#[cfg(feature = "shaderc")]
mod memory;
#[cfg(feature = "shaderc")]
mod numbers;
#[cfg(feature = "shaderc")]
mod open;
#[cfg(feature = "shaderc")]
mod queue;
#[cfg(feature = "shaderc")]
mod resources;
#[cfg(feature = "shaderc")]
mod spirv;
#[cfg(feature = "shaderc")]
mod stored;
#[cfg(feature = "shaderc")]
mod transfer;
#[cfg(feature = "shaderc")]
mod validation;
#[cfg(not(feature = "shaderc"))]
mod without;

#[cfg(feature = "shaderc")]
pub use driver::{new, new_watched};
#[cfg(feature = "shaderc")]
pub use validation::complaints;
#[cfg(not(feature = "shaderc"))]
pub use without::new;

/// The name under which a program asks for this driver.
pub const NAME: &str = "vulkan";
