//! Random programs of many operations.
//!
//! Owns [`random_run`]. Only exact operations occur, so that every driver gives the same bits.

use super::Suite;
use crate::drivers::device::Device;
use crate::drivers::launch::TOO_LARGE;
use crate::expect::oracle::{Run, affine, contiguous};
use crate::expect::samples::{DTYPES, Rng};
use crate::reporting::outcome::{Outcome, skip};
use gpupy_core::DType;
use gpupy_core::driver::{Access, Method};
use gpupy_core::ir::{AccessKind, Builder, Form};
use gpupy_core::op::{OPS, Op, Rule};

pub const GROUP: &str = "random";

pub fn run(suite: &mut Suite<'_>) {
    for seed in 0..80 {
        let operations = 1 + (seed as usize * 7) % 60;
        suite.case(GROUP, &format!("seed {seed}"), |device| random(device, seed, operations));
    }
    for (seed, operations) in [(501, 200), (502, 350), (503, 500), (504, 900)] {
        let name = format!("{operations} operations");
        suite.case(GROUP, &name, |device| random(device, seed, operations));
    }
}

/// A program that does not fit is tried again with half the operations.
fn random(device: &mut Device, seed: u64, mut operations: usize) -> Outcome {
    while operations > 0 {
        let run = random_run(device, seed, operations);
        if device.check_ir(&run.program)?.fits {
            return device.check(&run, 0.0);
        }
        operations /= 2;
    }
    skip(TOO_LARGE)
}

/// A map over random inputs, with about this many operations of the driver's own.
pub fn random_run(device: &Device, seed: u64, operations: usize) -> Run {
    let mut rng = Rng::new(seed);
    let shapes: [&[usize]; 5] = [&[257], &[16, 20], &[7, 33], &[3, 5, 21], &[1]];
    let shape = rng.one_of(&shapes);
    let dtypes: Vec<_> =
        DTYPES.into_iter().filter(|dtype| device.caps.dtypes.contains(dtype)).collect();
    let mut b = Builder::new(Form::Map, shape.len() as u32);
    let mut run = Inputs::default();
    let mut values = Vec::new();
    for dtype in dtypes.iter().chain([&DType::F32]) {
        values.push(run.load(&mut b, &mut rng, shape, *dtype));
    }
    values.push(b.param(DType::F32));
    let scalar = rng.ordinary(DType::F32);
    values.push(b.constant(rng.ordinary(DType::F32)));
    values.push(b.constant(rng.ordinary(DType::I32)));
    let mut done = 0;
    for _ in 0..operations * 20 {
        if done == operations {
            break;
        }
        let row = &OPS[rng.below(OPS.len())];
        if row.is_of_complex() {
            continue;
        }
        let args: Vec<_> = (0..row.arity).map(|_| recent(&mut rng, &values)).collect();
        let given: Vec<_> = args.iter().map(|value| b.dtype(*value)).collect();
        let to = rng.one_of(&dtypes);
        if row.ulp > 0.0 || row.op == Op::Bitcast || row.op.result_dtype(&given, to).is_none() {
            continue;
        }
        let cast = row.rule == Rule::Cast;
        // Casts of floats out of range belong to another group.
        if cast && given[0] == DType::F32 && to != DType::Bool {
            continue;
        }
        let asked = if cast { to } else { given[0] };
        let value = match device.driver.get_method(row.op, asked) {
            Method::Native if cast => b.convert(row.op, args[0], to),
            Method::Native => b.op(row.op, &args),
            _ => continue,
        };
        done += 1;
        values.push(value);
    }
    let stores = 1 + rng.below(device.caps.max_dests.min(3));
    for value in values.iter().rev().take(stores) {
        b.store(*value);
    }
    let mut run =
        Run { operands: run.operands, accesses: run.accesses, ..Run::new(b.finish(), shape) };
    run.params.push(scalar);
    run
}

/// Mostly one of the newest values, so that programs grow deep.
fn recent(rng: &mut Rng, values: &[u32]) -> u32 {
    let among = if rng.below(3) == 0 { values.len() } else { values.len().min(6) };
    values[values.len() - 1 - rng.below(among)]
}

#[derive(Default)]
struct Inputs {
    operands: Vec<Vec<gpupy_core::Scalar>>,
    accesses: Vec<Access>,
}

impl Inputs {
    fn load(&mut self, b: &mut Builder, rng: &mut Rng, shape: &[usize], dtype: DType) -> u32 {
        let points: usize = shape.iter().product();
        let (kind, access) = match rng.below(4) {
            0 => (AccessKind::Uniform, affine(3, &vec![0; shape.len()])),
            1 => {
                let strides: Vec<i64> = contiguous(shape).strides.iter().map(|s| -s).collect();
                (AccessKind::Affine, affine(points as i64 - 1, &strides))
            }
            _ => (AccessKind::Contiguous, contiguous(shape)),
        };
        self.accesses.push(access);
        self.operands.push((0..points.max(4)).map(|_| rng.ordinary(dtype)).collect());
        let (operand, slot) = (b.operand(dtype), b.access(kind));
        b.load(operand, slot)
    }
}
