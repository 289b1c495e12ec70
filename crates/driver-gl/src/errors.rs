//! The name of the driver, and the error of a lost device.
//!
//! Owns [`NAME`] and [`lost`]. Not here: errors that only one file reports, which are defined there.

use gpupy_core::{Error, ErrorKind};

/// The name under which a program asks for this driver.
pub const NAME: &str = "gl";

/// The error of every call after the device is lost.
pub fn lost() -> Error {
    Error::new(ErrorKind::DeviceLost, "gl").with("driver", NAME)
}
