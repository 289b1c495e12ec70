//! Every exact operation, cast and reduction on every real dtype that a driver has.
//!
//! Expected values are those of the core's `op_eval`, which is checked against NumPy elsewhere. Not here:
//! values that the suite computes itself, for the dtypes of every driver (`elementwise.rs`, `dtypes.rs`).

use super::Suite;
use crate::drivers::device::Device;
use crate::expect::compare::{Mismatches, accepts};
use crate::expect::oracle::{Run, contiguous};
use crate::expect::samples::Rng;
use crate::reporting::outcome::Outcome;
use gpupy_core::driver::Method;
use gpupy_core::ir::{AccessKind, Builder, Form};
use gpupy_core::op::{OPS, Op};
use gpupy_core::{DType, Scalar, op_eval};

pub const GROUP: &str = "scalars";

pub fn run(suite: &mut Suite<'_>) {
    for from in DType::real() {
        for row in OPS.iter().filter(|row| row.op.is_scalar_op() && row.ulp == 0.0) {
            for to in DType::real() {
                let of_pair = matches!(row.op, Op::Cast | Op::Bitcast);
                if !of_pair && to != from || op_eval::function(row.op, from, to).is_none() {
                    continue;
                }
                let name = match of_pair {
                    true => format!("{} {from} {to}", row.name),
                    false => format!("{} {from}", row.name),
                };
                suite.case(GROUP, &name, |device| operation(device, row.op, from, to));
            }
        }
        for op in [Op::Add, Op::Mul, Op::Min, Op::Max].into_iter().filter(|op| op.reduces(from)) {
            let name = format!("reduce {} {from}", op.info().name);
            suite.case(GROUP, &name, |device| reduction(device, op, from));
        }
    }
}

/// Special numbers of a dtype and many others: powers of two and their neighbours, bits of all lengths, floats
/// of ordinary sizes.
fn numbers(dtype: DType, seed: u64) -> Vec<Scalar> {
    const FLOATS: [f64; 15] = [
        0.0,
        1.0,
        1.5,
        2.5,
        0.1,
        0.5,
        7.0,
        100.25,
        65504.0,
        65520.0,
        2147483648.0,
        4294967296.0,
        9223372036854775808.0,
        18446744073709551616.0,
        f64::INFINITY,
    ];
    let mut rng = Rng::new(seed);
    let mut bits: Vec<u64> = (0..64).flat_map(|k| [1 << k, (1 << k) - 1, !0 << k]).collect();
    bits.extend((0..700).map(|k| rng.bits() >> (k % 64)));
    let mut numbers: Vec<Scalar> = bits.into_iter().map(|b| Scalar::new(dtype, b)).collect();
    if dtype == DType::Bool {
        numbers.iter_mut().for_each(|x| x.bits &= 1);
    }
    if dtype.is_float() {
        let signed = FLOATS.into_iter().flat_map(|x| [x, -x]).chain([f64::NAN]);
        let ordinary = (0..700).map(|_| f64::from(rng.float()));
        let all: Vec<f64> = signed.chain(ordinary).collect();
        let cast = |x: f64| op_eval::eval(Op::Cast, dtype, &[Scalar::f64(x)]);
        numbers.extend(all.into_iter().filter_map(cast));
    }
    // In another order for each seed, so that pairs differ.
    for k in (1..numbers.len()).rev() {
        numbers.swap(k, rng.below(k + 1));
    }
    numbers
}

