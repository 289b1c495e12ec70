//! The whole-program forms.

use super::named::{Named, kind, named, ordinary, random};
use crate::expect::oracle::{Run, affine, contiguous};
use crate::expect::samples::{DTYPES, Rng};
use gpupy_core::driver::Access;
use gpupy_core::ir::{AccessKind, Builder, Form};
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};

/// A program of a whole-program form: each operand's elements, and how they are walked over.
fn whole(form: Form, op: Op, shape: &[usize], reads: Vec<(Vec<Scalar>, Access)>) -> Run {
    let mut b = Builder::new(form, shape.len() as u32);
    let mut loads = Vec::new();
    for (which, (data, access)) in reads.iter().enumerate() {
        let space = form.operand_shape(which, shape, &[]);
        let (operand, slot) = (b.operand(data[0].dtype), b.access(kind(&space, access)));
        loads.push(b.load(operand, slot));
    }
    let value = b.library_op(op, &loads);
    b.store(value);
    let run = Run::new(b.finish(), shape);
    reads.into_iter().fold(run, |run, (data, access)| run.operand(data).access(access))
}

fn scan(op: Op, data: Vec<Scalar>, starts: Vec<Scalar>, shape: &[usize], access: Access) -> Run {
    let mut chunks = shape.to_vec();
    chunks[shape.len() - 1] = shape[shape.len() - 1].div_ceil(256);
    let reads = vec![(data, access), (starts, contiguous(&chunks))];
    whole(Form::Scan { op }, Op::Scan, shape, reads)
}

/// Scans, sorts and matrix products.
pub fn forms() -> Vec<Named> {
    let mut cases = scans();
    cases.extend(sorts());
    cases.extend(products());
    cases
}

fn scans() -> Vec<Named> {
    let mut cases = Vec::new();
    for op in Op::reducing() {
        for dtype in DTYPES.into_iter().filter(|dtype| op.reduces(*dtype)) {
            let extreme = matches!(op, Op::Min | Op::Max) || dtype != DType::F32;
            let data =
                |len| if extreme { random(dtype, len, 120) } else { ordinary(dtype, len, 120) };
            let lengths = if op == Op::Add { &[1, 255, 256, 257, 520][..] } else { &[20] };
            for n in lengths {
                let run = scan(op, data(*n), data(n.div_ceil(256)), &[*n], contiguous(&[*n]));
                cases.push(named(format!("scan {} of {n} {dtype}", op.info().name), run));
            }
        }
    }
    let float = |len| ordinary(DType::F32, len, 121);
    let columns = scan(Op::Add, float(12 * 6), float(6), &[6, 12], affine(0, &[1, 6]));
    cases.push(named("running sums of columns", columns));
    let backwards = scan(Op::Add, float(30), float(3), &[3, 10], affine(29, &[-10, -1]));
    cases.push(named("running sums from the end", backwards));
    cases
}

fn sorts() -> Vec<Named> {
    let mut cases = Vec::new();
    for op in [Op::Sort, Op::ArgSort] {
        let sort = |shape: &[usize], data: Vec<Scalar>, access| {
            whole(Form::Sort, op, shape, vec![(data, access)])
        };
        for dtype in DTYPES {
            for n in [1, 40] {
                let run = sort(&[n], random(dtype, n, 122), contiguous(&[n]));
                cases.push(named(format!("{} of {n} {dtype}", op.info().name), run));
            }
        }
        let rows = sort(&[3, 7], ordinary(DType::F32, 21, 123), affine(0, &[1, 3]));
        cases.push(named(format!("{} of columns", op.info().name), rows));
        let mut rng = Rng::new(124);
        let some = [0, 0x8000_0000, 0x7fc0_0000, 0xff80_0001, 0x3f80_0000, 0xff80_0000];
        let equal = (0..60).map(|_| Scalar::new(DType::F32, rng.one_of(&some))).collect();
        let run = sort(&[60], equal, contiguous(&[60]));
        cases.push(named(format!("{} of zeros and NaN", op.info().name), run));
    }
    cases
}

/// Products of small numbers other than 0, so that every sum is exact.
fn products() -> Vec<Named> {
    let numbers = |dtype: DType, len: usize| -> Vec<Scalar> {
        let mut rng = Rng::new(125);
        let number = |rng: &mut Rng| rng.one_of(&[-3i32, -2, -1, 1, 2, 3]);
        (0..len)
            .map(|_| match dtype {
                DType::Bool => Scalar::bool(number(&mut rng) > 2),
                DType::F32 => Scalar::f32(number(&mut rng) as f32 * 0.25),
                _ => Scalar::new(dtype, number(&mut rng) as u32 as u64),
            })
            .collect()
    };
    let mut cases = Vec::new();
    for dtype in DTYPES {
        let mut add = |name: &str, shape: &[usize], first: Access, second: Access| {
            let reads = vec![(numbers(dtype, 80), first), (numbers(dtype, 80), second)];
            let run = whole(Form::MatMul, Op::MatMul, shape, reads);
            cases.push(named(format!("{name} of {dtype}"), run));
        };
        add("(4, 9) times (9, 5)", &[4, 5, 9], affine(0, &[9, 0, 1]), affine(0, &[0, 1, 5]));
        add(
            "a transposed matrix times one",
            &[4, 5, 9],
            affine(2, &[1, 0, 4]),
            affine(0, &[0, 9, 1]),
        );
        add("a row times a column", &[1, 1, 40], affine(0, &[0, 0, 1]), affine(39, &[0, 0, -1]));
        add(
            "a stack times a matrix",
            &[3, 4, 2, 5],
            affine(0, &[20, 5, 0, 1]),
            affine(0, &[0, 0, 1, 2]),
        );
    }
    let mut b = Builder::new(Form::MatMul, 3);
    let loads = [0, 1].map(|_| {
        let (operand, slot) = (b.operand(DType::I32), b.access(AccessKind::Affine));
        b.load(operand, slot)
    });
    let product = b.library_op(Op::MatMul, &loads);
    b.store(product);
    let run = Run::new(b.finish(), &[2, 3, 4])
        .operand(random(DType::I32, 8, 126))
        .operand(random(DType::I32, 12, 127))
        .access(affine(0, &[4, 0, 1]))
        .access(affine(0, &[0, 1, 3]))
        .target(0, 30, affine(25, &[-11, 2, 0]));
    cases.push(named("wrapping products, into part of a block", run));
    cases
}
