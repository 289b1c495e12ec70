//! Blocks that a device reads in a value's host memory: which values are imported, and where writes go.
#![allow(clippy::unwrap_used)]

mod fused;

use fused::{Fused, Log};
use gpupy_core::{DType, Op, Scalar};
use gpupy_engine::registry::Registry;
use gpupy_engine::{Array, ArrayOrScalar, Context, Settings};
use std::sync::{Arc, Mutex};

/// Elements of the least array that is imported.
const LARGE: usize = 1 << 18;

/// A driver that imports host memory, beside the reference driver.
fn context() -> (Context, Arc<Mutex<Log>>) {
    let log = Arc::new(Mutex::new(Log::default()));
    let seen = log.clone();
    let registry = Registry::new()
        .register("fused", move || Box::new(Fused::new(1000, 1000, seen.clone()).importing(4096)))
        .register(driver_soft::NAME, driver_soft::new);
    let settings =
        Settings { driver: "fused".into(), driver_fallback: false, ..Settings::default() };
    (Context::new(registry, settings), log)
}

/// The numbers from 0 on.
fn counted(len: usize) -> Array {
    counted_from(0.0, len)
}

fn counted_from(first: f32, len: usize) -> Array {
    let bytes: Vec<u8> = (0..len).flat_map(|k| (first + k as f32).to_ne_bytes()).collect();
    Array::from_bytes(DType::F32, &[len], &bytes).unwrap()
}

fn plus(context: &Context, array: &Array, scalar: f32) -> Array {
    context
        .apply(Op::Add, &[ArrayOrScalar::Array(array), ArrayOrScalar::Scalar(Scalar::f32(scalar))])
        .unwrap()
}

/// Asserts that an array is computed to these elements.
fn check(context: &Context, array: &Array, wanted: impl Fn(usize) -> f32) {
    let bytes = context.read(array).unwrap().to_vec().unwrap();
    for (k, element) in bytes.chunks_exact(4).enumerate() {
        assert_eq!(f32::from_ne_bytes(element.try_into().unwrap()), wanted(k), "element {k}");
    }
}

#[test]
fn large_arrays_are_read_where_they_lie_and_small_ones_copied() {
    let (context, log) = context();
    for (len, imported) in [(LARGE, true), (LARGE + 1, true), (LARGE - 1, false)] {
        let before = context.stats();
        let x = counted(len);
        check(&context, &plus(&context, &x, 1.0), |k| k as f32 + 1.0);
        let after = context.stats();
        let bytes = 4 * len as u64;
        let moved = if imported { [bytes, 0] } else { [0, bytes] };
        assert_eq!(after.bytes_imported - before.bytes_imported, moved[0]);
        assert_eq!(after.bytes_uploaded - before.bytes_uploaded, moved[1]);
    }
    assert_eq!(log.lock().unwrap().imports, 2);
}

#[test]
fn imported_memory_outlives_its_array_until_the_block_is_freed() {
    let (context, log) = context();
    for round in 0..4 {
        let x = counted(LARGE);
        let y = plus(&context, &x, round as f32);
        context.evaluate(&[&y]).unwrap();
        drop(x);
        // Memory without an owner would be given to these, and written.
        let others: Vec<Array> = (0..3).map(|k| counted_from(-5.0 - k as f32, LARGE)).collect();
        check(&context, &y, |k| k as f32 + round as f32);
        drop(others);
    }
    drop(context);
    let log = log.lock().unwrap();
    assert!(log.imports >= 4);
    assert_eq!(log.changed, 0);
}

#[test]
fn what_is_written_later_does_not_reach_imported_memory() {
    let (context, log) = context();
    let x = counted(LARGE);
    let given = context.read(&x).unwrap();
    let y = plus(&context, &x, 1.0);
    context.evaluate(&[&y]).unwrap();
    for step in 0..3 {
        let part = x.slice_axis(0, 1, 100, 1);
        context.assign(&part, ArrayOrScalar::Scalar(Scalar::f32(-1.0 - step as f32))).unwrap();
        context.evaluate(&[&x]).unwrap();
    }
    check(&context, &x, |k| if (1..101).contains(&k) { -3.0 } else { k as f32 });
    check(
        &context,
        &plus(&context, &x, 0.0),
        |k| if (1..101).contains(&k) { -3.0 } else { k as f32 },
    );
    check(&context, &y, |k| k as f32 + 1.0);
    let kept = given.to_vec().unwrap();
    assert_eq!(kept[4..8], 1f32.to_ne_bytes());
    drop(context);
    assert_eq!(log.lock().unwrap().changed, 0);
}
