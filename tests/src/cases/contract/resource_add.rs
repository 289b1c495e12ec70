//! `resource_add` adds to an account; a count that would overflow stays at the highest.

use super::{PARTS, Suite};
use crate::drivers::device::Device;
use crate::reporting::outcome::{Outcome, ensure};
use gpupy_core::driver::Resources;

pub const GROUP: &str = "resource_add";

pub fn run(suite: &mut Suite<'_>) {
    suite.case(GROUP, "is undone by resource_sub", undone);
    suite.case(GROUP, "stays at the highest", stays_at_highest);
    suite.case(GROUP, "in any order", any_order);
}

fn undone(device: &mut Device) -> Outcome {
    let driver = &device.driver;
    let mut total = driver.resource_zero();
    PARTS.into_iter().try_for_each(|part| {
        let (need, before) = (driver.resource_get(part), total);
        driver.resource_add(&mut total, &need);
        let mut back = total;
        driver.resource_sub(&mut back, &need);
        ensure(back == before, || format!("{part:?}: {before:?} plus and minus {need:?}: {back:?}"))
    })
}

fn stays_at_highest(device: &mut Device) -> Outcome {
    let driver = &device.driver;
    PARTS.into_iter().try_for_each(|part| {
        let mut most = Resources([u32::MAX; 8]);
        driver.resource_add(&mut most, &driver.resource_get(part));
        ensure(most == Resources([u32::MAX; 8]), || format!("{part:?}: {most:?}"))
    })
}

fn any_order(device: &mut Device) -> Outcome {
    let driver = &device.driver;
    let (mut forwards, mut backwards) = (driver.resource_zero(), driver.resource_zero());
    for part in PARTS {
        driver.resource_add(&mut forwards, &driver.resource_get(part));
    }
    for part in PARTS.into_iter().rev() {
        driver.resource_add(&mut backwards, &driver.resource_get(part));
    }
    ensure(forwards == backwards, || format!("{forwards:?}, backwards {backwards:?}"))
}
