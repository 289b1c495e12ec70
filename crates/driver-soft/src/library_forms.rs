//! Library operations: the whole-program forms, which are scans, sorts and matrix products, row by row.
//!
//! Owns [`launch`]. Invariant: only the launch's points change in a destination.
//!
//! Not here: the definition of the forms (`docs/ir.md`), maps and reductions (`eval.rs`).

use crate::blocks::{Blocks, invalid};
use gpupy_core::driver::{Access, Launch};
use gpupy_core::ir::{Form, PRODUCT_CHUNK, REDUCE_CHUNK};
use gpupy_core::op::Op;
use gpupy_core::op_eval::{Function, function, order};
use gpupy_core::{DType, Result, memory};

/// Evaluates a launch of a whole-program form.
pub fn launch(blocks: &mut Blocks, launch: &Launch<'_>) -> Result<()> {
    let form = launch.program.form;
    let out = form.out_shape(launch.shape);
    let (last, rows) = out.split_last().ok_or_else(|| invalid("a form without axes"))?;
    let loads = launch.program.insts.iter().filter(|inst| inst.op == Op::Load);
    let loads: Vec<_> = loads.map(|inst| (inst.args[0] as usize, inst.args[1] as usize)).collect();
    let op = launch.program.insts[loads.len()].op;
    let dtype = launch.program.operands[loads[0].0];
    // The shape that a row reads of each operand.
    let shapes: Vec<_> = (0..loads.len())
        .map(|which| form.operand_shape(which, launch.shape, launch.params))
        .collect();
    for number in 0..rows.iter().product() {
        let mut read = Vec::new();
        for ((operand, access), shape) in loads.iter().zip(&shapes) {
            let block = &blocks.get(launch.operands[*operand])?.bits;
            let mut bits = memory::with_room(shape[rows.len()])?;
            for at in row(&launch.accesses[*access], rows, number, shape[rows.len()]) {
                let element = block.get(at).ok_or_else(|| invalid("an access leaves its block"))?;
                bits.push(u64::from(*element));
            }
            read.push(bits);
        }
        let given = match form {
            Form::Scan { op } => scanned(&combining(op, dtype)?, &read[0], &read[1])?,
            Form::MatMul => vec![product(dtype, &read[0], &read[1])?],
            _ => sorted(dtype, &read[0], op == Op::ArgSort)?,
        };
        let dest = &launch.dests[0];
        let block = &mut blocks.get(dest.block)?.bits;
        for (at, bits) in row(&dest.access, rows, number, *last).zip(given) {
            block[at] = bits as u32;
        }
    }
    Ok(())
}

/// The positions of `n` points along the last axis, for row number `number`.
fn row(
    access: &Access,
    rows: &[usize],
    mut number: usize,
    n: usize,
) -> impl Iterator<Item = usize> + use<> {
    let mut at = access.offset;
    for (extent, stride) in rows.iter().zip(&access.strides).rev() {
        at += stride * (number % extent) as i64;
        number /= extent;
    }
    let step = access.strides.last().copied().unwrap_or(0);
    (0..n as i64).map(move |k| (at + step * k) as usize)
}

fn combining(op: Op, dtype: DType) -> Result<Function> {
    function(op, dtype, dtype).ok_or_else(|| invalid("an operation that `check_ir` refuses"))
}

fn scanned(combine: &Function, row: &[u64], starts: &[u64]) -> Result<Vec<u64>> {
    let mut now = 0;
    let result = |(k, x): (usize, &u64)| {
        let left = if k % REDUCE_CHUNK == 0 { starts[k / REDUCE_CHUNK] } else { now };
        now = combine(left, *x, 0);
        now
    };
    memory::collected(row.len(), row.iter().enumerate().map(result))
}

fn sorted(dtype: DType, row: &[u64], positions: bool) -> Result<Vec<u64>> {
    let mut places = memory::collected(row.len(), 0..row.len())?;
    // Ties are broken by position: a stable sort would allocate memory of its own.
    places.sort_unstable_by(|a, b| order(dtype, row[*a], row[*b]).then(a.cmp(b)));
    let given = places.into_iter().map(|at| if positions { at as u64 } else { row[at] });
    memory::collected(row.len(), given)
}

fn product(dtype: DType, a: &[u64], b: &[u64]) -> Result<u64> {
    let (add, mul) = (combining(Op::Add, dtype)?, combining(Op::Mul, dtype)?);
    // A single running sum would lose terms that are small beside it, and errors grow with its length.
    let sum = |a: &[u64], b: &[u64]| {
        let chunks = a.chunks(REDUCE_CHUNK).zip(b.chunks(REDUCE_CHUNK));
        let sums = chunks.filter_map(|(a, b)| {
            let products = a.iter().zip(b).map(|(a, b)| mul(*a, *b, 0));
            products.reduce(|sum, x| add(sum, x, 0))
        });
        sums.reduce(|sum, x| add(sum, x, 0))
    };
    let parts = a.chunks(PRODUCT_CHUNK).zip(b.chunks(PRODUCT_CHUNK));
    let sums = parts.filter_map(|(a, b)| sum(a, b));
    Ok(sums.reduce(|sum, x| add(sum, x, 0)).unwrap_or(0))
}
