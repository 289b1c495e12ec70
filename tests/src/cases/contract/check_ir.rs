//! `check_ir` tells whether a program can be evaluated in one piece.

use super::mistakes::undisturbed;
use super::{Suite, doubling, numbers};
use crate::cases::random::random_run;
use crate::drivers::device::Device;
use crate::expect::oracle::{Run, contiguous};
use crate::reporting::outcome::{Outcome, ensure, fine, refused, skip};
use gpupy_core::driver::Method;
use gpupy_core::ir::{AccessKind, Builder, Form, Program};
use gpupy_core::op::{OPS, Op, Rule};
use gpupy_core::{DType, ErrorKind, Scalar};

pub const GROUP: &str = "check_ir";

pub fn run(suite: &mut Suite<'_>) {
    suite.case(GROUP, "always says the same", checks_stay);
    suite.case(GROUP, "one operation fits", |device| {
        let check = fine(device.driver.check_ir(&one_operation()), "one operation")?;
        ensure(check.fits, || format!("it does not: {check:?}"))
    });
    suite.case(GROUP, "more never needs less", more_needs_more);
    suite.case(GROUP, "dtypes that no block has are unsupported", wrong_dtypes);
    suite.case(GROUP, "what is absent is unsupported", what_is_absent);
}

/// A program with a single operation.
pub fn one_operation() -> Program {
    doubling(1).program
}

fn checks_stay(device: &mut Device) -> Outcome {
    for seed in 200..220 {
        let run = random_run(device, seed, 12);
        let (a, b) = (device.check_ir(&run.program)?, device.check_ir(&run.program)?);
        ensure(a == b, || format!("{a:?} and then {b:?}\n{}", run.program))?;
    }
    Ok(())
}

/// A chain of additions grows until it does not fit; then no longer one fits.
fn more_needs_more(device: &mut Device) -> Outcome {
    let mut fitted = true;
    for n in [1, 2, 3, 10, 100, 1000, 3000] {
        let mut b = Builder::new(Form::Map, 1);
        let (operand, access) = (b.operand(DType::F32), b.access(AccessKind::Contiguous));
        let x = b.load(operand, access);
        let sum = (0..n).fold(x, |sum, _| b.op(Op::Add, &[sum, x]));
        b.store(sum);
        let check = device.check_ir(&b.finish())?;
        ensure(fitted || !check.fits, || format!("{n} additions fit, but fewer do not"))?;
        fitted = check.fits;
    }
    Ok(())
}

/// A copy of elements.
fn copy(dtype: DType) -> Program {
    let mut b = Builder::new(Form::Map, 1);
    let (operand, access) = (b.operand(dtype), b.access(AccessKind::Contiguous));
    let value = b.load(operand, access);
    b.store(value);
    b.finish()
}

fn wrong_dtypes(device: &mut Device) -> Outcome {
    undisturbed(device, |device| {
        for dtype in device.other_dtypes() {
            let answer = device.driver.check_ir(&copy(dtype));
            refused(answer, ErrorKind::Unsupported, &format!("a copy of {dtype}"))?;
        }
        Ok(())
    })
}

/// A map of a float32 block of 10 with something in it that the driver does not have.
pub fn unsupported(device: &Device) -> Outcome<Run> {
    let absent = OPS.iter().filter(|row| row.rule != Rule::Special).find(|row| {
        let operands = vec![DType::F32; row.arity as usize];
        row.op.result_dtype(&operands, DType::F32).is_some()
            && device.driver.get_method(row.op, DType::F32) == Method::Absent
    });
    let mut b = Builder::new(Form::Map, 1);
    let (operand, access) = (b.operand(DType::F32), b.access(AccessKind::Contiguous));
    let x = b.load(operand, access);
    let value = match absent {
        Some(row) => b.op(row.op, &vec![x; row.arity as usize]),
        None if device.driver.get_method(Op::Loop, DType::F32) == Method::Absent => {
            let count = b.constant(Scalar::i32(3));
            let region = b.begin_loop(count, &[x]);
            let next = b.carry(region, 0);
            b.end(region, &[next]);
            b.result(region, 0, DType::F32)
        }
        None => return skip("nothing is unsupported"),
    };
    b.store(value);
    Ok(Run::new(b.finish(), &[10]).operand(numbers(10, 1)).access(contiguous(&[10])))
}

fn what_is_absent(device: &mut Device) -> Outcome {
    let run = unsupported(device)?;
    undisturbed(device, |device| {
        let answer = device.driver.check_ir(&run.program);
        refused(answer, ErrorKind::Unsupported, &run.program.to_string())
    })
}
