//! Zeros of an unknown sign, compared with the computed elements one by one.

use crate::array::base::{Array, ArrayOrScalar};
use crate::graph::value::ValueKind;
use crate::record::recorder::Recorder;
use gpupy_core::op::{OPS, Op, Rule};
use gpupy_core::op_eval;
use gpupy_core::{DType, Scalar};

/// The numbers from -2 to 1, which have either sign.
fn either_sign(recorder: &Recorder, dtype: DType) -> (Array, Vec<Scalar>) {
    let index = recorder.index(&[4], 0).unwrap();
    let from_zero = recorder.convert(Op::Cast, &[ArrayOrScalar::Array(&index)], dtype).unwrap();
    let numbers = apply(recorder, Op::Sub, &[Of(&from_zero), Number(cast(2.0, dtype))]);
    (numbers, [-2.0, -1.0, 0.0, 1.0].map(|x| cast(x, dtype)).to_vec())
}

fn cast(value: f64, dtype: DType) -> Scalar {
    op_eval::eval(Op::Cast, dtype, &[Scalar::f64(value)]).unwrap()
}

use ArrayOrScalar::{Array as Of, Scalar as Number};

fn apply(recorder: &Recorder, op: Op, args: &[ArrayOrScalar<'_>]) -> Array {
    recorder.apply(op, args).unwrap()
}

fn is_constant(array: &Array) -> Option<Scalar> {
    match array.value().unwrap().0.kind {
        ValueKind::Constant(scalar) => Some(scalar),
        _ => None,
    }
}

fn is_zero(scalar: Scalar) -> bool {
    scalar.dtype.is_float() && scalar.bits << (65 - 8 * scalar.dtype.size()) == 0
}

/// Whether warnings may tell of a number.
fn is_beyond(scalar: Scalar) -> bool {
    let value = op_eval::eval(Op::Cast, DType::F64, &[scalar]).unwrap();
    scalar.dtype.is_float() && !f64::from_bits(value.bits).is_finite()
}

#[test]
fn what_is_made_of_zeros_of_either_sign_is_known_where_it_is_the_same_everywhere() {
    let recorder = Recorder::default();
    for dtype in [DType::F32, DType::F64] {
        let (numbers, elements) = either_sign(&recorder, dtype);
        let zero = cast(0.0, dtype);
        let zeros = apply(&recorder, Op::Mul, &[Of(&numbers), Number(zero)]);
        let product = |x: &Scalar| op_eval::eval(Op::Mul, dtype, &[*x, zero]).unwrap();
        let elements: Vec<Scalar> = elements.iter().map(product).collect();
        let others = [0.0, -0.0, 1.0, -1.0, 3.5, 1e-40, f64::INFINITY, f64::NAN];
        let others = others.map(|x| cast(x, dtype));
        let taken = |op: Op, arity: usize| {
            op.result_dtype(&[dtype; 3][..arity], dtype).filter(|result| result.part().is_none())
        };
        for row in OPS.iter().filter(|row| row.ulp == 0.0 && row.rule != Rule::Special) {
            let Some(result) = taken(row.op, usize::from(row.arity)) else { continue };
            let mut asked: Vec<[Option<Scalar>; 2]> = vec![[None, None]];
            if row.arity == 2 {
                asked.extend(others.iter().flat_map(|x| [[Some(*x), None], [None, Some(*x)]]));
            }
            for operands in asked {
                let operands = &operands[..usize::from(row.arity)];
                let args: Vec<ArrayOrScalar<'_>> =
                    operands.iter().map(|x| x.map_or(Of(&zeros), Number)).collect();
                let made = recorder.convert(row.op, &args, result).unwrap();
                let mut wanted = elements.iter().map(|zero| {
                    let args: Vec<Scalar> = operands.iter().map(|x| x.unwrap_or(*zero)).collect();
                    op_eval::eval(row.op, result, &args).unwrap()
                });
                let named = || format!("{:?} of {dtype} {operands:?}", row.op);
                let first = wanted.clone().next().unwrap();
                let value = made.value().unwrap();
                if let Some(found) = is_constant(&made) {
                    assert!(wanted.all(|x| x == found), "{} is not {found:?}", named());
                } else if value.is_zeros() {
                    assert!(wanted.all(is_zero), "{} are no zeros", named());
                } else {
                    let same = wanted.clone().all(|x| x == first) && !is_beyond(first);
                    // Two operands that are the same zero have the same sign, which nothing knows here.
                    let twice = operands.len() == 2 && operands.iter().all(Option::is_none);
                    let known = same || wanted.all(is_zero);
                    assert!(!known || twice, "{} is known: {first:?}", named());
                }
            }
        }
    }
}

#[test]
fn a_part_of_a_formula_that_is_zero_everywhere_leaves_a_number() {
    let recorder = Recorder::default();
    let (x, _) = either_sign(&recorder, DType::F32);
    let scaled = apply(&recorder, Op::Mul, &[Of(&x), Number(Scalar::f32(2.0))]);
    let zeros = apply(&recorder, Op::Mul, &[Of(&scaled), Number(Scalar::f32(0.0))]);
    let sum = apply(&recorder, Op::Add, &[Of(&zeros), Of(&zeros)]);
    let b = apply(&recorder, Op::Sub, &[Of(&sum), Number(Scalar::f32(8_388_608.0))]);
    assert_eq!(is_constant(&b), Some(Scalar::f32(-8_388_608.0)));
}

#[test]
fn what_may_be_infinite_or_was_not_read_gives_no_zeros() {
    let recorder = Recorder::default();
    let (x, _) = either_sign(&recorder, DType::F32);
    let given = Array::from_bytes(DType::F32, &[4], &[0; 16]).unwrap();
    let quotient = apply(&recorder, Op::Div, &[Number(Scalar::f32(1.0)), Of(&x)]);
    let great = apply(&recorder, Op::Mul, &[Of(&x), Number(Scalar::f32(3e38))]);
    for operand in [given, quotient, great] {
        let zeros = apply(&recorder, Op::Mul, &[Of(&operand), Number(Scalar::f32(0.0))]);
        assert!(!zeros.value().unwrap().is_zeros());
        let sum = apply(&recorder, Op::Add, &[Of(&zeros), Number(Scalar::f32(1.0))]);
        assert_eq!(is_constant(&sum), None);
    }
}

#[test]
fn long_chains_are_recorded_without_being_gone_through() {
    let recorder = Recorder::default();
    let (start, _) = either_sign(&recorder, DType::F32);
    let mut chain = start;
    for _ in 0..2000 {
        chain = apply(&recorder, Op::Abs, &[Of(&chain)]);
        chain = apply(&recorder, Op::Sub, &[Of(&chain), Number(Scalar::f32(1.0))]);
    }
    let zeros = apply(&recorder, Op::Mul, &[Of(&chain), Number(Scalar::f32(0.0))]);
    assert!(!zeros.value().unwrap().is_zeros());
}
