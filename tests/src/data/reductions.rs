//! The reduce form.

use super::named::{Named, kind, named, ordinary, random};
use crate::expect::oracle::{Run, affine, contiguous};
use crate::expect::samples::DTYPES;
use gpupy_core::driver::Access;
use gpupy_core::ir::{AccessKind, Builder, Form};
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};

fn reduce(op: Op, data: Vec<Scalar>, shape: &[usize], access: Access) -> Run {
    let mut b = Builder::new(Form::Reduce { op }, shape.len() as u32);
    let (operand, slot) = (b.operand(data[0].dtype), b.access(kind(shape, &access)));
    let value = b.load(operand, slot);
    let value = b.reduce(value);
    b.store(value);
    Run::new(b.finish(), shape).operand(data).access(access)
}

/// Every reduction at lengths around 16 and 256, and over several axes.
pub fn reductions() -> Vec<Named> {
    const LENGTHS: [usize; 11] = [1, 2, 3, 8, 15, 16, 17, 255, 256, 257, 300];
    let mut cases = Vec::new();
    for op in Op::reducing() {
        for dtype in DTYPES.into_iter().filter(|dtype| op.reduces(*dtype)) {
            let extreme = matches!(op, Op::Min | Op::Max) || dtype != DType::F32;
            // Sums of special floats are all NaN.
            let data =
                |len| if extreme { random(dtype, len, 110) } else { ordinary(dtype, len, 110) };
            let lengths = if dtype == DType::F32 { &LENGTHS[..] } else { &[17, 300] };
            for n in lengths {
                let run = reduce(op, data(*n), &[*n], contiguous(&[*n]));
                cases.push(named(format!("{} of {n} {dtype}", op.info().name), run));
            }
        }
    }
    let float = |len| ordinary(DType::F32, len, 111);
    let mut add = |name: &str, shape: &[usize], access: Access| {
        let len = shape.iter().product();
        cases.push(named(name, reduce(Op::Add, float(len), shape, access)));
    };
    add("sums of rows", &[3, 270], contiguous(&[3, 270]));
    add("sums of columns", &[6, 40], affine(0, &[1, 6]));
    add("sums of columns from the end", &[6, 33], affine(197, &[-33, -1]));
    add("sums over the first two of three axes of (5, 8, 6)", &[6, 40], affine(0, &[1, 6]));
    add("sums over the middle axis of (2, 20, 3)", &[2, 3, 20], affine(0, &[60, 1, 3]));
    add("sums of one row again and again", &[4, 20], affine(0, &[0, 1]));
    cases.push(with_prologue_and_epilogue());
    cases.extend(several());
    cases
}

/// Several reductions in one program.
fn several() -> Vec<Named> {
    let mut cases = Vec::new();
    for (shape, access) in [
        (&[17][..], contiguous(&[17])),
        (&[257], contiguous(&[257])),
        (&[3, 270], contiguous(&[3, 270])),
        (&[6, 40], affine(0, &[1, 6])),
    ] {
        let mut b = Builder::new(Form::Reduce { op: Op::Add }, shape.len() as u32);
        let (x, y) = (b.operand(DType::F32), b.operand(DType::I32));
        let slot = b.access(kind(shape, &access));
        let (x, y) = (b.load(x, slot), b.load(y, slot));
        let square = b.op(Op::Mul, &[x, x]);
        let by = [(Op::Add, x), (Op::Max, x), (Op::Add, square), (Op::Xor, y)];
        by.map(|(op, value)| b.reduce_by(op, value)).into_iter().for_each(|value| b.store(value));
        let len = shape.iter().product();
        let run = Run::new(b.finish(), shape)
            .operand(ordinary(DType::F32, len, 114))
            .operand(random(DType::I32, len, 115))
            .access(access);
        cases.push(named(format!("four reductions over {shape:?}"), run));
    }
    let mut b = Builder::new(Form::Reduce { op: Op::Min }, 2);
    let (operand, slot) = (b.operand(DType::U32), b.access(AccessKind::Contiguous));
    let x = b.load(operand, slot);
    let (least, most) = (b.reduce(x), b.reduce_by(Op::Max, x));
    let range = b.op(Op::Sub, &[most, least]);
    b.store(range);
    b.store(least);
    let run = Run::new(b.finish(), &[3, 270])
        .operand(random(DType::U32, 810, 116))
        .access(contiguous(&[3, 270]))
        .target(1, 30, affine(25, &[-7, 2]));
    cases.push(named("the range of numbers, and the least into part of a block", run));
    cases
}

/// The square root of a scaled sum of squares, plus an element beside each output point.
fn with_prologue_and_epilogue() -> Named {
    let mut b = Builder::new(Form::Reduce { op: Op::Add }, 2);
    let (x, inputs) = (b.operand(DType::F32), b.access(AccessKind::Contiguous));
    let (y, outputs) = (b.operand(DType::F32), b.access(AccessKind::Affine));
    let x = b.load(x, inputs);
    let square = b.op(Op::Mul, &[x, x]);
    let sum = b.reduce(square);
    let scale = b.param(DType::F32);
    let scaled = b.op(Op::Mul, &[sum, scale]);
    let root = b.op(Op::Sqrt, &[scaled]);
    let y = b.load(y, outputs);
    let result = b.op(Op::Add, &[root, y]);
    b.store(result);
    let run = Run::new(b.finish(), &[3, 270])
        .operand(ordinary(DType::F32, 810, 112))
        .operand(ordinary(DType::F32, 40, 113))
        .param(Scalar::f32(0.3))
        .access(contiguous(&[3, 270]))
        .access(affine(2, &[9, 3]))
        .target(0, 30, affine(25, &[-7, 2]));
    named("loads before the reduction count input points, after it output points", run)
}
