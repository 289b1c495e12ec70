//! Arrays larger than a device's memory, through the core: values are evicted and come back.
//!
//! Not here: devices that lack memory unexpectedly (`faults/`).

use super::Suite;
use super::arrays::{context, live};
use crate::drivers::device::{from_bytes, to_bytes};
use crate::expect::compare::same;
use crate::reporting::outcome::{Outcome, fine, skip};
use gpupy_core::ir::FormKind;
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};
use gpupy_engine::{Array, ArrayOrScalar, Context, Settings};

pub const GROUP: &str = "memory";

/// A program for a device that is too small for it.
type Program = fn(&Context) -> Outcome;

const PROGRAMS: [(&str, Program); 5] = [
    ("an expression over large arrays", expression),
    ("many arrays, updated in turns", updates),
    ("the sum of a large array", sum),
    ("a large matrix, transposed", transposed),
    ("writes into a large array", writes),
];

pub fn run(suite: &mut Suite<'_>) {
    let small = [
        ("blocks of 4096 bytes on a device of 65536", 4096, 65536),
        ("blocks of 16384 bytes on a device of 65536", 16384, 65536),
    ];
    for (name, block_bytes, device_bytes) in small {
        for (what, program) in PROGRAMS {
            let make = suite.constructor();
            suite.apart(GROUP, &format!("{what}, {name}"), || {
                let settings = Settings { block_bytes, device_bytes, ..Settings::default() };
                program(&context(make, settings))
            });
        }
    }
    let settings = Settings { block_bytes: 64, device_bytes: 4096, ..Settings::default() };
    live(suite, GROUP, "blocks of 64 bytes on a device of 4096", &settings, 30);
}

/// Elements of a large array: 4 times the memory of the device.
const LARGE: usize = 65536;

/// An array of these elements.
fn given(shape: &[usize], element: impl Fn(usize) -> f32) -> Outcome<(Array, Vec<f32>)> {
    let elements: Vec<f32> = (0..shape.iter().product()).map(element).collect();
    let scalars: Vec<_> = elements.iter().map(|x| Scalar::f32(*x)).collect();
    let array = Array::from_bytes(DType::F32, shape, &to_bytes(&scalars));
    Ok((fine(array, "an array")?, elements))
}

fn apply(context: &Context, op: Op, a: &Array, b: &Array) -> Outcome<Array> {
    fine(context.apply(op, &[ArrayOrScalar::Array(a), ArrayOrScalar::Array(b)]), op.info().name)
}

fn compare(context: &Context, array: &Array, wanted: impl Iterator<Item = f32>) -> Outcome {
    let bytes = fine(fine(context.read(array), "read")?.to_vec(), "read")?;
    let wanted: Vec<_> = wanted.map(Scalar::f32).collect();
    same(&from_bytes(DType::F32, &bytes), &wanted, "an array")
}

fn expression(context: &Context) -> Outcome {
    let (a, x) = given(&[LARGE], |k| k as f32 * 0.25)?;
    let (b, y) = given(&[LARGE], |k| 7.0 - (k % 1000) as f32)?;
    let product = apply(context, Op::Mul, &a, &b)?;
    let sum = apply(context, Op::Add, &product, &a)?;
    let difference = apply(context, Op::Sub, &sum, &b)?;
    compare(context, &difference, x.iter().zip(&y).map(|(x, y)| x * y + x - y))?;
    compare(context, &product, x.iter().zip(&y).map(|(x, y)| x * y))
}

/// All arrays stay alive, so that each update finds others in the device's memory.
fn updates(context: &Context) -> Outcome {
    let mut all = Vec::new();
    for k in 0..40 {
        all.push(given(&[2000], |i| (i + 2000 * k) as f32)?);
    }
    let (step, _) = given(&[2000], |_| 1.0)?;
    for _ in 0..3 {
        for (array, elements) in &mut all {
            *array = apply(context, Op::Add, array, &step)?;
            fine(context.evaluate(&[array]), "evaluate")?;
            elements.iter_mut().for_each(|x| *x += 1.0);
        }
    }
    all.iter().try_for_each(|(array, elements)| compare(context, array, elements.iter().copied()))
}

fn sum(context: &Context) -> Outcome {
    if !fine(context.driver(), "driver")?.1.has(FormKind::Reduce) {
        return skip("no reduce form");
    }
    let (array, elements) = given(&[LARGE], |k| (k % 16) as f32)?;
    let twice = apply(context, Op::Add, &array, &array)?;
    let sum = fine(context.reduce(Op::Add, &twice, &[0], false), "sum")?;
    // Small integers: exact in any order.
    compare(context, &sum, [2.0 * elements.iter().sum::<f32>()].into_iter())
}

fn transposed(context: &Context) -> Outcome {
    let (matrix, elements) = given(&[256, 256], |k| k as f32)?;
    let sum = apply(context, Op::Add, &matrix, &matrix.transpose(&[1, 0]))?;
    let at = |k: usize| elements[k] + elements[k % 256 * 256 + k / 256];
    compare(context, &sum, (0..LARGE).map(at))
}

fn writes(context: &Context) -> Outcome {
    let (array, mut elements) = given(&[LARGE], |k| k as f32)?;
    for round in 0..6usize {
        let (start, len, step) = (1000 * round + 1, 9000, 1 + round);
        let part = array.slice_axis(0, start, len, step as isize);
        let (source, new) = given(&[len], |k| -((k + round) as f32))?;
        let doubled = apply(context, Op::Add, &source, &source)?;
        fine(context.assign(&part, ArrayOrScalar::Array(&doubled)), "assign")?;
        for (k, x) in new.iter().enumerate() {
            elements[start + k * step] = 2.0 * x;
        }
    }
    compare(context, &array, elements.into_iter())
}
