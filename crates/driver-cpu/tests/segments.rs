//! Segments: work that was recorded of arguments, repeated with arrays; in one eager launch if it is little
//! work.
#![allow(clippy::unwrap_used)]

mod eager_contexts;

use eager_contexts::{add, auto, bytes, context, ramp, scaled};
use gpupy_core::{ErrorKind, Op, Scalar};
use gpupy_engine::{Array, ArrayOrScalar, Context, Placement, Segment};

fn strict() -> Context {
    context(driver_cpu::NAME, Placement::Strict)
}

/// Writes twice the first part of an array into it, and gives its sum and the array with another added.
fn program(context: &Context, x: &Array, y: &Array) -> Vec<Array> {
    let part = x.slice_axis(0, 0, x.size() / 2, 1);
    context.assign(&part, ArrayOrScalar::Array(&scaled(context, &part, 2.0))).unwrap();
    let sum = context.reduce(Op::Add, x, &[0], false).unwrap();
    vec![x.clone(), sum, add(context, x, y)]
}

fn recorded(context: &Context, x: &Array, y: &Array) -> Segment {
    let [a, b] = [x, y].map(|array| array.argument_of().unwrap());
    // The arguments are bases: one is written, and is a result itself.
    let (first, second) = (a.snapshot().unwrap(), b.snapshot().unwrap());
    let results = program(context, &a, &b);
    Segment::of(&[first, second], &results).unwrap().0
}

fn check(context: &Context, len: usize, launches_at_once: Option<u64>) {
    let (x, y) = (ramp(len), ramp(len));
    let segment = recorded(context, &x, &y);
    for turn in 0..4 {
        let x = scaled(context, &ramp(len), 1.0 + turn as f32);
        let wanted = program(context, &context.copy(&x).unwrap(), &y);
        let wanted: Vec<Vec<u8>> = wanted.iter().map(|array| bytes(context, array)).collect();
        let before = bytes(context, &x);
        context.reset_stats().unwrap();
        let found = context.replay(&segment, &[&x, &y]).unwrap();
        if let (Some(launches), 1..) = (launches_at_once, turn) {
            let stats = context.stats();
            assert_eq!((stats.computed_at_once, stats.launches), (1, launches), "{len}, {turn}");
        }
        let found: Vec<Vec<u8>> = found.iter().map(|array| bytes(context, array)).collect();
        assert_eq!(found, wanted, "{len} elements, turn {turn}");
        assert_eq!(bytes(context, &x), before, "the array itself is not written");
    }
}

#[test]
fn a_segment_gives_what_the_program_gives() {
    for len in [2, 3, 64, 1000, 32_768, 32_769, 40_000] {
        check(&strict(), len, None);
        check(&auto(), len, None);
    }
}

#[test]
fn little_work_is_launched_at_once() {
    check(&auto(), 64, Some(4));
}

#[test]
fn a_plan_does_not_depend_on_what_was_equal_among_its_first_arguments() {
    let shifted = |context: &Context, x: &Array| {
        let one = ArrayOrScalar::Scalar(Scalar::f32(1.0));
        context.apply(Op::Add, &[ArrayOrScalar::Array(x), one]).unwrap()
    };
    let results = |context: &Context, x: &Array, y: &Array| {
        vec![shifted(context, y), shifted(context, x), add(context, x, y), scaled(context, x, 3.0)]
    };
    for context in [auto(), strict()] {
        let [a, b] = [ramp(8), ramp(8)].map(|array| array.argument_of().unwrap());
        let (once, _) = Segment::of(std::slice::from_ref(&a), &[shifted(&context, &a)]).unwrap();
        let y = ramp(8);
        // The very node that the other segment makes of the same argument.
        let x = context.replay(&once, &[&y]).unwrap().remove(0);
        for (first, second) in [(&x, &y), (&y, &y.snapshot().unwrap())] {
            let (segment, used) =
                Segment::of(&[a.clone(), b.clone()], &results(&context, &a, &b)).unwrap();
            assert_eq!(used.len(), 2);
            let given = |x, y| if used[0] == 0 { [x, y] } else { [y, x] };
            for (x, y) in [
                (first, second),
                (&scaled(&context, &ramp(8), -7.0), &scaled(&context, &ramp(8), 100.0)),
            ] {
                let found = context.replay(&segment, &given(x, y)).unwrap();
                let found: Vec<_> = found.iter().map(|array| bytes(&context, array)).collect();
                let wanted = results(&context, x, y);
                let wanted: Vec<_> = wanted.iter().map(|array| bytes(&context, array)).collect();
                assert_eq!(found, wanted);
            }
        }
    }
}

