//! Errors of calls that fail before they reach a device, shared by all GPU drivers.
//!
//! Owns [`within`] and the errors of a driver that is closed, already open, or broken. Not here: refusals by a device
//! (`device/driver_answers.rs`, the drivers).

use gpupy_core::driver::BlockSpec;
use gpupy_core::{Error, ErrorKind, Result};

/// The end of a range of elements, checked to lie inside a block.
///
/// # Errors
/// - `Invalid`: the range leaves the block, or its bytes are not whole elements.
pub fn within(
    driver: &'static str,
    operation: &'static str,
    spec: BlockSpec,
    offset: usize,
    bytes: usize,
) -> Result<usize> {
    let end = offset.saturating_add(bytes / spec.dtype.size());
    if end <= spec.len && bytes.is_multiple_of(spec.dtype.size()) {
        return Ok(end);
    }
    Err(Error::new(ErrorKind::Invalid, operation)
        .says("the range is not one of whole elements inside the block")
        .with("driver", driver)
        .with("bytes", bytes)
        .with("end", end)
        .with("block", spec.len))
}

/// The error of a call before `init`.
pub fn is_closed(driver: &'static str) -> Error {
    Error::new(ErrorKind::Invalid, driver).says("the driver is not open").with("driver", driver)
}

/// The error of `init` on an open driver.
pub fn is_open(driver: &'static str) -> Error {
    Error::new(ErrorKind::Invalid, "init").says("the driver is open already").with("driver", driver)
}

/// The error of `init` for a device that opens and then fails at its first launch.
pub fn does_not_work(driver: &'static str, error: Error) -> Error {
    if error.kind() == ErrorKind::Unavailable {
        return error;
    }
    Error::new(ErrorKind::Unavailable, "init")
        .says("the device does not work")
        .with("driver", driver)
        .with("reason", &error)
        .from_source(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gpupy_core::DType;

    #[test]
    fn only_whole_elements_inside_the_block_are_within_it() {
        let spec = BlockSpec::new(DType::F32, 10);
        let end = |offset, bytes| within("test", "block_read", spec, offset, bytes).ok();
        assert_eq!(end(0, 40), Some(10));
        assert_eq!(end(10, 0), Some(10));
        assert_eq!(end(3, 8), Some(5));
        for (offset, bytes) in [(0, 44), (8, 12), (11, 0), (0, 6), (usize::MAX, 8)] {
            assert_eq!(end(offset, bytes), None, "{offset} {bytes}");
        }
    }
}
