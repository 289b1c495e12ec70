//! The name of the driver, and the error of calls that the contract forbids.
//!
//! Owns [`NAME`] and [`invalid`]. Not here: errors of one place only, which stand there.

use gpupy_core::{Error, ErrorKind};

/// The name under which a program asks for this driver.
pub const NAME: &str = "cpu";

/// The error of a mistake of the caller.
pub fn invalid(said: &str) -> Error {
    Error::new(ErrorKind::Invalid, NAME).says(said)
}
