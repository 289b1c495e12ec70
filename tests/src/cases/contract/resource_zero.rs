//! `resource_zero` is the empty account.

use super::{PARTS, Suite};
use crate::drivers::device::Device;
use crate::reporting::outcome::{Outcome, ensure};

pub const GROUP: &str = "resource_zero";

pub fn run(suite: &mut Suite<'_>) {
    suite.case(GROUP, "fits", fits);
    suite.case(GROUP, "adds nothing", adds_nothing);
}

fn fits(device: &mut Device) -> Outcome {
    let zero = device.driver.resource_zero();
    ensure(device.driver.resource_check(&zero), || "nothing does not fit".into())
}

fn adds_nothing(device: &mut Device) -> Outcome {
    let driver = &device.driver;
    PARTS.into_iter().try_for_each(|part| {
        let need = driver.resource_get(part);
        let (mut more, mut less, zero) = (need, need, driver.resource_zero());
        driver.resource_add(&mut more, &zero);
        driver.resource_sub(&mut less, &zero);
        ensure(more == need && less == need, || {
            format!("{part:?}: {need:?} plus nothing is {more:?}, minus nothing {less:?}")
        })
    })
}
