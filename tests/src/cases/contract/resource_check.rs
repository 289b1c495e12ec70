//! `resource_check` tells whether an account fits.

use super::Suite;
use crate::cases::random::random_run;
use crate::drivers::device::Device;
use crate::reporting::outcome::{Outcome, ensure};
use gpupy_core::driver::Resources;

pub const GROUP: &str = "resource_check";

pub fn run(suite: &mut Suite<'_>) {
    suite.case(GROUP, "agrees with check_ir", agrees_with_check);
    suite.case(GROUP, "everything does not fit", everything);
}

fn agrees_with_check(device: &mut Device) -> Outcome {
    for seed in 400..440 {
        let run = random_run(device, seed, 1 + seed as usize % 60);
        let check = device.check_ir(&run.program)?;
        ensure(check.fits == device.driver.resource_check(&check.resources), || {
            format!("{check:?}, but resource_check says otherwise\n{}", run.program)
        })?;
    }
    Ok(())
}

fn everything(device: &mut Device) -> Outcome {
    let fits = device.driver.resource_check(&Resources([u32::MAX; 8]));
    ensure(!fits, || "the largest account fits".into())
}