fn operation(device: &mut Device, op: Op, from: DType, to: DType) -> Outcome {
    device.need_dtype(from)?;
    device.need_dtype(to)?;
    let asked = if matches!(op, Op::Cast | Op::Bitcast) { to } else { from };
    let method = device.need_method(op, asked)?;
    let operands = match op {
        Op::Select => vec![DType::Bool, from, from],
        _ => vec![from; usize::from(op.info().arity)],
    };
    let columns: Vec<Vec<Scalar>> =
        operands.iter().zip(1..).map(|(dtype, seed)| numbers(*dtype, seed)).collect();
    let len = columns.iter().map(Vec::len).min().unwrap_or(0);
    let mut b = Builder::new(Form::Map, 1);
    let access = b.access(AccessKind::Contiguous);
    let values: Vec<u32> = operands
        .iter()
        .map(|dtype| {
            let operand = b.operand(*dtype);
            b.load(operand, access)
        })
        .collect();
    let value = match (method, op) {
        (Method::Lowered(program), _) => b.inline(&program, &values),
        (_, Op::Cast | Op::Bitcast) => b.convert(op, values[0], to),
        _ => b.op(op, &values),
    };
    b.store(value);
    let mut run = Run::new(b.finish(), &[len]).access(contiguous(&[len]));
    run.operands = columns.into_iter().map(|column| column[..len].to_vec()).collect();
    let mut got = device.outputs(&run)?;
    let mut mismatches = Mismatches::default();
    for (at, got) in got.remove(0).into_iter().enumerate() {
        let inputs: Vec<Scalar> = run.operands.iter().map(|column| column[at]).collect();
        // A computed NaN may have any bits.
        let wanted = op_eval::eval(op, to, &inputs).unwrap_or(got);
        let moves = matches!(op, Op::Bitcast | Op::Select);
        let flushes = device.caps.flushes_subnormals && !moves;
        if flushes && inputs.iter().chain([&wanted]).any(|x| is_tiny(*x)) {
            mismatches.right();
            continue;
        }
        mismatches.compare(at, got, wanted, 0.0, || inputs.clone());
    }
    mismatches.outcome()
}

/// True for floats that a device that flushes subnormals may take or give as zero.
fn is_tiny(x: Scalar) -> bool {
    if !x.dtype.is_float() {
        return false;
    }
    let least = 1 << x.dtype.mantissa();
    let sign = 1u64 << (8 * x.dtype.size() - 1);
    (1..=least).contains(&(x.bits & (sign - 1)))
}

/// Rows of one chunk and more of ordinary numbers, by the canonical tree.
fn reduction(device: &mut Device, op: Op, dtype: DType) -> Outcome {
    device.need_dtype(dtype)?;
    device.need_method(Op::Reduce, dtype)?;
    device.need_method(op, dtype)?;
    let shape = [5, 300];
    let mut rng = Rng::new(3);
    let ordinary = |_| {
        let x = Scalar::f64(f64::from(rng.float()));
        op_eval::eval(Op::Cast, dtype, &[x]).unwrap_or(Scalar::zero(dtype))
    };
    let data: Vec<Scalar> = (0..shape.iter().product()).map(ordinary).collect();
    let mut b = Builder::new(Form::Reduce { op }, 2);
    let (access, operand) = (b.access(AccessKind::Contiguous), b.operand(dtype));
    let value = b.load(operand, access);
    let value = b.reduce(value);
    b.store(value);
    let mut run = Run::new(b.finish(), &shape).access(contiguous(&shape));
    run.operands = vec![data.clone()];
    let got = device.outputs(&run)?.remove(0);
    let mut mismatches = Mismatches::default();
    let chunks = data.chunks(shape[1]).flat_map(|row| row.chunks(256));
    for (at, (chunk, got)) in chunks.zip(got).enumerate() {
        let wanted = tree(op, chunk);
        let flushed = device.caps.flushes_subnormals && is_tiny(wanted);
        match flushed && !accepts(got, wanted, 0.0) {
            true => mismatches.right(),
            false => mismatches.compare(at, got, wanted, 0.0, Vec::new),
        }
    }
    mismatches.outcome()
}

/// The canonical tree: 16 lanes from left to right, then halves.
fn tree(op: Op, points: &[Scalar]) -> Scalar {
    let combine = |a: Scalar, b: Scalar| op_eval::eval(op, a.dtype, &[a, b]).unwrap_or(a);
    let lane = |l: usize| points.iter().skip(l).step_by(16).copied().reduce(combine);
    let mut lanes: Vec<Option<Scalar>> = (0..16).map(lane).collect();
    for half in [8, 4, 2, 1] {
        for l in 0..half {
            lanes[l] = match (lanes[l], lanes[l + half]) {
                (Some(a), Some(b)) => Some(combine(a, b)),
                (one, _) => one,
            };
        }
    }
    lanes[0].unwrap_or(points[0])
}
