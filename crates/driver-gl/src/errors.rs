//! The name of the driver, and the error of a device that is gone.
//!
//! Owns [`NAME`] and [`lost`]. Not here: errors of one place only, which stand there.

use gpupy_core::{Error, ErrorKind};

/// The name under which a program asks for this driver.
pub const NAME: &str = "gl";

/// The error of everything after the device is gone.
pub fn lost() -> Error {
    Error::new(ErrorKind::DeviceLost, "gl").with("driver", NAME)
}
