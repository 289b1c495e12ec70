//! The bounds of results, compared with the results of the reference driver.
#![allow(clippy::unwrap_used)]

use super::Bounds::{self, Real, Whole};
use crate::graph::interval::apply;
use gpupy_core::op::{OPS, Op, Rule};
use gpupy_core::op_eval;
use gpupy_core::{DType, Scalar};
use proptest::prelude::*;

/// Elements of a dtype: ends, small ones, and any.
fn element(dtype: DType) -> BoxedStrategy<Scalar> {
    let of = move |x: i64| {
        let scalar = Scalar::new(DType::I64, x as u64);
        op_eval::eval(Op::Cast, dtype, &[scalar]).unwrap()
    };
    let bits = any::<u64>().prop_map(move |bits| Scalar::new(dtype, bits));
    let least = 1u64 << (8 * dtype.size() - 1);
    let ends = prop_oneof![Just(least), Just(least - 1), Just(u64::MAX), Just(1)];
    let ends = ends.prop_map(move |bits| Scalar::new(dtype, bits));
    match dtype {
        DType::Bool => any::<bool>().prop_map(Scalar::bool).boxed(),
        _ => prop_oneof![4 => (-20i64..70).prop_map(of), 1 => bits, 1 => ends].boxed(),
    }
}

fn bounds_of(elements: &[Scalar]) -> Bounds {
    elements.iter().map(|x| Bounds::of_scalar(*x)).reduce(Bounds::union).unwrap()
}

const DTYPES: [DType; 13] = [
    DType::Bool,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
];

fn dtypes() -> impl Strategy<Value = DType> {
    prop::sample::select(&DTYPES[..])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn results_are_within_the_bounds_that_the_operands_bounds_give(
        (op, to, operands) in (prop::sample::select(OPS), dtypes(), dtypes()).prop_flat_map(
            |(row, from, to)| {
                let operands: Vec<_> = (0..row.arity)
                    .map(|k| match (row.rule, k) {
                        (Rule::Select, 0) => prop::collection::vec(element(DType::Bool), 2),
                        _ => prop::collection::vec(element(from), 2),
                    })
                    .collect();
                (Just(row.op), Just(to), operands)
            },
        ),
    ) {
        if !op.is_scalar_op() {
            return Ok(());
        }
        let given: Vec<_> = operands.iter().map(|two| (bounds_of(two), two[0].dtype)).collect();
        for chosen in 0..1 << operands.len() {
            let args: Vec<Scalar> =
                operands.iter().enumerate().map(|(k, two)| two[chosen >> k & 1]).collect();
            let Some(result) = op_eval::eval(op, to, &args) else { return Ok(()) };
            let found = apply(op, result.dtype, &given);
            // Of a narrow float itself nothing is said.
            let own = match result.dtype.is_narrow_float() {
                true => op_eval::eval(Op::Cast, DType::F64, &[result]).unwrap(),
                false => result,
            };
            let own = Bounds::of_scalar(own);
            prop_assert!(own.is_within(found), "{op:?} of {args:?}: {own:?} in {found:?}");
        }
    }
}

fn whole(low: i128, high: i128) -> (Bounds, DType) {
    (Whole { low, high }, DType::I32)
}

#[test]
fn what_clips_an_index_bounds_it() {
    let everything = (Bounds::of_dtype(DType::I32), DType::I32);
    let above = apply(Op::Max, DType::I32, &[everything, whole(0, 0)]);
    let clipped = apply(Op::Min, DType::I32, &[(above, DType::I32), whole(9, 9)]);
    assert_eq!(clipped, Whole { low: 0, high: 9 });
    assert_eq!(apply(Op::Mod, DType::I32, &[everything, whole(7, 7)]), Whole { low: 0, high: 6 });
    let next = apply(Op::Add, DType::I32, &[(clipped, DType::I32), whole(1, 1)]);
    assert_eq!(next, Whole { low: 1, high: 10 });
    // One more than the greatest wraps.
    assert_eq!(apply(Op::Add, DType::I32, &[everything, whole(1, 1)]), everything.0);
}

#[test]
fn floats_that_become_integers_are_bounded_unless_nan_is_among_them() {
    let real = |nan| (Real { low: -0.5, high: 8.5, nan }, DType::F32);
    let floor = apply(Op::Floor, DType::F32, &[real(false)]);
    let floor = apply(Op::Cast, DType::I32, &[(floor, DType::F32)]);
    assert_eq!(floor, Whole { low: -1, high: 8 });
    let cast = apply(Op::Cast, DType::I32, &[real(true)]);
    assert_eq!(cast, Whole { low: i128::from(i32::MIN), high: 8 });
}
