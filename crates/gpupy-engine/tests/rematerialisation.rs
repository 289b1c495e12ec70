//! What is computed for others again and again is stored, and nothing else is.
#![allow(clippy::unwrap_used)]

mod fused;

use fused::{Fused, Log};
use gpupy_core::{DType, Op, Scalar};
use gpupy_engine::registry::Registry;
use gpupy_engine::{Array, ArrayOrScalar, Context, Settings};
use std::sync::{Arc, Mutex};

const LONG: usize = 100;

fn context_with(settings: Settings) -> (Context, Arc<Mutex<Log>>) {
    let log = Arc::new(Mutex::new(Log::default()));
    let seen = log.clone();
    let registry = Registry::new()
        .register("fused", move || Box::new(Fused::new(1000, usize::MAX, seen.clone())))
        .register(driver_soft::NAME, driver_soft::new);
    (Context::new(registry, Settings { driver: "fused".into(), ..settings }), log)
}

fn context() -> (Context, Arc<Mutex<Log>>) {
    context_with(Settings::default())
}

fn floats(n: usize) -> Array {
    let bytes: Vec<u8> = (0..n).flat_map(|i| (i as f32).to_ne_bytes()).collect();
    Array::from_bytes(DType::F32, &[n], &bytes).unwrap()
}

fn with(context: &Context, op: Op, a: &Array, scalar: f32) -> Array {
    context
        .apply(op, &[ArrayOrScalar::Array(a), ArrayOrScalar::Scalar(Scalar::f32(scalar))])
        .unwrap()
}

/// An array through so many operations, and those on the way.
fn chain(context: &Context, mut x: Array, operations: usize) -> Vec<Array> {
    let mut all = Vec::new();
    for i in 0..operations {
        x = with(context, if i % 2 == 0 { Op::Mul } else { Op::Sub }, &x, 1.5 + i as f32 / 64.0);
        all.push(x.clone());
    }
    all
}

/// The operations of the launches since the last call.
fn launched(log: &Arc<Mutex<Log>>) -> usize {
    std::mem::take(&mut log.lock().unwrap().launches).iter().sum()
}

fn item(context: &Context, array: &Array, at: usize) -> f32 {
    context.item(array, &[at]).unwrap().as_f32()
}

#[test]
fn the_first_use_of_a_long_chain_is_the_last_that_computes_it() {
    let (context, log) = context();
    let y = chain(&context, floats(4000), LONG).pop().unwrap();
    let mut costs = Vec::new();
    let mut seen = Vec::new();
    for i in 0..5 {
        seen.push(item(&context, &with(&context, Op::Add, &y, i as f32), 3) - i as f32);
        costs.push(launched(&log));
    }
    assert_eq!(costs, [LONG + 1, 1, 1, 1, 1]);
    assert!(seen.windows(2).all(|pair| (pair[0] - pair[1]).abs() < 1e-2), "{seen:?}");
}

#[test]
fn what_nothing_holds_is_not_stored() {
    let (context, log) = context();
    for i in 0..4 {
        let y = chain(&context, floats(4000), LONG).pop().unwrap();
        item(&context, &with(&context, Op::Add, &y, i as f32), 3);
        drop(y);
        assert_eq!(launched(&log), LONG + 1);
    }
}

#[test]
fn the_tiles_of_one_use_are_not_taken_for_several() {
    let (context, log) = context_with(Settings { block_bytes: 1 << 12, ..Settings::default() });
    let y = chain(&context, floats(4096), LONG).pop().unwrap();
    context.read(&with(&context, Op::Add, &y, 1.0)).unwrap();
    assert_eq!(launched(&log), 4 * (LONG + 1));
    // Each tile was written beside the sum's.
    for (at, cost) in [(0, 1), (1, 1), (2000, 1), (2001, 1)] {
        item(&context, &with(&context, Op::Add, &y, at as f32 + 2.0), at);
        assert_eq!(launched(&log), cost, "{at}");
    }
}

