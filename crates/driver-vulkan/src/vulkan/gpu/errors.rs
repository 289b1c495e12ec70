//! Results of Vulkan's functions as errors of the contract, and the error of a machine without Vulkan.
//!
//! Owns [`failed`] and [`unavailable`]. Not here: errors that only one file reports.

use crate::NAME;
use ash::vk;
use gpupy_core::{Error, ErrorKind};

/// The packages to install.
const INSTALL: &str =
    "install libvulkan1 and a driver: the vendor's, or mesa-vulkan-drivers, which needs no GPU";

/// The error of a Vulkan function that did not succeed while `operation` of the contract ran.
pub fn failed(operation: &'static str, function: &'static str, result: vk::Result) -> Error {
    let kind = match result {
        vk::Result::ERROR_OUT_OF_DEVICE_MEMORY
        | vk::Result::ERROR_OUT_OF_HOST_MEMORY
        | vk::Result::ERROR_OUT_OF_POOL_MEMORY
        | vk::Result::ERROR_FRAGMENTATION
        | vk::Result::ERROR_TOO_MANY_OBJECTS => ErrorKind::OutOfMemory,
        // An unexpected result leaves no trust in the device.
        _ => ErrorKind::DeviceLost,
    };
    Error::new(kind, operation).with("driver", NAME).with(function, result)
}

/// The error of a device or instance that cannot be opened.
pub fn unavailable(message: &str) -> Error {
    Error::new(ErrorKind::Unavailable, "init")
        .says(format!("{message}; {INSTALL}"))
        .with("driver", NAME)
}
