//! Kernels that read the same rows are launched strip by strip, which changes only the order of launches.
#![allow(clippy::unwrap_used)]

mod eager_contexts;
mod watched;

use eager_contexts::{auto, bytes, opened};
use gpupy_core::{DType, Error, ErrorKind, Op, Scalar};
use gpupy_engine::{Array, ArrayOrScalar, Context, Placement};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use watched::watched;

/// More than a cache holds, with rows that are no whole chunks of a sum.
const SHAPE: [usize; 2] = [4300, 2000];

fn rows(first: usize, count: usize) -> Array {
    let element = |k: usize| ((k * 37 % 1009) as f32 / 16.0).to_ne_bytes();
    let all = first * SHAPE[1]..(first + count) * SHAPE[1];
    let elements: Vec<u8> = all.flat_map(element).collect();
    Array::from_bytes(DType::F32, &[count, SHAPE[1]], &elements).unwrap()
}

/// Each row less its mean, over the mean of the squares of that.
fn normalised(context: &Context, x: &Array) -> Array {
    let with = |op, a: &Array, b: &Array| {
        context.apply(op, &[ArrayOrScalar::Array(a), ArrayOrScalar::Array(b)]).unwrap()
    };
    let mean = |x: &Array| {
        let sum = context.reduce(Op::Add, x, &[1], true).unwrap();
        let count = ArrayOrScalar::Scalar(Scalar::f32(SHAPE[1] as f32));
        context.apply(Op::Div, &[ArrayOrScalar::Array(&sum), count]).unwrap()
    };
    let less = with(Op::Sub, x, &mean(x));
    with(Op::Div, &less, &mean(&with(Op::Mul, &less, &less)))
}

#[test]
fn rows_have_the_bits_that_few_of_them_have() {
    let context = auto();
    let x = rows(0, SHAPE[0]);
    let all = bytes(&context, &normalised(&context, &x));
    let first = context.stats();
    assert!(first.launches > 20, "{}", first.launches);
    let few = 10;
    let row = SHAPE[1] * 4;
    for start in (0..SHAPE[0]).step_by(430) {
        let part = bytes(&context, &normalised(&context, &rows(start, few)));
        assert!(all[start * row..(start + few) * row] == part, "rows from {start}");
    }
    // Work of equal structure is launched alike.
    let before = context.stats();
    assert!(bytes(&context, &normalised(&context, &rows(0, SHAPE[0]))) == all);
    let after = context.stats();
    assert_eq!(after.launches - before.launches, first.launches);
    assert_eq!(after.flushes_replayed, before.flushes_replayed + 1);
    // An explanation shows a kernel once.
    let y = normalised(&context, &rows(0, SHAPE[0]));
    let text = context.explain(&y).unwrap().text();
    assert!(text.contains("(5 kernels)"), "{text}");
    assert_eq!(context.stats().launches - after.launches, first.launches);
    assert!(bytes(&context, &y) == all);
}

#[test]
fn strips_that_fail_leave_nothing_behind() {
    let wanted = {
        let context = auto();
        bytes(&context, &normalised(&context, &rows(0, SHAPE[0])))
    };
    let kinds =
        [ErrorKind::OutOfMemory, ErrorKind::Refused, ErrorKind::Invalid, ErrorKind::DeviceLost];
    for (kind, number) in kinds.into_iter().zip([1, 7, 15, 24]) {
        let (launches, failed) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (counted, told) = (launches.clone(), failed.clone());
        let registry = watched(move |call, points| {
            let is_one = call == "eval_ir" && points > 10_000;
            if is_one && counted.fetch_add(1, Relaxed) + 1 == number {
                told.fetch_add(1, Relaxed);
                return Err(Error::new(kind, "watched").says("told to fail"));
            }
            Ok(())
        });
        let context = opened(registry, "watched", Placement::Auto);
        let x = rows(0, SHAPE[0]);
        let y = normalised(&context, &x);
        assert!(bytes(&context, &y) == wanted, "{kind:?}");
        assert_eq!(failed.load(Relaxed), 1, "{kind:?}");
        drop(y);
        assert!(bytes(&context, &normalised(&context, &x)) == wanted, "{kind:?}");
        drop(x);
        context.read(&rows(0, 1)).unwrap();
        assert_eq!(context.stats().blocks, 0, "{kind:?}");
    }
}

#[test]
fn what_nothing_holds_gives_its_memory_instead() {
    let context = auto();
    let mut x = rows(0, SHAPE[0]);
    let mut launches = Vec::new();
    for _ in 0..3 {
        let before = context.stats();
        x = normalised(&context, &x);
        context.evaluate(&[&x]).unwrap();
        let after = context.stats();
        launches.push((after.launches - before.launches > 20, after.in_place - before.in_place));
    }
    // The first strip reads the elements from outside.
    assert_eq!(launches, [(true, 0), (false, 1), (false, 1)]);
}

#[test]
fn nothing_is_read_before_its_last_strip_is_there() {
    let wanted: Arc<Mutex<Option<Array>>> = Arc::default();
    let (asked, seen) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let registry = {
        let (wanted, asked, seen) = (wanted.clone(), asked.clone(), seen.clone());
        watched(move |call, _| {
            // Like another thread, which needs no engine for values in memory.
            if call == "eval_ir"
                && let Some(array) = &*wanted.lock().unwrap()
            {
                asked.fetch_add(1, Relaxed);
                seen.fetch_add(usize::from(array.in_memory().is_some()), Relaxed);
            }
            Ok(())
        })
    };
    let context = opened(registry, "watched", Placement::Auto);
    let y = normalised(&context, &rows(0, SHAPE[0]));
    *wanted.lock().unwrap() = Some(y.clone());
    context.evaluate(&[&y]).unwrap();
    assert!(asked.load(Relaxed) > 20);
    assert_eq!(seen.load(Relaxed), 0);
    assert!(y.in_memory().is_some());
}
