//! Random programs that this crate compiles.

use crate::rng::Rng;
use gpupy_core::DType;
use gpupy_core::ir::{AccessKind, Builder, Form, Program};
use gpupy_core::op::{OPS, Op, Rule};
use gpupy_jit::Isa;

/// A random program with about this many operations on these dtypes.
pub fn program(rng: &mut Rng, isa: Isa, dtypes: &[DType], operations: usize) -> Program {
    written(rng, isa, dtypes, operations, true)
}

/// The same without `if`s.
pub fn straight(rng: &mut Rng, isa: Isa, dtypes: &[DType], operations: usize) -> Program {
    written(rng, isa, dtypes, operations, false)
}

fn written(
    rng: &mut Rng,
    isa: Isa,
    dtypes: &[DType],
    operations: usize,
    has_choices: bool,
) -> Program {
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
    let mut left = operations;
    while left > 0 {
        let straight = left.min(1 + rng.below(12));
        extend(rng, isa, dtypes, &mut b, &mut values, straight);
        left -= straight;
        if has_choices && left > 0 && rng.below(2) == 0 {
            let inside = 1 + rng.below(8);
            choice(rng, isa, dtypes, &mut b, &mut values, inside);
        }
    }
    for value in values.iter().rev().take(1 + rng.below(3)) {
        b.store(*value);
    }
    b.finish()
}

/// Adds operations.
fn extend(
    rng: &mut Rng,
    isa: Isa,
    dtypes: &[DType],
    b: &mut Builder,
    values: &mut Vec<u32>,
    operations: usize,
) {
    let mut done = 0;
    while done < operations {
        if rng.below(12) == 0 {
            done += usize::from(gather(rng, dtypes, b, values));
            continue;
        }
        let row = &OPS[rng.below(OPS.len())];
        let args: Vec<_> = (0..row.arity).map(|_| recent(rng, values)).collect();
        let given: Vec<_> = args.iter().map(|value| b.dtype(*value)).collect();
        let to = dtypes[rng.below(dtypes.len())];
        if row.op.result_dtype(&given, to).is_none() || !has_code(isa, row.op, given[0], to) {
            continue;
        }
        // The bits of a NaN are unspecified, so nothing may depend on them.
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
}

/// Adds a gather at one of the newest int32 values, if there is one and a dtype that is gathered.
fn gather(rng: &mut Rng, dtypes: &[DType], b: &mut Builder, values: &mut Vec<u32>) -> bool {
    let is_gathered = |dtype: &DType| *dtype != DType::F16;
    let gathered: Vec<DType> = dtypes.iter().copied().filter(is_gathered).collect();
    let indices: Vec<u32> =
        values.iter().copied().filter(|value| b.dtype(*value) == DType::I32).collect();
    if gathered.is_empty() || indices.is_empty() {
        return false;
    }
    let operand = b.operand(gathered[rng.below(gathered.len())]);
    let index = recent(rng, &indices);
    values.push(b.gather(operand, index));
    true
}

/// Adds an `if` on one of the newest bools, if there is one.
fn choice(
    rng: &mut Rng,
    isa: Isa,
    dtypes: &[DType],
    b: &mut Builder,
    values: &mut Vec<u32>,
    operations: usize,
) {
    let bools: Vec<u32> =
        values.iter().copied().filter(|value| b.dtype(*value) == DType::Bool).collect();
    let Some(condition) = bools.len().checked_sub(1 + rng.below(3)).map(|at| bools[at]) else {
        return;
    };
    let region = b.begin_if(condition);
    let mut first = values.clone();
    extend(rng, isa, dtypes, b, &mut first, operations);
    let first: Vec<u32> = (0..1 + rng.below(3)).map(|_| recent(rng, &first)).collect();
    let wanted: Vec<DType> = first.iter().map(|value| b.dtype(*value)).collect();
    b.begin_else(region, &first);
    let mut second = values.clone();
    let operations = rng.below(3);
    extend(rng, isa, dtypes, b, &mut second, operations);
    let alike = |dtype: &DType, b: &Builder| {
        second.iter().rev().copied().find(|value| b.dtype(*value) == *dtype)
    };
    let second: Vec<u32> =
        wanted.iter().map(|dtype| alike(dtype, b).unwrap_or(values[0])).collect();
    b.end(region, &second);
    let results = (0..).zip(wanted).map(|(k, dtype)| b.result(region, k, dtype));
    values.extend(results.collect::<Vec<u32>>());
}

/// Usually one of the newest values, so that programs grow deep; often an old one, so that many values are live.
fn recent(rng: &mut Rng, values: &[u32]) -> u32 {
    let among = if rng.below(3) == 0 { values.len() } else { values.len().min(6) };
    values[values.len() - 1 - rng.below(among)]
}

/// Whether this crate compiles an operation, for a dtype of its first operand and of a cast's result.
pub fn has_code(isa: Isa, op: Op, from: DType, to: DType) -> bool {
    match op {
        Op::Bitcast if from == DType::F16 || to == DType::F16 => from == to,
        // By way of uint16.
        Op::Bitcast if from == DType::BF16 || to == DType::BF16 => to != DType::Bool,
        Op::Bitcast => to != DType::Bool || from == DType::Bool,
        Op::Cast if (from, to) == (DType::F64, DType::F16) => false,
        Op::Fmod => false,
        _ if op.info().is_of_complex() => false,
        Op::FloorDiv | Op::Mod => from.size() <= 4 && !(isa == Isa::Avx2 && from == DType::U32),
        Op::Cast if isa == Isa::Avx2 => {
            !(matches!(from, DType::I64 | DType::U64) && matches!(to.accumulated(), DType::F32))
        }
        _ => op.is_scalar_op() && op.info().ulp == 0.0,
    }
}
