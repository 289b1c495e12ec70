//! The name of the driver, and the error of calls that the contract forbids.
//!
//! Owns [`NAME`] and [`invalid`]. Not here: errors that only one file reports, which are defined there.

use gpupy_core::{Error, ErrorKind};

/// The name under which a program asks for this driver.
pub const NAME: &str = "cpu";

/// The error of a call that breaks the contract.
pub fn invalid(said: &str) -> Error {
    Error::new(ErrorKind::Invalid, NAME).says(said)
}
