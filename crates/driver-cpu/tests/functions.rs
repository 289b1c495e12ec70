//! Functions of scalars: one node of a graph, inlined into the kernels that read it; with loops, iteration by
//! iteration.
#![allow(clippy::unwrap_used)]

mod eager_contexts;

use eager_contexts::{bytes, context, ramp, scaled};
use gpupy_core::{DType, ErrorKind, Op, Scalar};
use gpupy_engine::{Array, ArrayOrScalar, Context, Placement, ScalarFunction};
use std::slice::from_ref;
use std::sync::Arc;

fn cpu() -> Context {
    context(driver_cpu::NAME, Placement::Strict)
}

fn number(value: i32) -> ArrayOrScalar<'static> {
    ArrayOrScalar::Scalar(Scalar::i32(value))
}

/// A function of a float: twice the float and one, and its square.
fn straight(context: &Context) -> Arc<ScalarFunction> {
    let x = Array::argument(DType::F32);
    let one = ArrayOrScalar::Scalar(Scalar::f32(1.0));
    let twice =
        context.apply(Op::Add, &[ArrayOrScalar::Array(&x), ArrayOrScalar::Array(&x)]).unwrap();
    let more = context.apply(Op::Add, &[ArrayOrScalar::Array(&twice), one]).unwrap();
    let square =
        context.apply(Op::Mul, &[ArrayOrScalar::Array(&x), ArrayOrScalar::Array(&x)]).unwrap();
    let results = [ArrayOrScalar::Array(&more), ArrayOrScalar::Array(&square)];
    Arc::new(ScalarFunction::recorded(&[x], &results).unwrap())
}

/// A function of a count: the number of times that 3 can be taken from it, in segments `(count, taken) ->
/// (count, taken, next)`.
fn threes(context: &Context) -> (ScalarFunction, Arc<ScalarFunction>) {
    let (given, count, taken) =
        (Array::argument(DType::I32), Array::argument(DType::I32), Array::argument(DType::I32));
    let entry = ScalarFunction::recorded(
        from_ref(&given),
        &[ArrayOrScalar::Array(&given), number(0), number(1)],
    )
    .unwrap();
    let apply =
        |op, a: ArrayOrScalar<'_>, b: ArrayOrScalar<'_>| context.apply(op, &[a, b]).unwrap();
    let goes_on = apply(Op::Ge, ArrayOrScalar::Array(&count), number(3));
    let less = apply(Op::Sub, ArrayOrScalar::Array(&count), number(3));
    let more = apply(Op::Add, ArrayOrScalar::Array(&taken), number(1));
    let select = |new: ArrayOrScalar<'_>, old: ArrayOrScalar<'_>| {
        context.apply(Op::Select, &[ArrayOrScalar::Array(&goes_on), new, old]).unwrap()
    };
    let (less, more) = (
        select(ArrayOrScalar::Array(&less), ArrayOrScalar::Array(&count)),
        select(ArrayOrScalar::Array(&more), ArrayOrScalar::Array(&taken)),
    );
    let next = select(number(1), number(0));
    let results = [&less, &more, &next].map(ArrayOrScalar::Array);
    let segment = ScalarFunction::recorded(&[given, count, taken], &results).unwrap();
    (entry, Arc::new(segment))
}

fn ints(values: &[i32]) -> Array {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
    Array::from_bytes(DType::I32, &[values.len()], &bytes).unwrap()
}

fn read(context: &Context, array: &Array) -> Vec<i32> {
    bytes(context, array)
        .chunks_exact(4)
        .map(|c| i32::from_ne_bytes(c.try_into().unwrap()))
        .collect()
}

#[test]
fn a_call_is_part_of_the_kernel_of_what_reads_it() {
    let context = cpu();
    let function = straight(&context);
    let x = scaled(&context, &ramp(10), 0.5);
    let first = context.call(&function, 0, &[ArrayOrScalar::Array(&x)]).unwrap();
    let second = context.call(&function, 1, &[ArrayOrScalar::Array(&x)]).unwrap();
    let sum = context
        .apply(Op::Add, &[ArrayOrScalar::Array(&first), ArrayOrScalar::Array(&second)])
        .unwrap();
    let wanted: Vec<u8> = (0..10)
        .map(|k| k as f32 * 0.5)
        .flat_map(|x| (2.0 * x + 1.0 + x * x).to_ne_bytes())
        .collect();
    assert_eq!(bytes(&context, &sum), wanted);
    assert_eq!(context.stats().launches, 1);
}

