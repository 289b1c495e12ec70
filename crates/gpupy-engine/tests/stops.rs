//! Stops: at each command of an evaluation it is interrupted, or a launch fails, and nothing is lost.
//!
//! Programs of maps, writes to slices, reductions, library operations and work in host memory are evaluated, and
//! stopped after each number of questions, or by an error of each launch. Afterwards everything that the program holds
//! has the elements that it has without a stop.
#![allow(clippy::unwrap_used)]

mod failing;
mod fused;

use failing::Failing;
use fused::{Fused, Log};
use gpupy_core::driver::Driver;
use gpupy_core::{DType, ErrorKind, Op, Scalar};
use gpupy_engine::{Array, ArrayOrScalar, Context, Registry, Settings};
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const LEN: usize = 96;
const STEPS: usize = 9;

thread_local! {
    /// How often the hook below may be asked before it says stop.
    static PATIENCE: Cell<usize> = const { Cell::new(usize::MAX) };
}

fn impatient() -> bool {
    let left = PATIENCE.get();
    PATIENCE.set(left.saturating_sub(1));
    left == 0
}

/// The driver of a test.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// The reference, launch by launch.
    Soft,
    /// The reference, whose launches come in sequences.
    Sequences,
    /// Small maps alone, and blocks of 8 elements; the reference does the rest.
    Fused,
}

/// A context that may pause at each command, and whose launch of a number fails so.
fn context(kind: Kind, failing: (Arc<AtomicUsize>, ErrorKind)) -> Context {
    let log = Arc::new(Mutex::new(Log::default()));
    let made = move || -> Box<dyn Driver> {
        let inner: Box<dyn Driver> = match kind {
            Kind::Soft | Kind::Sequences => driver_soft::new(),
            Kind::Fused => Box::new(Fused::new(6, usize::MAX, log.clone())),
        };
        let max_launches = if let Kind::Sequences = kind { 5 } else { 0 };
        Box::new(Failing { inner, left: failing.0.clone(), kind: failing.1, max_launches })
    };
    let registry =
        Registry::new().register("failing", made).register(driver_soft::NAME, driver_soft::new);
    let (block_bytes, slice) = (if let Kind::Fused = kind { 32 } else { 0 }, Duration::ZERO);
    let settings = Settings { driver: "failing".into(), block_bytes, slice, ..Settings::default() };
    Context::new(registry, settings)
}

fn undisturbed(kind: Kind) -> Context {
    context(kind, (Arc::new(AtomicUsize::new(usize::MAX)), ErrorKind::Invalid))
}

fn read(context: &Context, array: &Array) -> Vec<u8> {
    context.read(array).unwrap().to_vec().unwrap()
}

fn both(context: &Context, op: Op, a: &Array, b: &Array) -> Array {
    context.apply(op, &[ArrayOrScalar::Array(a), ArrayOrScalar::Array(b)]).unwrap()
}

fn with(context: &Context, op: Op, a: &Array, scalar: f32) -> Array {
    context
        .apply(op, &[ArrayOrScalar::Array(a), ArrayOrScalar::Scalar(Scalar::f32(scalar))])
        .unwrap()
}

/// A program, which gives all that it holds at its end, what is read first before the others.
type Program = fn(&Context) -> Vec<Array>;

fn given(context: &Context) -> Array {
    let x = context.cast(&context.index(&[LEN], 0).unwrap(), DType::F32).unwrap();
    with(context, Op::Mul, &with(context, Op::Sub, &x, 40.0), 0.25)
}

/// A loop that writes to a slice and holds what it had some turns ago.
fn slices(context: &Context) -> Vec<Array> {
    let x = context.copy(&given(context)).unwrap();
    let mut held = Vec::new();
    for step in 0..STEPS {
        let beside = both(
            context,
            Op::Add,
            &x.slice_axis(0, 0, LEN - 2, 1),
            &x.slice_axis(0, 2, LEN - 2, 1),
        );
        let sum = both(
            context,
            Op::Add,
            &x.slice_axis(0, 1, LEN - 2, 1),
            &with(context, Op::Mul, &beside, 0.5),
        );
        context.assign(&x.slice_axis(0, 1, LEN - 2, 1), ArrayOrScalar::Array(&sum)).unwrap();
        if step % 4 == 1 {
            held.push(context.copy(&x).unwrap());
        }
    }
    held.insert(0, x);
    held
}

/// Turns that sum, and go on with what they summed.
fn sums(context: &Context) -> Vec<Array> {
    let mut x = given(context);
    let mut held = Vec::new();
    for _ in 0..STEPS {
        let square = both(context, Op::Mul, &x, &x);
        let highest = context.reduce(Op::Max, &square, &[0], false).unwrap();
        let sum = context.reduce(Op::Add, &x, &[0], false).unwrap();
        held.extend([highest.clone(), sum]);
        x = both(context, Op::Sub, &x, &with(context, Op::Mul, &highest, 0.01));
    }
    held.insert(0, x);
    held
}