#[test]
fn positions_between_each_other_are_not_taken_for_the_same() {
    let (context, log) = context();
    let y = chain(&context, floats(4096), LONG).pop().unwrap();
    for i in 0..8 {
        let rows = y.slice_axis(0, i, 512, 8);
        context.read(&with(&context, Op::Add, &rows, 1.0)).unwrap();
        // So much is behind `y` that it is stored at once.
        assert_eq!(launched(&log), if i == 0 { LONG + 1 } else { 1 }, "{i}");
    }
    // Equal rows again.
    let rows = y.slice_axis(0, 3, 512, 8);
    let again = |i: i32| {
        context.read(&with(&context, Op::Add, &rows, i as f32)).unwrap();
        launched(&log)
    };
    let costs: Vec<usize> = (2..6).map(again).collect();
    assert_eq!(costs.last(), Some(&1), "{costs:?}");
}

#[test]
fn a_few_points_are_computed_again_until_that_has_cost_as_much() {
    let (context, log) = context();
    let y = chain(&context, floats(8000), LONG).pop().unwrap();
    let few = y.slice_axis(0, 10, 20, 1);
    let uses = (0..20).map(|i| {
        context.read(&with(&context, Op::Add, &few, i as f32)).unwrap();
        launched(&log)
    });
    let costs: Vec<usize> = uses.collect();
    let stored = costs.iter().position(|cost| *cost == 1).unwrap();
    assert!((1..12).contains(&stored), "{costs:?}");
    assert!(costs[stored..].iter().all(|cost| *cost == 1), "{costs:?}");
}

#[test]
fn values_on_the_way_are_stored_at_halves_so_that_going_back_is_cheap() {
    const MANY: usize = 512;
    let (context, log) =
        context_with(Settings { flush_operations: 1 << 20, ..Settings::default() });
    let all = chain(&context, floats(300), MANY);
    for array in all.iter().rev() {
        item(&context, array, 7);
    }
    let total = launched(&log);
    // Each by itself would be a quarter of a million.
    assert!(total < MANY * 4 * 9, "{total}");
    let blocks = context.stats().blocks as usize;
    assert!(blocks <= MANY + 2, "{blocks}");
}

#[test]
fn no_more_is_stored_than_there_is_room_for() {
    let (context, log) = context_with(Settings { flush_bytes: 1 << 10, ..Settings::default() });
    let kept: Vec<Array> =
        (0..6).map(|i| chain(&context, floats(4000 + i), LONG).pop().unwrap()).collect();
    for turn in 0..4 {
        for y in &kept {
            item(&context, &with(&context, Op::Add, y, turn as f32), 3);
        }
    }
    // Of six values with as much memory each as what they are computed from, some find room.
    let total = launched(&log);
    assert!(total < 6 * 4 * (LONG + 1), "{total}");
    assert!(context.stats().block_bytes <= 13 * 4 * 4005, "{}", context.stats().block_bytes);
}

#[test]
fn reductions_joins_and_writes_find_what_is_computed_again() {
    let (context, log) = context();
    let y = chain(&context, floats(4096), LONG).pop().unwrap();
    let uses: [(&str, &dyn Fn(f32)); 3] = [
        ("sum", &|i| {
            let more = with(&context, Op::Add, &y, i);
            context.read(&context.reduce(Op::Add, &more, &[0], false).unwrap()).unwrap();
        }),
        ("join", &|i| {
            let parts = [with(&context, Op::Add, &y, i), floats(5)];
            context.read(&context.join(0, &parts).unwrap()).unwrap();
        }),
        ("write", &|i| {
            let into = floats(5000);
            let more = with(&context, Op::Add, &y, i);
            context.assign(&into.slice_axis(0, 7, 4096, 1), ArrayOrScalar::Array(&more)).unwrap();
            context.read(&into).unwrap();
        }),
    ];
    for (number, (name, usage)) in uses.iter().enumerate() {
        let first = (number * 10) as f32;
        let costs: Vec<usize> = (0..4)
            .map(|i| {
                usage(first + i as f32);
                launched(&log)
            })
            .collect();
        assert!(costs[2..].iter().all(|cost| *cost <= 8), "{name}: {costs:?}");
    }
}