#[test]
fn a_segment_takes_the_arguments_that_it_reads() {
    let context = auto();
    let (x, y) = (ramp(4).argument_of().unwrap(), ramp(4).argument_of().unwrap());
    let (segment, used) = Segment::of(&[x, y.clone()], &[scaled(&context, &y, 3.0)]).unwrap();
    assert_eq!((used, segment.arguments().len(), segment.operations()), (vec![1], 1, 1));
}

#[test]
fn scalars_that_are_known_are_parts_of_kernels() {
    let context = strict();
    let number = Array::from_bytes(gpupy_core::DType::F32, &[], &2.5f32.to_ne_bytes()).unwrap();
    let (x, by) = (ramp(5).argument_of().unwrap(), number.argument_of().unwrap());
    let results =
        [context.apply(Op::Mul, &[ArrayOrScalar::Array(&x), ArrayOrScalar::Array(&by)]).unwrap()];
    let (segment, _) = Segment::of(&[x, by], &results).unwrap();
    let found = context.replay(&segment, &[&ramp(5), &number]).unwrap();
    assert_eq!(bytes(&context, &found[0]), bytes(&context, &scaled(&context, &ramp(5), 2.5)));
}

#[test]
fn what_is_open_has_no_elements_and_other_arrays_do_not_fit() {
    let context = auto();
    let x = ramp(6).argument_of().unwrap();
    let results = [scaled(&context, &x, 2.0)];
    assert!(results[0].is_open() && !ramp(6).is_open());
    assert_eq!(context.read(&results[0]).err().unwrap().kind(), ErrorKind::Open);
    assert_eq!(context.evaluate(&[&results[0]]).err().unwrap().kind(), ErrorKind::Open);
    let (segment, _) = Segment::of(&[x], &results).unwrap();
    assert_eq!(context.replay(&segment, &[&ramp(7)]).err().unwrap().kind(), ErrorKind::Shape);
    let stranger = ramp(6).argument_of().unwrap();
    let of_another = Segment::of(&[], &[scaled(&context, &stranger, 2.0)]);
    assert_eq!(of_another.err().unwrap().kind(), ErrorKind::Open);
}

#[test]
fn other_evaluations_leave_what_is_open_alone() {
    let context = strict();
    let x = ramp(100).argument_of().unwrap();
    let open = context.reduce(Op::Add, &scaled(&context, &x, 3.0), &[0], false).unwrap();
    let closed = context.reduce(Op::Add, &scaled(&context, &ramp(100), 3.0), &[0], false).unwrap();
    let sum = f32::from_ne_bytes(bytes(&context, &closed).try_into().unwrap());
    assert_eq!(sum, 3.0 * 4950.0);
    assert!(open.is_open());
}

#[test]
fn elements_are_moved_to_another_base() {
    let context = auto();
    let (x, view) = (ramp(4), ramp(4));
    let part = view.slice_axis(0, 1, 2, 1);
    assert!(view.take_elements(&scaled(&context, &x, 2.0)).unwrap());
    assert_eq!(
        bytes(&context, &part),
        bytes(&context, &scaled(&context, &x.slice_axis(0, 1, 2, 1), 2.0))
    );
    let pin = context.pin(&view, false).unwrap();
    assert!(!view.take_elements(&ramp(4)).unwrap());
    drop(pin);
    let zero = Array::full(&[4], Scalar::f32(0.0)).unwrap();
    assert!(view.take_elements(&zero).unwrap());
    assert_eq!(bytes(&context, &view), vec![0; 16]);
}
