//! Opening: Vulkan's loader, an instance, and a device with what it can do.
//!
//! An [`VulkanInstance`](instance::VulkanInstance) lists the devices that it has [`FoundDevice`](instance::FoundDevice), and may be watched
//! by the validation layers (`validation.rs`). A [`Gpu`](open_device::Gpu) is an open device with its
//! [`Traits`](open_device::Traits); an [`Import`](external::Import) is there where it reads host memory. `errors.rs` says
//! what went wrong.
//!
//! Imports no other folder. Not here: shaders (`shaders`), memory and the queue (`commands`), what an open driver has
//! besides (`open.rs`).

pub mod errors;
pub mod external;
pub mod instance;
pub mod open_device;
pub mod validation;
