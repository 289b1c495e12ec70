//! Random programs of many operations.
//!
//! Owns [`programs`]. Only exact operations occur, and none that would show which NaN another gave.

use super::named::Named;
use crate::expect::oracle::{Run, affine, contiguous};
use crate::expect::samples::{DTYPES, Rng};
use gpupy_core::ir::{AccessKind, Builder, Form};
use gpupy_core::op::{OPS, Op, Rule};
use gpupy_core::{DType, Scalar};

/// Maps of 5 to 60 operations, each with two destinations.
pub fn programs() -> Vec<Named> {
    (0..12).map(|seed| program(seed, 5 * (seed as usize + 1))).collect()
}

fn program(seed: u64, operations: usize) -> Named {
    let mut rng = Rng::new(seed);
    let shape = [5, 8];
    let mut b = Builder::new(Form::Map, 2);
    let mut operands: Vec<Vec<Scalar>> = Vec::new();
    let straight = b.access(AccessKind::Contiguous);
    let transposed = b.access(AccessKind::Affine);
    let mut values = Vec::new();
    for access in [straight, transposed] {
        for dtype in DTYPES {
            let operand = b.operand(dtype);
            values.push(b.load(operand, access));
            operands.push((0..40).map(|_| rng.scalar(dtype)).collect());
        }
    }
    values.push(b.index(transposed));
    values.push(b.param(DType::F32));
    values.push(b.constant(rng.scalar(DType::I32)));
    let mut done = 0;
    while done < operations {
        let row = &OPS[rng.below(OPS.len())];
        let shows = matches!(row.op, Op::Bitcast | Op::Copysign | Op::SignBit);
        if shows || row.is_of_complex() || row.ulp > 0.0 || row.rule == Rule::Special {
            continue;
        }
        // Mostly of the newest, so that programs grow deep.
        let among = if rng.below(3) == 0 { values.len() } else { values.len().min(6) };
        let args: Vec<_> =
            (0..row.arity).map(|_| values[values.len() - 1 - rng.below(among)]).collect();
        let given: Vec<_> = args.iter().map(|value| b.dtype(*value)).collect();
        let to = rng.one_of(&DTYPES);
        if row.op.result_dtype(&given, to).is_none() {
            continue;
        }
        values.push(match row.op {
            Op::Cast => b.convert(Op::Cast, args[0], to),
            op => b.op(op, &args),
        });
        done += 1;
    }
    for value in values.iter().rev().take(2) {
        b.store(*value);
    }
    let mut run = Run::new(b.finish(), &shape)
        .param(rng.ordinary(DType::F32))
        .access(contiguous(&shape))
        .access(affine(0, &[1, 5]));
    run.operands = operands;
    Named { name: format!("{operations} operations"), run, ulp: 0.0 }
}
