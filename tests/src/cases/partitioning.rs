//! Expressions beyond the driver's limits are cut into pieces; lowered limits are kept, and everything still
//! works under them.
//!
//! Not here: a small memory (`memory.rs`).

use super::Suite;
use super::arrays::{context, live};
use super::random::random_run;
use crate::drivers::device::{Device, from_bytes, to_bytes};
use crate::drivers::launch::TOO_LARGE;
use crate::expect::compare::same;
use crate::reporting::outcome::{Outcome, ensure, fine, skip};
use gpupy_core::driver::{Config, Resources};
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};
use gpupy_engine::{Array, ArrayOrScalar, Context, Settings};

pub const GROUP: &str = "partitioning";

/// Something that is too large for one evaluation.
type Expression = fn(&Context) -> Outcome;

const EXPRESSIONS: [(&str, Expression); 4] = [
    ("a chain of 3000 operations", chain),
    ("a sum of 200 arrays", many_operands),
    ("a sum of 300 scalars", many_scalars),
    ("30 results of one chain", many_results),
];

pub fn run(suite: &mut Suite<'_>) {
    for (name, expression) in EXPRESSIONS {
        let make = suite.constructor();
        suite.apart(GROUP, name, || expression(&context(make, Settings::default())));
    }
    for (name, settings, seeds) in [
        ("blocks of 256 bytes", Settings { block_bytes: 256, ..Settings::default() }, 40),
        ("blocks of 20 bytes", Settings { block_bytes: 20, ..Settings::default() }, 20),
        ("few resources", Settings { resources: Resources([16; 8]), ..Settings::default() }, 30),
    ] {
        live(suite, GROUP, name, &settings, seeds);
    }
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

/// The lowered limit is in force, and programs within it still give right results.
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

/// An array of integers.
fn given(from: usize) -> Outcome<(Array, Vec<i32>)> {
    let elements: Vec<i32> = (0..100).map(|k| (k + from) as i32 * 7919).collect();
    let scalars: Vec<_> = elements.iter().map(|x| Scalar::i32(*x)).collect();
    let array = Array::from_bytes(DType::I32, &[100], &to_bytes(&scalars));
    Ok((fine(array, "an array")?, elements))
}

fn apply(context: &Context, op: Op, a: &Array, b: ArrayOrScalar<'_>) -> Outcome<Array> {
    if !context.supports(op, a.dtype()) {
        return skip("absent methods, which the core does elsewhere");
    }
    fine(context.apply(op, &[ArrayOrScalar::Array(a), b]), op.info().name)
}

fn compare(context: &Context, array: &Array, wanted: &[i32]) -> Outcome {
    let bytes = fine(fine(context.read(array), "read")?.to_vec(), "read")?;
    let wanted: Vec<_> = wanted.iter().map(|x| Scalar::i32(*x)).collect();
    same(&from_bytes(DType::I32, &bytes), &wanted, "an array")
}

/// Each step depends on the one before it; two operands alternate.
fn chain(context: &Context) -> Outcome {
    let ((mut x, mut want), (step, by)) = (given(1)?, given(5)?);
    for k in 0..1500 {
        let scale = Scalar::i32(3 + k % 2);
        x = apply(context, Op::Mul, &x, ArrayOrScalar::Scalar(scale))?;
        x = apply(context, Op::Sub, &x, ArrayOrScalar::Array(&step))?;
        for (want, by) in want.iter_mut().zip(&by) {
            *want = want.wrapping_mul(3 + k % 2).wrapping_sub(*by);
        }
    }
    compare(context, &x, &want)
}

fn many_operands(context: &Context) -> Outcome {
    let (mut sum, mut want) = given(0)?;
    for k in 1..200 {
        let (array, elements) = given(k)?;
        sum = apply(context, Op::Add, &sum, ArrayOrScalar::Array(&array))?;
        want.iter_mut().zip(elements).for_each(|(want, x)| *want = want.wrapping_add(x));
    }
    compare(context, &sum, &want)
}

fn many_scalars(context: &Context) -> Outcome {
    let (mut sum, mut want) = given(0)?;
    for k in 0..300 {
        sum = apply(context, Op::Add, &sum, ArrayOrScalar::Scalar(Scalar::i32(1000 + k)))?;
        want.iter_mut().for_each(|want| *want = want.wrapping_add(1000 + k));
    }
    compare(context, &sum, &want)
}

/// A shared value is computed once or again, but is the same.
fn many_results(context: &Context) -> Outcome {
    let (mut x, mut want) = given(3)?;
    let (mut arrays, mut wanted) = (Vec::new(), Vec::new());
    for k in 0..30 {
        x = apply(context, Op::Xor, &x, ArrayOrScalar::Scalar(Scalar::i32(0x1111 * k)))?;
        x = apply(context, Op::Mul, &x, ArrayOrScalar::Scalar(Scalar::i32(5)))?;
        want.iter_mut().for_each(|want| *want = (*want ^ (0x1111 * k)).wrapping_mul(5));
        arrays.push(x.clone());
        wanted.push(want.clone());
    }
    fine(context.evaluate(&arrays.iter().collect::<Vec<_>>()), "evaluate")?;
    arrays.iter().zip(&wanted).try_for_each(|(array, wanted)| compare(context, array, wanted))
}
