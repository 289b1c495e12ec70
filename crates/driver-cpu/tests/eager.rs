//! Eager evaluation: small work is computed at once where that is permitted, with the bits of recorded work;
//! otherwise it is recorded and nothing is lost.
#![allow(clippy::unwrap_used)]

mod eager_contexts;
mod watched;

use eager_contexts::{add, auto, bytes, context, floats, opened, ramp, scaled};
use gpupy_core::{DType, Error, ErrorKind, Op, Scalar};
use gpupy_engine::{Array, ArrayOrScalar, Outside, Placement};
use std::sync::{Arc, Condvar, Mutex};
use watched::{registry, watched};

#[test]
fn small_work_is_neither_recorded_nor_evaluated_later() {
    let context = auto();
    let (x, y) = (ramp(10), ramp(10));
    let z = add(&context, &scaled(&context, &x, 2.5), &y);
    let total = context.reduce(Op::Add, &z, &[0], false).unwrap();
    let stats = context.stats();
    assert_eq!((stats.computed_at_once, stats.launches, stats.values), (3, 3, 0));
    assert_eq!(bytes(&context, &total), 157.5f32.to_ne_bytes());
    assert_eq!(context.stats().blocks_evaluated, 0);
    assert_eq!(context.stats().blocks, 0);
}

#[test]
fn what_lies_in_memory_is_read_without_the_engine() {
    let context = auto();
    let z = scaled(&context, &ramp(10), 2.0);
    assert_eq!(z.in_memory().unwrap().to_vec().unwrap(), bytes(&context, &z));
    let large = scaled(&context, &ramp(100_000), 2.0);
    assert!(large.in_memory().is_none(), "it is not computed yet");
    context.evaluate(&[&large]).unwrap();
    assert_eq!(large.in_memory().unwrap().to_vec().unwrap(), bytes(&context, &large));
}

#[test]
fn large_work_is_recorded() {
    let context = auto();
    let z = scaled(&context, &ramp(100_000), 2.0);
    assert!(z.in_memory().is_none());
    let stats = context.stats();
    assert_eq!((stats.computed_at_once, stats.launches, stats.values), (0, 0, 1));
    // A few of its elements are not computed alone.
    let few = scaled(&context, &z.slice_axis(0, 5, 3, 1), 2.0);
    assert_eq!(context.stats().computed_at_once, 0);
    assert_eq!(bytes(&context, &few), bytes(&context, &floats(&[20.0, 24.0, 28.0])));
}

#[test]
fn what_lies_on_another_device_alone_is_not_brought_back_for_it() {
    let context = context(driver_soft::NAME, Placement::Auto);
    let x = scaled(&context, &ramp(100_000), 2.0).slice_axis(0, 0, 10, 1);
    context.evaluate(&[&x]).unwrap();
    let before = context.stats();
    let y = scaled(&context, &x, 2.0);
    let after = context.stats();
    assert_eq!(after.computed_at_once, before.computed_at_once);
    assert_eq!(after.bytes_downloaded, before.bytes_downloaded);
    assert_eq!(
        bytes(&context, &y),
        bytes(&context, &floats(&(0..10).map(|k| 4.0 * k as f32).collect::<Vec<_>>()))
    );
}

#[test]
fn writing_leaves_those_who_hold_the_old_elements() {
    let context = auto();
    let a = ramp(6);
    let (before, snapshot) = (scaled(&context, &a, 1.0), a.snapshot().unwrap());
    // Overlapping, and through a view.
    context
        .assign(&a.slice_axis(0, 1, 5, 1), ArrayOrScalar::Array(&a.slice_axis(0, 0, 5, 1)))
        .unwrap();
    context.assign(&a.slice_axis(0, 0, 3, 2), ArrayOrScalar::Scalar(Scalar::f32(-1.0))).unwrap();
    assert_eq!(bytes(&context, &a), bytes(&context, &floats(&[-1.0, 0.0, -1.0, 2.0, -1.0, 4.0])));
    for old in [before, snapshot] {
        assert_eq!(bytes(&context, &old), bytes(&context, &ramp(6)));
    }
    assert_eq!(context.stats().blocks_evaluated, 0);
}

#[test]
fn a_write_in_place_leaves_nothing_known_of_the_elements_before() {
    let context = auto();
    let (table, at) = (ramp(10), Array::from_bytes(DType::I32, &[2], &[0; 8]).unwrap());
    for position in [3, 9, 4] {
        let second = at.slice_axis(0, 1, 1, 1);
        context.assign(&second, ArrayOrScalar::Scalar(Scalar::i32(position))).unwrap();
        let picked = context.fancy_index(&table, &[Some(&at)], 0, Outside::Refuse).unwrap();
        assert_eq!(bytes(&context, &picked), bytes(&context, &floats(&[0.0, position as f32])));
    }
    context.assign(&at, ArrayOrScalar::Scalar(Scalar::i32(0))).unwrap();
    context.assign(&at.slice_axis(0, 1, 1, 1), ArrayOrScalar::Scalar(Scalar::i32(10))).unwrap();
    assert!(context.fancy_index(&table, &[Some(&at)], 0, Outside::Refuse).is_err());
}

