//! bfloat16 on a driver without it: the driver is not sent it, and gives the bits of the core's arithmetic.
#![allow(clippy::unwrap_used)]

mod fused;

use fused::{Fused, Log};
use gpupy_core::op::{OPS, Rule};
use gpupy_core::{DType, Op, Scalar, functions, op_eval};
use gpupy_engine::registry::Registry;
use gpupy_engine::{Array, ArrayOrScalar, Context, Settings};
use std::sync::{Arc, Mutex};

const BF16: DType = DType::BF16;

/// A context with an older driver, whose kernels take so many instructions and operands.
fn context(limit: u32, lacks: &'static [Op]) -> (Context, Arc<Mutex<Log>>) {
    let log = Arc::new(Mutex::new(Log::default()));
    let seen = log.clone();
    let registry = Registry::new().register("fused", move || {
        Box::new(Fused::new(limit, usize::MAX, seen.clone()).older().lacking(lacks))
    });
    (Context::new(registry, Settings { driver: "fused".into(), ..Settings::default() }), log)
}

fn scalars(dtype: DType, all: impl Iterator<Item = u64>) -> Vec<Scalar> {
    all.map(|bits| Scalar::new(dtype, bits)).collect()
}

fn array(all: &[Scalar]) -> Array {
    let dtype = all[0].dtype;
    let bytes: Vec<u8> = all.iter().flat_map(|x| x.bytes()[..dtype.size()].to_vec()).collect();
    Array::from_bytes(dtype, &[all.len()], &bytes).unwrap()
}

fn is_nan(x: Scalar) -> bool {
    x.dtype.is_float() && op_eval::eval(Op::IsNan, x.dtype, &[x]).unwrap().as_bool()
}

/// Checks the elements of an array to the bit, with one NaN for all.
fn check(context: &Context, got: &Array, want: &[Scalar], told: &str) {
    let dtype = want[0].dtype;
    assert_eq!(got.dtype(), dtype, "{told}");
    let bytes = context.read(got).unwrap().to_vec().unwrap();
    for (at, (bytes, want)) in bytes.chunks_exact(dtype.size()).zip(want).enumerate() {
        let got = Scalar::read(dtype, bytes).unwrap();
        assert!(got == *want || is_nan(got) && is_nan(*want), "{told}: {at}: {got} for {want}");
    }
}

/// Every bfloat16, or every seventh, beside others.
fn operands(arity: usize) -> Vec<Vec<Scalar>> {
    let step = if arity == 1 { 1 } else { 7 };
    let first = scalars(BF16, (0..=0xffff).step_by(step));
    let second = first.iter().map(|x| Scalar::new(BF16, x.bits.wrapping_mul(40_503))).collect();
    vec![first, second].into_iter().take(arity).collect()
}

#[test]
fn every_exact_operation_has_the_bits_of_the_core() {
    let (context, log) = context(u32::MAX, &[]);
    for row in OPS.iter().filter(|row| row.rule != Rule::Special && row.ulp == 0.0) {
        let dtypes = vec![BF16; row.arity.into()];
        let is_cast = matches!(row.op, Op::Cast | Op::Bitcast | Op::Select);
        if is_cast || row.op.result_dtype(&dtypes, BF16).is_none() {
            continue;
        }
        let given = operands(row.arity.into());
        let want: Vec<Scalar> = (0..given[0].len())
            .map(|at| {
                let args: Vec<Scalar> = given.iter().map(|all| all[at]).collect();
                op_eval::eval(row.op, BF16, &args).unwrap()
            })
            .collect();
        let arrays: Vec<Array> = given.iter().map(|all| array(all)).collect();
        let args: Vec<ArrayOrScalar<'_>> = arrays.iter().map(ArrayOrScalar::Array).collect();
        let got = context.apply(row.op, &args).unwrap();
        check(&context, &got, &want, row.name);
    }
    assert!(log.lock().unwrap().launches.len() > 20);
}

#[test]
fn casts_between_all_dtypes_have_the_bits_of_the_core() {
    let (context, _) = context(u32::MAX, &[]);
    for other in DType::real().filter(|dtype| *dtype != BF16) {
        for (from, to) in [(BF16, other), (other, BF16)] {
            let spread = |k: u64| match (from, from.size()) {
                (DType::Bool, _) => k & 1,
                (_, 1 | 2) => k,
                _ => k.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            };
            let given = scalars(from, (0..=0xffff).map(spread));
            let want: Vec<Scalar> =
                given.iter().map(|x| op_eval::eval(Op::Cast, to, &[*x]).unwrap()).collect();
            let got = context.cast(&array(&given), to).unwrap();
            check(&context, &got, &want, &format!("{from} to {to}"));
        }
    }
}

#[test]
fn an_expression_has_the_same_bits_whatever_a_kernel_takes() {
    let given = operands(2);
    let add = |x: Scalar, y: Scalar| op_eval::eval(Op::Add, BF16, &[x, y]).unwrap();
    let mul = |x: Scalar, y: Scalar| op_eval::eval(Op::Mul, BF16, &[x, y]).unwrap();
    let three = Scalar::new(BF16, 0x4040);
    let want: Vec<Scalar> = given[0]
        .iter()
        .zip(&given[1])
        .map(|(x, y)| add(mul(add(*x, *y), three), mul(*x, *x)))
        .collect();
    for limit in [40, 60, u32::MAX] {
        let (context, log) = context(limit, &[]);
        let [x, y] = [array(&given[0]), array(&given[1])];
        let two = |op, x: &Array, y: &Array| {
            context.apply(op, &[ArrayOrScalar::Array(x), ArrayOrScalar::Array(y)]).unwrap()
        };
        let sum = two(Op::Add, &x, &y);
        let scaled = context
            .apply(Op::Mul, &[ArrayOrScalar::Array(&sum), ArrayOrScalar::Scalar(three)])
            .unwrap();
        let result = two(Op::Add, &scaled, &two(Op::Mul, &x, &x));
        check(&context, &result, &want, &format!("{limit}"));
        let log = log.lock().unwrap();
        assert_eq!(log.oversized, 0, "the bound of a part is below what it takes");
        assert_eq!(log.launches.len() > 1, limit != u32::MAX);
    }
}

#[test]
fn functions_are_the_programs_of_the_core() {
    let (context, _) = context(u32::MAX, &[]);
    for op in [Op::Exp, Op::Log, Op::Sin, Op::Tanh] {
        let given = operands(1);
        let program = functions::program(op, BF16).unwrap();
        assert_eq!((program.params[0], program.dests[0]), (BF16, BF16));
        let x = array(&given[0]);
        let got = context.apply(op, &[ArrayOrScalar::Array(&x)]).unwrap();
        let wide = context.cast(&x, DType::F32).unwrap();
        let wide = context.apply(op, &[ArrayOrScalar::Array(&wide)]).unwrap();
        let rounded = context.read(&context.cast(&wide, BF16).unwrap()).unwrap().to_vec().unwrap();
        let want: Vec<Scalar> =
            rounded.chunks_exact(2).map(|bytes| Scalar::read(BF16, bytes).unwrap()).collect();
        check(&context, &got, &want, op.info().name);
    }
}

#[test]
fn a_driver_without_what_bfloat16_is_made_of_does_not_get_it() {
    for lacks in [&[Op::Shl][..], &[Op::Bitcast]] {
        let (context, _) = context(u32::MAX, lacks);
        assert!(!context.holds(BF16));
    }
    assert!(context(u32::MAX, &[]).0.holds(BF16));
}
