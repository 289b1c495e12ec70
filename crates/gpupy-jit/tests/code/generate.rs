//! Random programs that this crate writes as code.

use crate::rng::Rng;
use gpupy_core::DType;
use gpupy_core::ir::{AccessKind, Builder, Form, Program};
use gpupy_core::op::{OPS, Op, Rule};
use gpupy_jit::Isa;

/// The random program of a generator, with about this many operations on these dtypes.
pub fn program(rng: &mut Rng, isa: Isa, dtypes: &[DType], operations: usize) -> Program {
    let mut b = Builder::new(Form::Map, 1);
    let mut values = Vec::new();
    for dtype in dtypes.iter().chain(dtypes) {
        let (operand, access) = (b.operand(*dtype), b.access(AccessKind::Affine));
        values.push(b.load(operand, access));
        values.push(b.constant(rng.element(*dtype)));
    }
    values.push(b.param(dtypes[rng.below(dtypes.len())]));
    if dtypes.contains(&DType::I32) {
        let access = b.access(AccessKind::Affine);
        values.push(b.index(access));
    }
    let mut done = 0;
    while done < operations {
        let row = &OPS[rng.below(OPS.len())];
        let args: Vec<_> = (0..row.arity).map(|_| recent(rng, &values)).collect();
        let given: Vec<_> = args.iter().map(|value| b.dtype(*value)).collect();
        let to = dtypes[rng.below(dtypes.len())];
        if row.op.result_dtype(&given, to).is_none() || !has_code(isa, row.op, given[0], to) {
            continue;
        }
        // What a NaN's bits are is not said, so nothing may depend on them.
        if matches!(row.op, Op::SignBit | Op::Copysign)
            || row.op == Op::Bitcast && given[0].is_float()
        {
            continue;
        }
        values.push(match row.rule {
            Rule::Cast | Rule::Bitcast => b.convert(row.op, args[0], to),
            _ => b.op(row.op, &args),
        });
        done += 1;
    }
    for value in values.iter().rev().take(1 + rng.below(3)) {
        b.store(*value);
    }
    b.finish()
}

/// Mostly one of the newest values, so that programs grow deep; often an old one, so that many
/// values are alive.
fn recent(rng: &mut Rng, values: &[u32]) -> u32 {
    let among = if rng.below(3) == 0 { values.len() } else { values.len().min(6) };
    values[values.len() - 1 - rng.below(among)]
}

/// The operations that this crate writes, for a dtype of their first operand and of a cast's result.
pub fn has_code(isa: Isa, op: Op, from: DType, to: DType) -> bool {
    match op {
        Op::Bitcast => to != DType::Bool || from == DType::Bool,
        Op::Fmod => false,
        Op::FloorDiv | Op::Mod => from.size() <= 4 && !(isa == Isa::Avx2 && from == DType::U32),
        Op::Cast if isa == Isa::Avx2 => {
            !(matches!(from, DType::I64 | DType::U64) && to == DType::F32)
        }
        _ => op.is_scalar_op() && op.info().ulp == 0.0,
    }
}