#[test]
fn a_loop_ends_where_each_point_does_and_goes_on_from_its_state() {
    let context = cpu();
    let (entry, segment) = threes(&context);
    let values: Vec<i32> = (-2..600).collect();
    let x = ints(&values);
    let segments = [segment];
    let function = Arc::new(ScalarFunction::of_segments(1, Some(&entry), &segments, 50).unwrap());
    let results = |function: &Arc<ScalarFunction>, args: &[ArrayOrScalar<'_>]| -> Vec<Array> {
        (0..3).map(|k| context.call(function, k, args).unwrap()).collect()
    };
    let state = results(&function, &[ArrayOrScalar::Array(&x)]);
    // One more iteration finds the end.
    let taken = |x: i32| (x / 3).max(0);
    let open: Vec<i32> = values.iter().map(|x| i32::from(taken(*x) >= 50)).collect();
    assert_eq!(read(&context, &state[2]), open);
    let further = Arc::new(ScalarFunction::of_segments(1, None, &segments, 200).unwrap());
    let mut args = vec![ArrayOrScalar::Array(&x)];
    args.extend(state.iter().map(ArrayOrScalar::Array));
    let state = results(&further, &args);
    let wanted: Vec<i32> = values.iter().map(|x| taken(*x)).collect();
    assert_eq!(read(&context, &state[1]), wanted);
    assert_eq!(read(&context, &state[2]), vec![0; values.len()]);
}

#[test]
fn what_is_no_function_is_refused() {
    let context = cpu();
    let (entry, segment) = threes(&context);
    let kind = |found: gpupy_core::Result<ScalarFunction>| found.err().map(|error| error.kind());
    let invalid = Some(ErrorKind::Invalid);
    assert_eq!(kind(ScalarFunction::of_segments(1, Some(&entry), &[], 5)), invalid);
    assert_eq!(kind(ScalarFunction::of_segments(2, Some(&entry), from_ref(&segment), 5)), invalid);
    let many = ScalarFunction::MOST_TURNS + 1;
    assert_eq!(
        kind(ScalarFunction::of_segments(1, Some(&entry), from_ref(&segment), many)),
        invalid
    );
    let x = Array::argument(DType::F32);
    let sum = context.reduce(Op::Add, &x, &[0], false).unwrap();
    assert_eq!(
        kind(ScalarFunction::recorded(&[x], &[ArrayOrScalar::Array(&sum)])),
        Some(ErrorKind::Unsupported)
    );
    let refused = context.call(&segment, 0, &[ArrayOrScalar::Array(&ramp(3))]).err().unwrap();
    assert_eq!(refused.kind(), ErrorKind::DType);
    let function = straight(&context);
    let refused = context.call(&function, 2, &[ArrayOrScalar::Array(&ramp(3))]).err().unwrap();
    assert_eq!(refused.kind(), ErrorKind::Index);
}

#[test]
fn an_argument_has_no_elements() {
    let context = cpu();
    let x = Array::argument(DType::F32);
    assert!(context.read(&x).is_err());
    let doubled = scaled(&context, &x, 2.0);
    assert!(context.read(&doubled).is_err());
}

#[test]
fn a_device_of_one_operation_at_a_time_takes_a_straight_function_step_by_step() {
    let context = context(driver_soft::NAME, Placement::Strict);
    let function = straight(&context);
    let second = context.call(&function, 1, &[ArrayOrScalar::Array(&ramp(5))]).unwrap();
    let first = context.call(&function, 0, &[ArrayOrScalar::Array(&second)]).unwrap();
    let wanted: Vec<u8> = (0..5).flat_map(|k| (2.0 * (k * k) as f32 + 1.0).to_ne_bytes()).collect();
    assert_eq!(bytes(&context, &first), wanted);
    let (entry, segment) = threes(&context);
    let looping = Arc::new(ScalarFunction::of_segments(1, Some(&entry), &[segment], 5).unwrap());
    let refused = context.call(&looping, 1, &[ArrayOrScalar::Array(&ints(&[1]))]).unwrap();
    assert!(context.read(&refused).is_err(), "it has no loops");
}
