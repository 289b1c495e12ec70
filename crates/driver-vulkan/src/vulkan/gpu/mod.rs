//! Opening: Vulkan's loader, an instance, and a device with what it can do.
//!
//! An [`Instance`](instance::Instance) lists the devices that it has [`Found`](instance::Found), and may be watched
//! by the validation layers (`validation.rs`). A [`Gpu`](device::Gpu) is an open device with its
//! [`Traits`](device::Traits); an [`Import`](external::Import) is there where it reads host memory. `failure.rs` says
//! what went wrong.
//!
//! Imports no other folder. Not here: shaders (`shaders`), memory and the queue (`commands`), what an open driver has
//! besides (`open.rs`).

pub mod device;
pub mod external;
pub mod failure;
pub mod instance;
pub mod validation;