#[test]
fn an_explanation_says_that_it_was_computed_at_once() {
    let context = auto();
    let z = scaled(&context, &ramp(10), 2.0);
    let text = context.explain(&z).unwrap().text();
    assert!(text.contains("computed at once"), "{text}");
    let told = Arc::new(Mutex::new(String::new()));
    let sink = told.clone();
    context.set_trace(Some(Box::new(move |text| sink.lock().unwrap().push_str(text))));
    scaled(&context, &z, 2.0);
    assert_eq!(*told.lock().unwrap(), "mul computed at once on cpu: float32 (10,)\n");
}

#[test]
fn a_host_driver_that_fails_loses_nothing() {
    let kinds =
        [ErrorKind::OutOfMemory, ErrorKind::Refused, ErrorKind::Unsupported, ErrorKind::DeviceLost];
    for call in ["init", "block_alloc", "check_ir", "eval_ir"] {
        for kind in kinds {
            let failing = watched(move |called, _| match called == call {
                true => Err(Error::new(kind, "watched").says("told to fail")),
                false => Ok(()),
            });
            let context = opened(failing, driver_soft::NAME, Placement::Auto);
            let x = ramp(10);
            let z = add(&context, &scaled(&context, &x, 2.0), &x);
            let total = context.reduce(Op::Add, &z, &[0], false).unwrap();
            assert_eq!(bytes(&context, &total), 135f32.to_ne_bytes(), "{call}: {kind:?}");
            assert_eq!(bytes(&context, &x), bytes(&context, &ramp(10)));
            // Eager work allocates no block.
            let at_once = if call == "block_alloc" { 3 } else { 0 };
            assert_eq!(context.stats().computed_at_once, at_once, "{call}: {kind:?}");
        }
    }
}

#[test]
fn a_host_driver_whose_launches_bring_no_memory_is_given_none() {
    let older = registry(false, |_, _| Ok(()));
    let context = opened(older, driver_soft::NAME, Placement::Auto);
    let z = add(&context, &scaled(&context, &ramp(10), 2.0), &ramp(10));
    let total = context.reduce(Op::Add, &z, &[0], false).unwrap();
    assert_eq!(bytes(&context, &total), 135f32.to_ne_bytes());
    assert_eq!(context.stats().computed_at_once, 0);
}

#[test]
fn nobody_waits_for_an_evaluation_to_compute_at_once() {
    let (begun, go) = (
        Arc::new((Mutex::new(false), Condvar::new())),
        Arc::new((Mutex::new(false), Condvar::new())),
    );
    let wait = |flag: &(Mutex<bool>, Condvar)| {
        drop(flag.1.wait_while(flag.0.lock().unwrap(), |set| !*set).unwrap());
    };
    let set = |flag: &(Mutex<bool>, Condvar)| {
        *flag.0.lock().unwrap() = true;
        flag.1.notify_all();
    };
    let context = {
        let (begun, go) = (begun.clone(), go.clone());
        let registry = watched(move |called, points| {
            if called == "eval_ir" && points == 100_000 {
                set(&begun);
                wait(&go);
            }
            Ok(())
        });
        opened(registry, "watched", Placement::Auto)
    };
    let large = scaled(&context, &ramp(100_000), 2.0);
    std::thread::scope(|scope| {
        scope.spawn(|| context.evaluate(&[&large]).unwrap());
        wait(&begun);
        // The engine is locked; this returns nevertheless.
        let z = scaled(&context, &ramp(10), 2.0);
        assert!(z.in_memory().is_none());
        set(&go);
        assert_eq!(bytes(&context, &z), bytes(&context, &scaled(&context, &ramp(10), 2.0)));
    });
    assert_eq!(context.stats().computed_at_once, 1);
}

#[test]
fn closed_devices_are_not_opened_by_small_work() {
    let context = auto();
    let x = scaled(&context, &ramp(10), 2.0);
    context.close();
    let y = scaled(&context, &x, 2.0);
    assert!(y.in_memory().is_none());
    assert_eq!(context.stats().computed_at_once, 1);
    assert_eq!(bytes(&context, &y), bytes(&context, &scaled(&context, &ramp(10), 4.0)));
}