/// Scans, sorts, products, and writes by a mask and by positions, which are done in host memory.
fn others(context: &Context) -> Vec<Array> {
    let x = given(context);
    let scanned = context.scan(Op::Add, &with(context, Op::Mul, &x, 0.5), 0).unwrap();
    let sorted = context.sort(&both(context, Op::Max, &x, &scanned), 0).unwrap();
    let square = sorted.view(&[8, 12], &[12, 1], 0).unwrap();
    let product = context.matmul(&square, &square.transpose(&[1, 0])).unwrap();
    let mask = context
        .apply(Op::Gt, &[ArrayOrScalar::Array(&x), ArrayOrScalar::Scalar(Scalar::f32(3.0))])
        .unwrap();
    let found = context.where_true(&mask).unwrap();
    let written = context.copy(&with(context, Op::Add, &sorted, 1.0)).unwrap();
    context
        .assign(&written.slice_axis(0, 5, 10, 3), ArrayOrScalar::Array(&x.slice_axis(0, 0, 10, 1)))
        .unwrap();
    let last = both(context, Op::Sub, &written, &scanned);
    vec![last, product, found, sorted, scanned]
}

const PROGRAMS: [(&str, Program); 3] = [("slices", slices), ("sums", sums), ("others", others)];

/// Reads everything, in one of two orders.
fn all(context: &Context, held: &[Array], backwards: bool) -> Vec<Vec<u8>> {
    let mut found: Vec<(usize, Vec<u8>)> = match backwards {
        true => held.iter().enumerate().rev().map(|(n, each)| (n, read(context, each))).collect(),
        false => held.iter().enumerate().map(|(n, each)| (n, read(context, each))).collect(),
    };
    found.sort_by_key(|(number, _)| *number);
    found.into_iter().map(|(_, bytes)| bytes).collect()
}

/// What a program gives if no launch fails.
fn without_failures(kind: Kind, program: Program) -> Vec<Vec<u8>> {
    let context = undisturbed(kind);
    let held = program(&context);
    all(&context, &held, false)
}

#[test]
fn an_evaluation_may_be_interrupted_at_each_command() {
    for kind in [Kind::Soft, Kind::Sequences, Kind::Fused] {
        for (name, program) in PROGRAMS {
            PATIENCE.set(usize::MAX);
            let wanted = without_failures(kind, program);
            let mut stops = 0;
            for patience in 0.. {
                let context = undisturbed(kind);
                context.set_interrupt(impatient);
                let held = program(&context);
                PATIENCE.set(patience);
                let done = context.read(&held[0]).map(drop);
                PATIENCE.set(usize::MAX);
                let backwards = patience % 2 == 1;
                assert!(all(&context, &held, backwards) == wanted, "{kind:?} {name} {patience}");
                match done {
                    Ok(()) => break,
                    Err(error) => assert_eq!(error.kind(), ErrorKind::Interrupted),
                }
                stops += 1;
            }
            // A sequence is one command.
            let least = if let Kind::Sequences = kind { 1 } else { 6 };
            assert!(stops >= least, "{kind:?} {name}: {stops} stops");
        }
    }
}

#[test]
fn each_launch_may_fail() {
    let kinds = [ErrorKind::Refused, ErrorKind::OutOfMemory, ErrorKind::Invalid];
    for kind in [Kind::Soft, Kind::Sequences, Kind::Fused] {
        for (name, program) in PROGRAMS {
            let wanted = without_failures(kind, program);
            for error in kinds {
                let mut failures = 0;
                for launch in 0.. {
                    let left = Arc::new(AtomicUsize::new(usize::MAX));
                    let context = context(kind, (left.clone(), error));
                    let held = program(&context);
                    left.store(launch, Ordering::Relaxed);
                    // What fails there may be done otherwise, or by another driver.
                    let _ = context.read(&held[0]);
                    let has_failed = left.swap(usize::MAX, Ordering::Relaxed) == usize::MAX;
                    let found = all(&context, &held, launch % 2 == 1);
                    assert!(found == wanted, "{kind:?} {name} {error:?} {launch}");
                    if !has_failed {
                        break;
                    }
                    failures += 1;
                }
                assert!(failures > 0, "{kind:?} {name} {error:?}");
            }
        }
    }
}

/// A flush that was known, and of which a launch failed, is known again as what it is: what was left of it is another
/// one.
#[test]
fn what_failed_is_done_right_the_next_times() {
    for kind in [Kind::Soft, Kind::Sequences, Kind::Fused] {
        for (name, program) in PROGRAMS {
            let wanted = without_failures(kind, program);
            for error in [ErrorKind::Refused, ErrorKind::OutOfMemory] {
                for launch in 0.. {
                    let left = Arc::new(AtomicUsize::new(usize::MAX));
                    let context = context(kind, (left.clone(), error));
                    let mut has_failed = false;
                    for time in 0..5 {
                        let held = program(&context);
                        if time == 2 {
                            left.store(launch, Ordering::Relaxed);
                        }
                        // It may fail with it.
                        let _ = context.read(&held[0]);
                        let asked = left.swap(usize::MAX, Ordering::Relaxed);
                        has_failed |= time == 2 && asked == usize::MAX;
                        let found = all(&context, &held, time % 2 == 1);
                        assert!(found == wanted, "{kind:?} {name} {error:?} {launch} {time}");
                    }
                    if !has_failed {
                        break;
                    }
                }
            }
        }
    }
}
