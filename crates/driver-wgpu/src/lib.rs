//! The wgpu driver.
