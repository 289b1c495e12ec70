//! Views that are read, and parts of blocks that are written.

use super::named::{Named, kind, map, named, ordinary, random};
use crate::expect::oracle::{affine, contiguous};
use crate::expect::samples::DTYPES;
use gpupy_core::ir::AccessKind;
use gpupy_core::op::Op;
use gpupy_core::{DType, Scalar};

/// A view: the operand, the shape, the offset and the strides.
type View = (&'static str, &'static [usize], i64, &'static [i64]);

const VIEWS: [View; 10] = [
    ("all of it", &[70], 0, &[1]),
    ("a slice", &[21], 7, &[1]),
    ("every second element", &[30], 1, &[2]),
    ("backwards in steps of three", &[20], 58, &[-3]),
    ("a slice of a matrix", &[5, 6], 12, &[10, 1]),
    ("transposed", &[5, 12], 0, &[1, 5]),
    ("a row over all rows", &[5, 12], 5, &[0, 1]),
    ("one element over all", &[5, 12], 11, &[0, 0]),
    ("a diagonal", &[7], 0, &[9]),
    ("five axes, mixed", &[3, 2, 4, 1, 2], 47, &[-16, 0, -4, 7, -1]),
];

pub fn accesses() -> Vec<Named> {
    let mut cases = Vec::new();
    for (name, shape, offset, strides) in VIEWS {
        let access = affine(offset, strides);
        for dtype in DTYPES {
            let loads = vec![(random(dtype, 71, 90), access.clone())];
            let run = map(shape, loads, |_, values| values[0]);
            cases.push(named(format!("{dtype}, {name}"), run));
        }
        let run = map(shape, Vec::new(), |b, _| {
            let slot = b.access(kind(shape, &access));
            b.index(slot)
        });
        cases.push(named(format!("index, {name}"), run.access(affine(offset - 30, strides))));
    }
    let far = affine(i64::from(i32::MAX) - 2, &[1]);
    let run = map(&[6], Vec::new(), |b, _| {
        let slot = b.access(AccessKind::Contiguous);
        b.index(slot)
    });
    cases.push(named("index, wrapped", run.access(far)));
    for dtype in DTYPES {
        let mut at: Vec<_> = ordinary(DType::I32, 40, 91);
        at.extend([-1, -300, 39, 40, i32::MIN, i32::MAX].map(Scalar::i32));
        let shape = [at.len()];
        let run = map(&shape, vec![(at, contiguous(&shape))], |b, values| {
            let table = b.operand(dtype);
            b.gather(table, values[0])
        });
        cases.push(named(format!("gather of {dtype}"), run.operand(random(dtype, 40, 92))));
    }
    cases
}

/// The launch's shape, and the block, offset and strides where it goes.
type Part = (&'static str, &'static [usize], usize, i64, &'static [i64]);

const PARTS: [Part; 7] = [
    ("all but the ends", &[38], 40, 1, &[1]),
    ("the last element", &[1], 41, 40, &[1]),
    ("every fifth element, backwards", &[8], 40, 38, &[-5]),
    ("a rectangle", &[3, 5], 80, 11, &[20, 1]),
    ("every second row and third column", &[4, 6], 160, 1, &[40, 3]),
    ("transposed", &[5, 8], 40, 0, &[1, 5]),
    ("three axes, permuted and apart", &[2, 3, 4], 100, 7, &[4, 30, 1]),
];

pub fn destinations() -> Vec<Named> {
    let mut cases = Vec::new();
    for (name, shape, len, offset, strides) in PARTS {
        for dtype in DTYPES {
            let data = random(dtype, shape.iter().product(), 100);
            let run = map(shape, vec![(data, contiguous(shape))], |_, values| values[0]);
            let run = run.target(0, len, affine(offset, strides));
            cases.push(named(format!("{dtype} into {name}"), run));
        }
    }
    for n in [2, 4] {
        let shape = [5, 6];
        let mut run = map(&shape, vec![(ordinary(DType::F32, 30, 101), contiguous(&shape))], {
            |b, values| {
                b.store(values[0]);
                for dtype in &DTYPES[..n - 2] {
                    let operand = b.operand(*dtype);
                    let value = b.load(operand, 0);
                    b.store(value);
                }
                b.op(Op::Mul, &[values[0], values[0]])
            }
        });
        for dtype in &DTYPES[..n - 2] {
            run = run.operand(random(*dtype, 30, 102));
        }
        cases.push(named(format!("{n} destinations"), run.clone()));
        for slot in 0..n {
            run = run.target(slot, 90, affine(slot as i64, &[14, 2]));
        }
        cases.push(named(format!("{n} destinations, parts of blocks"), run));
    }
    cases
}
