//! `check_ir` tells whether a program can be evaluated in one piece.

use super::Suite;
use crate::cases::random::random_run;
use crate::device::Device;
use crate::outcome::{Outcome, ensure};

pub const GROUP: &str = "check_ir";

pub fn run(suite: &mut Suite<'_>) {
    suite.case(GROUP, "always says the same", checks_stay);
}

fn checks_stay(device: &mut Device) -> Outcome {
    for seed in 200..220 {
        let run = random_run(device, seed, 12);
        let (a, b) = (device.check_ir(&run.program)?, device.check_ir(&run.program)?);
        ensure(a == b, || format!("{a:?} and then {b:?}\n{}", run.program))?;
    }
    Ok(())
}
