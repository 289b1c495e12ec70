//! The Vulkan driver.
