//! Stores: into parts of blocks, with strides, and to several destinations.
//!
//! Elements that a launch does not name must stay: `device.rs` guards them in every case.

use super::{GROUP, Suite};
use crate::drivers::device::Device;
use crate::expect::compare::same;
use crate::expect::oracle::{Run, affine, contiguous};
use crate::expect::samples::{DTYPES, Rng};
use crate::reporting::outcome::{Outcome, skip};
use gpupy_core::DType;
use gpupy_core::ir::{AccessKind, Builder, Form};
use gpupy_core::op::Op;

/// The launch's shape, and the block, offset and strides where it goes.
type Part = (&'static str, &'static [usize], usize, i64, &'static [i64]);

const PARTS: [Part; 15] = [
    ("all but the ends", &[98], 100, 1, &[1]),
    ("one element", &[1], 1000, 501, &[1]),
    ("two elements across a group of four", &[2], 16, 3, &[1]),
    ("the last element", &[1], 1001, 1000, &[1]),
    ("every second element", &[100], 200, 1, &[2]),
    ("every fifth element, backwards", &[40], 200, 198, &[-5]),
    ("backwards", &[200], 200, 199, &[-1]),
    ("a rectangle", &[5, 7], 400, 43, &[20, 1]),
    ("a column", &[20, 1], 400, 3, &[20, 1]),
    ("every second row and third column", &[10, 6], 400, 1, &[40, 3]),
    ("rows of three behind a group of four", &[5, 3], 27, 12, &[3, 1]),
    ("the last of many rows of five", &[2, 3, 5], 90, 60, &[15, 5, 1]),
    ("transposed", &[20, 30], 600, 0, &[1, 20]),
    ("transposed inside", &[5, 4], 400, 22, &[1, 20]),
    ("three axes, permuted and apart", &[3, 4, 5], 400, 7, &[5, 60, 1]),
];

pub fn run(suite: &mut Suite<'_>) {
    for part in PARTS {
        for dtype in DTYPES {
            suite.case(GROUP, &format!("{dtype} into {}", part.0), |d| into(d, part, dtype));
        }
        suite.case(GROUP, &format!("computed into {}", part.0), |d| computed(d, part));
    }
    for n in 2..=8 {
        suite.case(GROUP, &format!("{n} destinations"), |d| several(d, n, true));
        suite.case(GROUP, &format!("{n} destinations, parts of blocks"), |d| several(d, n, false));
    }
    for n in 2..=4 {
        suite.case(GROUP, &format!("one result in {n} destinations"), |d| repeated(d, n));
    }
    suite.case(GROUP, "two halves of one block", halves);
}

fn into(device: &mut Device, (_, shape, len, offset, strides): Part, dtype: DType) -> Outcome {
    let mut b = Builder::new(Form::Map, shape.len() as u32);
    let (operand, access) = (b.operand(dtype), b.access(AccessKind::Contiguous));
    let value = b.load(operand, access);
    b.store(value);
    let mut rng = Rng::new(21);
    let points: usize = shape.iter().product();
    let run = Run::new(b.finish(), shape)
        .operand((0..points).map(|_| rng.scalar(dtype)).collect())
        .access(contiguous(shape))
        .target(0, len, affine(offset, strides));
    device.check_one(&run, 0.0)
}

fn computed(device: &mut Device, (_, shape, len, offset, strides): Part) -> Outcome {
    let mut b = Builder::new(Form::Map, shape.len() as u32);
    let (operand, access) = (b.operand(DType::F32), b.access(AccessKind::Uniform));
    let place = b.access(AccessKind::Affine);
    let (value, index) = (b.load(operand, access), b.index(place));
    let index = if device.caps.resources.iter().all(|(_, limit)| *limit > 1) {
        b.convert(Op::Cast, index, DType::F32)
    } else {
        b.param(DType::F32)
    };
    let value = b.op(Op::Mul, &[value, index]);
    b.store(value);
    let mut rng = Rng::new(22);
    let mut run = Run::new(b.finish(), shape)
        .operand((0..9).map(|_| rng.ordinary(DType::F32)).collect())
        .access(affine(4, &vec![0; shape.len()]))
        .access(affine(1, &contiguous(shape).strides))
        .target(0, len, affine(offset, strides));
    run.params = run.program.params.iter().map(|dtype| rng.ordinary(*dtype)).collect();
    device.check(&run, 0.0)
}

/// Loads of several dtypes and one sum, each to a destination of its own.
fn several(device: &mut Device, n: usize, whole: bool) -> Outcome {
    if device.caps.max_dests < n {
        return skip("fewer destinations at a time");
    }
    let shape = [13, 9];
    let mut b = Builder::new(Form::Map, 2);
    let access = b.access(AccessKind::Contiguous);
    let mut rng = Rng::new(23);
    let mut operands = Vec::new();
    let mut stored = Vec::new();
    for k in 0..n - 1 {
        // No more operands than destinations: binding points are few on some devices.
        let dtype = [DType::F32, DType::I32, DType::Bool, DType::U32][k % 4];
        let operand = b.operand(dtype);
        stored.push(b.load(operand, access));
        operands.push((0..117).map(|_| rng.ordinary(dtype)).collect());
    }
    stored.push(b.op(Op::Add, &[stored[0], stored[0]]));
    for value in stored {
        b.store(value);
    }
    let mut run = Run::new(b.finish(), &shape).access(contiguous(&shape));
    run.operands = operands;
    for k in (0..n).filter(|_| !whole) {
        run = run.target(k, 400, affine(k as i64, &[27, if k % 2 == 0 { 2 } else { 3 }]));
    }
    device.check(&run, 0.0)
}

/// One result to several destinations, in rows of few points and of many; a driver may have another way for each, and
/// for programs that it has launched often.
fn repeated(device: &mut Device, n: usize) -> Outcome {
    if device.caps.max_dests < n {
        return skip("fewer destinations at a time");
    }
    let mut rng = Rng::new(25);
    for points in [1, 2, 5, 64, 65, 300] {
        let mut b = Builder::new(Form::Map, 1);
        let (operand, access) = (b.operand(DType::F32), b.access(AccessKind::Contiguous));
        let value = b.load(operand, access);
        let sum = b.op(Op::Add, &[value, value]);
        for _ in 0..n {
            b.store(sum);
        }
        let run = Run::new(b.finish(), &[points])
            .operand((0..points).map(|_| rng.ordinary(DType::F32)).collect())
            .access(contiguous(&[points]));
        let apart = |k| affine(k as i64, &[if k % 2 == 0 { 2 } else { 3 }]);
        let in_parts = (1..n).fold(run.clone(), |run, k| run.target(k, 3 * points + 10, apart(k)));
        for run in [run, in_parts] {
            for _ in 0..40 {
                device.check(&run, 0.0)?;
            }
        }
    }
    Ok(())
}

/// Two launches after each other: the second must not undo the first.
fn halves(device: &mut Device) -> Outcome {
    let (block, mut rng) = (device.alloc(DType::F32, 101)?, Rng::new(24));
    let mut wanted = Vec::new();
    for (offset, len) in [(0, 50), (50, 51)] {
        let mut b = Builder::new(Form::Map, 1);
        let (operand, access) = (b.operand(DType::F32), b.access(AccessKind::Contiguous));
        let value = b.load(operand, access);
        b.store(value);
        let data: Vec<_> = (0..len).map(|_| rng.ordinary(DType::F32)).collect();
        let run = Run::new(b.finish(), &[len])
            .operand(data.clone())
            .access(contiguous(&[len]))
            .target(0, 101, affine(offset, &[1]));
        let source = device.upload(DType::F32, &data)?;
        device.eval(&run, &[source], &[block])?;
        device.driver.block_free(source);
        wanted.extend(data);
    }
    let got = device.read(block, DType::F32, 0, 101)?;
    device.driver.block_free(block);
    same(&got, &wanted, "two halves")
}
