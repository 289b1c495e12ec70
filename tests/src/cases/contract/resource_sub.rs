//! `resource_sub` takes from an account; a count that would fall below 0 stays at 0.

use super::{PARTS, Suite};
use crate::drivers::device::Device;
use crate::reporting::outcome::{Outcome, ensure};
use gpupy_core::driver::Resources;

pub const GROUP: &str = "resource_sub";

pub fn run(suite: &mut Suite<'_>) {
    suite.case(GROUP, "stays at nothing", stays_at_nothing);
}

fn stays_at_nothing(device: &mut Device) -> Outcome {
    let driver = &device.driver;
    PARTS.into_iter().try_for_each(|part| {
        let mut none = driver.resource_get(part);
        driver.resource_sub(&mut none, &Resources([u32::MAX; 8]));
        ensure(none == driver.resource_zero(), || format!("{part:?}: {none:?}"))
    })
}
