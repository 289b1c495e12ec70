//! Opening: Vulkan's loader, an instance, and a device with its limits and features.
//!
//! A [`VulkanInstance`](instance::VulkanInstance) lists the [`FoundDevice`](instance::FoundDevice)s, and its
//! calls may be checked by the validation layers (`validation.rs`). A [`Gpu`](gpu_device::Gpu) is an open
//! device with its [`Traits`](gpu_device::Traits), and with an [`Import`](external::Import) if it reads host
//! memory. `errors.rs` has the errors.
//!
//! Imports no other folder. Not here: shaders (`shaders`), memory and the queue (`commands`), the state of an
//! open driver (`open.rs`).

pub mod errors;
pub mod external;
pub mod gpu_device;
pub mod instance;
pub mod validation;
