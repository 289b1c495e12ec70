//! Launches in place: who is asked before an operand's block is written.
#![allow(clippy::unwrap_used)]

mod fused;

use fused::{Fused, Log};
use gpupy_core::registry::Registry;
use gpupy_core::{Arg, Array, Context, DType, ErrorKind, Op, Scalar, Settings};
use std::sync::{Arc, Mutex};

/// A driver in host memory that writes in place, beside the reference driver.
fn context(refuse: usize) -> (Context, Arc<Mutex<Log>>) {
    let log = Arc::new(Mutex::new(Log::default()));
    let seen = log.clone();
    let registry = Registry::new()
        .register("fused", move || Box::new(Fused::new(1000, refuse, seen.clone()).host()))
        .register(driver_soft::NAME, driver_soft::new);
    let settings =
        Settings { driver: "fused".into(), driver_fallback: false, ..Settings::default() };
    (Context::new(registry, settings), log)
}

fn floats(values: &[f32]) -> Array {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
    Array::from_bytes(DType::F32, &[values.len()], &bytes).unwrap()
}

fn read(context: &Context, array: &Array) -> Vec<f32> {
    let bytes = context.read(array).unwrap().to_vec();
    bytes.chunks_exact(4).map(|c| f32::from_ne_bytes(c.try_into().unwrap())).collect()
}

fn op(context: &Context, op: Op, a: &Array, b: &Array) -> Array {
    context.apply(op, &[Arg::Array(a), Arg::Array(b)]).unwrap()
}

fn with(context: &Context, op: Op, a: &Array, scalar: f32) -> Array {
    context.apply(op, &[Arg::Array(a), Arg::Scalar(Scalar::f32(scalar))]).unwrap()
}

/// An evaluated array that nothing but its handle holds: `[1, 2, 3, 4]` times `factor`.
fn computed(context: &Context, factor: f32) -> Array {
    let x = with(context, Op::Mul, &floats(&[1.0, 2.0, 3.0, 4.0]), factor);
    context.evaluate(&[&x]).unwrap();
    x
}

#[test]
fn an_update_loop_allocates_nothing_after_its_second_step() {
    let (context, log) = context(usize::MAX);
    let y = floats(&[0.5, -1.0]);
    let mut x = floats(&[10.0, -4.0]);
    let mut wanted = [10.0f32, -4.0];
    let mut allocated = 0;
    for step in 0..1000 {
        x = op(&context, Op::Add, &with(&context, Op::Mul, &x, 0.75), &y);
        context.evaluate(&[&x]).unwrap();
        wanted = [wanted[0] * 0.75 + 0.5, wanted[1] * 0.75 - 1.0];
        if step == 1 {
            allocated = log.lock().unwrap().allocated;
        }
    }
    assert_eq!(read(&context, &x), wanted);
    assert_eq!(log.lock().unwrap().allocated, allocated);
    assert_eq!(log.lock().unwrap().most_blocks, 3);
    assert_eq!(context.stats().in_place, 999);
    assert_eq!((context.stats().blocks, context.stats().values), (2, 1));
}

#[test]
fn what_somebody_holds_is_not_written() {
    let (context, _) = context(usize::MAX);
    // The operand itself.
    let x = computed(&context, 2.0);
    let next = with(&context, Op::Add, &x, 1.0);
    assert_eq!(read(&context, &next), [3.0, 5.0, 7.0, 9.0]);
    assert_eq!(read(&context, &x), [2.0, 4.0, 6.0, 8.0]);
    // An operation on the way.
    let x = computed(&context, 3.0);
    let half = with(&context, Op::Mul, &x, 0.5);
    drop(x);
    let next = with(&context, Op::Add, &half, 1.0);
    assert_eq!(read(&context, &next), [2.5, 4.0, 5.5, 7.0]);
    assert_eq!(read(&context, &half), [1.5, 3.0, 4.5, 6.0]);
    // Another expression.
    let x = computed(&context, 5.0);
    let (more, less) = (with(&context, Op::Add, &x, 1.0), with(&context, Op::Sub, &x, 1.0));
    drop(x);
    assert_eq!(read(&context, &more), [6.0, 11.0, 16.0, 21.0]);
    assert_eq!(read(&context, &less), [4.0, 9.0, 14.0, 19.0]);
    // Its elements in host memory.
    let x = computed(&context, 7.0);
    let elements = context.read(&x).unwrap();
    let next = with(&context, Op::Add, &x, 1.0);
    drop(x);
    assert_eq!(read(&context, &next), [8.0, 15.0, 22.0, 29.0]);
    assert_eq!(elements.to_vec()[..4], 7.0f32.to_ne_bytes());
    // A point reads what another writes.
    let x = computed(&context, 9.0);
    let sum = op(&context, Op::Add, &x, &x.slice_axis(0, 3, 4, -1));
    drop(x);
    assert_eq!(read(&context, &sum), [45.0; 4]);
    // What was given.
    let next = with(&context, Op::Add, &floats(&[1.0]), 1.0);
    assert_eq!(read(&context, &next), [2.0]);
    // `half` and `less` were the last to want theirs.
    assert_eq!(context.stats().in_place, 2);
}

#[test]
fn what_was_overwritten_is_computed_again_when_it_is_recorded_again() {
    let (context, _) = context(usize::MAX);
    let given = floats(&[1.0, 2.0]);
    let x = with(&context, Op::Mul, &given, 2.0);
    context.evaluate(&[&x]).unwrap();
    let next = with(&context, Op::Add, &x, 1.0);
    drop(x);
    context.evaluate(&[&next]).unwrap();
    assert_eq!(context.stats().in_place, 1);
    let again = with(&context, Op::Mul, &given, 2.0);
    assert_eq!(read(&context, &again), [2.0, 4.0]);
    assert_eq!(read(&context, &next), [3.0, 5.0]);
}

#[test]
fn an_operand_survives_what_failed_in_its_place() {
    let (context, _) = context(1);
    let x = computed(&context, 2.0);
    let y = floats(&[1.0, 1.0, 2.0, 2.0]);
    // Two operations are refused, and so is cut: the first one finds `x`, the second its result.
    let next = op(&context, Op::Add, &with(&context, Op::Mul, &x, 0.5), &y);
    drop(x);
    assert_eq!(read(&context, &next), [2.0, 3.0, 5.0, 6.0]);
    assert_eq!(context.stats().in_place, 2);
    let (context, _) = self::context(0);
    let x = op(&context, Op::Add, &floats(&[1.0]), &floats(&[2.0]));
    let error = context.read(&x).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Refused);
    context.use_driver(driver_soft::NAME).unwrap();
    assert_eq!(read(&context, &x), [3.0]);
}
