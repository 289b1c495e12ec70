//! `cleanup` closes the device and frees every block.

use super::Suite;
use gpupy_core::DType;
use gpupy_core::driver::Config;

pub const GROUP: &str = "cleanup";

pub fn run(suite: &mut Suite<'_>) {
    suite.case_with(GROUP, "twice", &Config::default(), |device| {
        device.alloc(DType::F32, 10)?;
        device.driver.cleanup();
        device.driver.cleanup();
        Ok(())
    });
}