#[test]
fn few_rows_are_picked_where_they_lie_and_mistakes_are_left_to_others() {
    let context = auto();
    let table = floats(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]).reshape(&[3, 2]).unwrap();
    let index = |at: &[i8]| {
        let bytes: Vec<u8> = at.iter().map(|n| *n as u8).collect();
        Array::from_bytes(DType::I8, &[at.len()], &bytes).unwrap()
    };
    let found = context.take_rows_eagerly(&table, &index(&[-1, 0])).unwrap();
    assert_eq!(found.shape(), [2, 2]);
    assert_eq!(bytes(&context, &found), bytes(&context, &floats(&[4.0, 5.0, 0.0, 1.0])));
    assert!(context.take_rows_eagerly(&table, &index(&[3])).is_none());
    assert!(context.take_rows_eagerly(&table, &index(&[-4])).is_none());
    let mask = context
        .apply(Op::Gt, &[ArrayOrScalar::Array(&table), ArrayOrScalar::Scalar(Scalar::f32(2.5))])
        .unwrap();
    let found = context.take_rows_eagerly(&table, &mask).unwrap();
    assert_eq!(bytes(&context, &found), bytes(&context, &floats(&[3.0, 4.0, 5.0])));
    assert!(context.take_rows_eagerly(&ramp(5), &mask).is_none());
}

#[test]
fn an_element_is_written_and_those_who_have_the_old_elements_keep_them() {
    let context = auto();
    let x = ramp(4);
    assert!(context.write_element(&x, 2, &Scalar::f32(9.0).bytes()[..4]));
    assert!(
        !context.write_element(&x, 4, &Scalar::f32(9.0).bytes()[..4]),
        "there is no such element"
    );
    assert!(!context.write_element(&x, 1, &Scalar::f64(9.0).bytes()), "it has another size");
    let snapshot = x.snapshot().unwrap();
    assert!(context.write_element(&x, 1, &Scalar::f32(7.0).bytes()[..4]));
    assert_eq!(bytes(&context, &snapshot), bytes(&context, &floats(&[0.0, 1.0, 9.0, 3.0])));
    assert_eq!(bytes(&context, &x), bytes(&context, &floats(&[0.0, 7.0, 9.0, 3.0])));
    assert_eq!(x.version(), 2);
}

#[test]
fn operands_of_one_base_and_of_bases_that_others_have_are_right() {
    let context = auto();
    let x = ramp(6);
    let both = add(&context, &x.slice_axis(0, 0, 3, 1), &x.slice_axis(0, 5, 3, -1));
    assert_eq!(bytes(&context, &both), bytes(&context, &floats(&[5.0, 5.0, 5.0])));
    // From two threads, each with the other's operands first.
    let y = ramp(6);
    std::thread::scope(|scope| {
        for (a, b) in [(&x, &y), (&y, &x)] {
            let context = &context;
            scope.spawn(move || {
                for _ in 0..2000 {
                    let sum = add(context, a, b);
                    assert_eq!(bytes(context, &sum), bytes(context, &scaled(context, a, 2.0)));
                }
            });
        }
    });
}

#[test]
fn the_rest_of_a_long_chain_of_larger_results_is_recorded() {
    let context = auto();
    let x = ramp(30_000);
    let mut y = x.clone();
    for _ in 0..10 {
        y = add(&context, &y, &x);
    }
    assert!(y.in_memory().is_none());
    assert!(context.stats().computed_at_once < 10);
    assert_eq!(bytes(&context, &y), bytes(&context, &scaled(&context, &x, 11.0)));
    let mut y = ramp(1000);
    for _ in 0..100 {
        y = scaled(&context, &y, 0.5);
    }
    assert!(y.in_memory().is_some(), "what is smaller is not");
}

#[test]
fn an_update_takes_the_place_of_elements_that_nobody_else_has() {
    let context = auto();
    let (x, y) = (ramp(6), ramp(6));
    let row = x.slice_axis(0, 1, 3, 1);
    assert!(context.update_eagerly(
        Op::Add,
        &[ArrayOrScalar::Array(&x), ArrayOrScalar::Array(&y)],
        &x
    ));
    assert_eq!(bytes(&context, &row), bytes(&context, &floats(&[2.0, 4.0, 6.0])));
    let compare = [ArrayOrScalar::Array(&x), ArrayOrScalar::Array(&y)];
    assert!(!context.update_eagerly(Op::Lt, &compare, &x), "results are of another dtype");
    assert!(!context.update_eagerly(Op::Add, &compare, &row), "it is a part");
    let snapshot = x.snapshot().unwrap();
    assert!(!context.update_eagerly(Op::Add, &compare, &x), "somebody else has them");
    assert_eq!(bytes(&context, &snapshot), bytes(&context, &scaled(&context, &y, 2.0)));
    assert!(
        context.assign(&y, ArrayOrScalar::Scalar(Scalar::f64(1.0))).is_err(),
        "of another dtype"
    );
    assert_eq!(bytes(&context, &y), bytes(&context, &ramp(6)));
}
