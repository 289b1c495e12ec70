//! Opening: Vulkan's loader, an instance, and a device with its limits and features.
//!
//! A [`VulkanInstance`](instance::VulkanInstance) lists the [`FoundDevice`](instance::FoundDevice)s, and its
//! calls may be checked by the validation layers (`validation.rs`). A [`Gpu`](open_device::Gpu) is an open
//! device with its [`Traits`](open_device::Traits), and with an [`Import`](external::Import) if it reads host
//! memory. `errors.rs` has the errors.
//!
//! Imports no other folder. Not here: shaders (`shaders`), memory and the queue (`commands`), the state of an
//! open driver (`open.rs`).

pub mod errors;
pub mod external;
pub mod instance;
pub mod open_device;
pub mod validation;
