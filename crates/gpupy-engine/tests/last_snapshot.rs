//! A request for counts or drivers waits for no evaluation of another thread.
#![allow(clippy::unwrap_used)]

mod fused;

use fused::{Fused, Log};
use gpupy_core::{DType, Op, Scalar};
use gpupy_engine::registry::Registry;
use gpupy_engine::{Array, ArrayOrScalar, Context, Settings, Stats};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What takes longer hangs.
const LIMIT: Duration = Duration::from_secs(60);

fn more(context: &Context, x: &Array) -> Array {
    context
        .apply(Op::Add, &[ArrayOrScalar::Array(x), ArrayOrScalar::Scalar(Scalar::f32(1.0))])
        .unwrap()
}

/// Counts of the whole, those of each driver, and how many drivers there are.
type Told = (Stats, Vec<(&'static str, Stats)>, usize);

#[test]
fn counts_and_drivers_are_told_while_another_thread_evaluates() {
    let log = Arc::new(Mutex::new(Log::default()));
    let seen = log.clone();
    let registry = Registry::new()
        .register("fused", move || Box::new(Fused::new(1000, usize::MAX, seen.clone())));
    let context =
        Context::new(registry, Settings { driver: "fused".into(), ..Settings::default() });
    let x = context.cast(&context.index(&[100], 0).unwrap(), DType::F32).unwrap();
    context.read(&more(&context, &x)).unwrap();
    let (before, drivers) = (context.stats(), context.drivers().unwrap().len());
    assert_eq!(before.launches, 1);
    // The driver writes into its log, so it waits as long as this has it.
    let held = log.lock().unwrap();
    let (evaluating, later) = (context.clone(), more(&context, &more(&context, &x)));
    let evaluation = std::thread::spawn(move || evaluating.read(&later).unwrap().to_vec().unwrap());
    let (sender, told) = channel();
    let asking = context.clone();
    std::thread::spawn(move || {
        let began = Instant::now();
        // Until the evaluation has begun, there is nothing to wait for.
        while began.elapsed() < Duration::from_millis(200) {
            sender
                .send((asking.stats(), asking.driver_stats(), asking.drivers().unwrap().len()))
                .unwrap();
        }
    });
    let mut all: Vec<Told> = Vec::new();
    while let Ok(found) = told.recv_timeout(LIMIT) {
        all.push(found);
    }
    let (stats, split, count) = all.last().unwrap();
    assert_eq!((stats.launches, *count), (1, drivers));
    assert_eq!((split[0].0, split[0].1.launches), ("fused", 1));
    assert!(!evaluation.is_finished());
    drop(held);
    assert_eq!(evaluation.join().unwrap().len(), 400);
    assert_eq!(context.stats().launches, 2, "and those of now, when nothing is evaluated");
}
