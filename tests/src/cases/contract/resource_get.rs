//! `resource_get` returns the most that a part of a program needs.

use super::get_method::single_operation;
use super::{PARTS, Suite};
use crate::cases::random::random_run;
use crate::drivers::device::Device;
use crate::expect::samples::DTYPES;
use crate::reporting::outcome::{Outcome, ensure};
use gpupy_core::driver::{Part, Resources};
use gpupy_core::ir::Program;
use gpupy_core::op::{OPS, Op, Rule};

pub const GROUP: &str = "resource_get";

pub fn run(suite: &mut Suite<'_>) {
    suite.case(GROUP, "is an upper bound", parts_bound_the_whole);
    suite.case(GROUP, "bounds every operation alone", every_operation);
    suite.case(GROUP, "always says the same", answers_stay);
}

fn answers_stay(device: &mut Device) -> Outcome {
    PARTS.into_iter().try_for_each(|part| {
        let (a, b) = (device.driver.resource_get(part), device.driver.resource_get(part));
        ensure(a == b, || format!("{part:?}: {a:?} and then {b:?}"))
    })
}

/// The sum over a program's parts.
fn bound(device: &Device, program: &Program) -> Resources {
    let driver = &device.driver;
    let mut total = driver.resource_zero();
    for inst in &program.insts {
        let part = match inst.op {
            Op::Const => continue,
            Op::Param => Part::Param(inst.dtype),
            Op::Index => Part::Index,
            Op::Load => Part::Operand(inst.dtype),
            Op::Store => Part::Dest(inst.dtype),
            op => Part::Op(op, inst.dtype),
        };
        driver.resource_add(&mut total, &driver.resource_get(part));
    }
    total
}

fn parts_bound_the_whole(device: &mut Device) -> Outcome {
    for seed in 300..340 {
        let run = random_run(device, seed, 1 + seed as usize % 40);
        let (bound, check) = (bound(device, &run.program), device.check_ir(&run.program)?);
        let holds = bound.0.iter().zip(check.resources.0).all(|(bound, need)| *bound >= need);
        ensure(holds, || {
            format!("{bound:?} is no bound of {:?}\n{}", check.resources, run.program)
        })?;
        ensure(check.fits || !device.driver.resource_check(&bound), || {
            format!("the bound {bound:?} fits, but not the program\n{}", run.program)
        })?;
    }
    Ok(())
}

fn every_operation(device: &mut Device) -> Outcome {
    for row in OPS.iter().filter(|row| row.rule != Rule::Special) {
        for dtype in DTYPES {
            let Some(program) = single_operation(row, dtype) else { continue };
            let Ok(check) = device.driver.check_ir(&program) else { continue };
            let bound = bound(device, &program);
            let holds = bound.0.iter().zip(check.resources.0).all(|(bound, need)| *bound >= need);
            ensure(holds, || format!("{bound:?} is no bound of {:?}\n{program}", check.resources))?;
        }
    }
    Ok(())
}
