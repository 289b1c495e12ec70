//! Lowered limits: they hold, and everything still works under them.

use super::Suite;
use super::random::random_run;
use crate::device::Device;
use crate::launch::TOO_LARGE;
use crate::outcome::{Outcome, ensure, skip};
use gpupy_core::driver::{Config, Resources};

pub const GROUP: &str = "partitioning";

pub fn run(suite: &mut Suite<'_>) {
    for slot in 0..8 {
        for limit in [1, 2, 16] {
            let mut resources = Resources::default();
            resources.0[slot] = limit;
            let config = Config { resources, ..Config::default() };
            let name = format!("resource {slot} of {limit}");
            suite.case_with(GROUP, &name, &config, |device| few_resources(device, slot, limit));
        }
    }
}

/// The lowered limit is in force, and what still fits is still right.
fn few_resources(device: &mut Device, slot: usize, limit: u32) -> Outcome {
    let Some((name, now)) = device.caps.resources.get(slot) else {
        return skip("fewer resources");
    };
    ensure(*now <= limit, || format!("`{name}` is {now}, although {limit} was asked for"))?;
    let mut fitted = false;
    for seed in 100..104 {
        for operations in [1, 3, 9] {
            let run = random_run(device, seed, operations);
            let check = device.check_ir(&run.program)?;
            ensure(check.fits == device.driver.resource_check(&check.resources), || {
                format!("`fits` is {}, but not its resources\n{}", check.fits, run.program)
            })?;
            if check.fits {
                fitted = true;
                device.check(&run, 0.0)?;
            }
        }
    }
    if fitted { Ok(()) } else { skip(TOO_LARGE) }
}
