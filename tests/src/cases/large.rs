//! More elements than fit in one row of a texture, one dispatch or one chunk, at sizes that nothing
//! divides.
//!
//! Not here: the same with small blocks through the core (`memory.rs`).

use super::Suite;
use crate::drivers::device::Device;
use crate::expect::compare::same;
use crate::expect::oracle::{Run, affine, contiguous};
use crate::expect::samples::{DTYPES, Rng};
use crate::reporting::outcome::Outcome;
use gpupy_core::ir::{AccessKind, Builder, Form, FormKind};
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};

pub const GROUP: &str = "large";

/// Whole blocks that are written, doubled and read; rows of one texture are at most 65536 long.
const SHAPES: [&[usize]; 6] =
    [&[65_537], &[131_077], &[262_144], &[512, 300], &[3, 70_001], &[211, 3, 211]];

pub fn run(suite: &mut Suite<'_>) {
    for dtype in DTYPES {
        suite.case(GROUP, &format!("parts of a block, {dtype}"), |device| parts(device, dtype));
    }
    for shape in SHAPES {
        suite.case(GROUP, &format!("a sum over {shape:?}"), |device| sum(device, shape));
        suite.case(GROUP, &format!("transposed {shape:?}"), |device| transposed(device, shape));
        suite.case(GROUP, &format!("into part of a block, {shape:?}"), |d| into_part(d, shape));
        suite.case(GROUP, &format!("maxima of {shape:?}"), |device| maxima(device, shape));
    }
    suite.case(GROUP, "gather from anywhere", gather);
}

fn elements(dtype: DType, n: usize, seed: u64) -> Vec<Scalar> {
    let mut rng = Rng::new(seed);
    (0..n).map(|_| rng.ordinary(dtype)).collect()
}

fn parts(device: &mut Device, dtype: DType) -> Outcome {
    device.need_dtype(dtype)?;
    let n = 400_003;
    let mut rng = Rng::new(61);
    let mut data = elements(dtype, n, 60);
    let block = device.upload(dtype, &data)?;
    for round in 0..12 {
        let from = rng.below(n);
        let most = [1, 5, 3000, 100_000][round % 4];
        let len = 1 + rng.below(most.min(n - from));
        let new = elements(dtype, len, round as u64);
        device.write(block, from, &new)?;
        data[from..from + len].copy_from_slice(&new);
        let from = rng.below(n);
        let len = 1 + rng.below((n - from).min(most));
        let got = device.read(block, dtype, from, len)?;
        same(&got, &data[from..from + len], &format!("{len} elements from {from}"))?;
    }
    let got = device.read(block, dtype, 0, n)?;
    device.driver.block_free(block);
    same(&got, &data, "the whole block")
}

/// A block, the column of an index and a scalar.
fn sum(device: &mut Device, shape: &[usize]) -> Outcome {
    let points = shape.iter().product();
    let mut b = Builder::new(Form::Map, shape.len() as u32);
    let (operand, same) = (b.operand(DType::I32), b.access(AccessKind::Contiguous));
    let column = b.access(AccessKind::Affine);
    let (value, index) = (b.load(operand, same), b.index(column));
    let sum = b.op(Op::Add, &[value, index]);
    b.store(sum);
    let mut strides = vec![0; shape.len()];
    strides[shape.len() - 1] = -3;
    let run = Run::new(b.finish(), shape)
        .operand(elements(DType::I32, points, 62))
        .access(contiguous(shape))
        .access(affine(17, &strides));
    device.check_one(&run, 0.0)
}

fn transposed(device: &mut Device, shape: &[usize]) -> Outcome {
    let points = shape.iter().product();
    let mut b = Builder::new(Form::Map, shape.len() as u32);
    let (operand, access) = (b.operand(DType::F32), b.access(AccessKind::Affine));
    let value = b.load(operand, access);
    let value = b.op(Op::Neg, &[value]);
    b.store(value);
    // The axes the other way round; a single axis backwards.
    let mut strides = vec![1; shape.len()];
    for k in 1..shape.len() {
        strides[k] = strides[k - 1] * shape[k - 1] as i64;
    }
    let access = match shape {
        [n] => affine(*n as i64 - 1, &[-1]),
        _ => affine(0, &strides),
    };
    let run = Run::new(b.finish(), shape).operand(elements(DType::F32, points, 63)).access(access);
    device.check_one(&run, 0.0)
}

fn into_part(device: &mut Device, shape: &[usize]) -> Outcome {
    let points: usize = shape.iter().product();
    let mut b = Builder::new(Form::Map, shape.len() as u32);
    let (operand, access) = (b.operand(DType::F32), b.access(AccessKind::Contiguous));
    let value = b.load(operand, access);
    b.store(value);
    let mut strides = contiguous(shape).strides;
    strides.iter_mut().for_each(|stride| *stride *= 2);
    let run = Run::new(b.finish(), shape)
        .operand(elements(DType::F32, points, 64))
        .access(contiguous(shape))
        .target(0, 2 * points + 5, affine(3, &strides));
    device.check_one(&run, 0.0)
}

fn maxima(device: &mut Device, shape: &[usize]) -> Outcome {
    if !device.caps.has(FormKind::Reduce) {
        return crate::reporting::outcome::skip("no reduce form");
    }
    let points = shape.iter().product();
    for op in [Op::Max, Op::Add] {
        let mut b = Builder::new(Form::Reduce { op }, shape.len() as u32);
        let (operand, access) = (b.operand(DType::F32), b.access(AccessKind::Contiguous));
        let value = b.load(operand, access);
        let value = b.reduce(value);
        b.store(value);
        let run = Run::new(b.finish(), shape)
            .operand(elements(DType::F32, points, 65))
            .access(contiguous(shape));
        device.check_one(&run, 0.0)?;
    }
    Ok(())
}

fn gather(device: &mut Device) -> Outcome {
    device.need_method(Op::Gather, DType::F32)?;
    let (n, m) = (300_007, 70_001);
    let mut rng = Rng::new(66);
    let mut b = Builder::new(Form::Map, 1);
    let (table, indices) = (b.operand(DType::F32), b.operand(DType::I32));
    let access = b.access(AccessKind::Contiguous);
    let index = b.load(indices, access);
    let value = b.gather(table, index);
    b.store(value);
    let run = Run::new(b.finish(), &[m])
        .operand(elements(DType::F32, n, 67))
        .operand((0..m).map(|_| Scalar::i32(rng.below(n) as i32)).collect())
        .access(contiguous(&[m]));
    device.check_one(&run, 0.0)
}
