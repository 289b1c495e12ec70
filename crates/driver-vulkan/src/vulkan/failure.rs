//! Results of Vulkan's functions as errors of the contract.
//!
//! Owns [`failed`]. Not here: errors of our own.

use crate::NAME;
use ash::vk;
use gpupy_core::{Error, ErrorKind};

/// The error of a Vulkan function that did not succeed while `operation` of the contract ran.
pub fn failed(operation: &'static str, function: &'static str, result: vk::Result) -> Error {
    let kind = match result {
        vk::Result::ERROR_OUT_OF_DEVICE_MEMORY
        | vk::Result::ERROR_OUT_OF_HOST_MEMORY
        | vk::Result::ERROR_OUT_OF_POOL_MEMORY
        | vk::Result::ERROR_FRAGMENTATION
        | vk::Result::ERROR_TOO_MANY_OBJECTS => ErrorKind::OutOfMemory,
        // What nobody foresees of a device leaves nothing to trust it with.
        _ => ErrorKind::DeviceLost,
    };
    Error::new(kind, operation).with("driver", NAME).with(function, result)
}
