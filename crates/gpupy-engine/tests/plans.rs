//! Plans: evaluations that look alike are planned once, and launch what planning would.
#![allow(clippy::unwrap_used)]

mod fused;

use fused::{Fused, Log};
use gpupy_core::{DType, Op, Scalar};
use gpupy_engine::registry::Registry;
use gpupy_engine::{Array, ArrayOrScalar, Context, Settings, Stats};
use std::sync::{Arc, Mutex};

/// A driver of whole maps, in host memory or with its own, beside the reference driver.
fn context(plans: bool, host: bool, limit: u32) -> (Context, Arc<Mutex<Log>>) {
    context_that_refuses(plans, host, limit, usize::MAX)
}

/// A context whose driver refuses launches of more operations than this.
fn context_that_refuses(
    plans: bool,
    host: bool,
    limit: u32,
    above: usize,
) -> (Context, Arc<Mutex<Log>>) {
    let log = Arc::new(Mutex::new(Log::default()));
    let seen = log.clone();
    let make = move || {
        let fused = Fused::new(limit, above, seen.clone());
        Box::new(if host { fused.host() } else { fused })
    };
    let registry = Registry::new()
        .register("fused", move || make())
        .register(driver_soft::NAME, driver_soft::new);
    (Context::new(registry, Settings { driver: "fused".into(), plans, ..Settings::default() }), log)
}

fn array(dtype: DType, shape: &[usize], first: usize) -> Array {
    let count = shape.iter().product::<usize>();
    let element = |k: usize| match dtype {
        DType::F32 => (((k * 7 + first) % 23) as f32 / 4.0 - 2.0).to_ne_bytes(),
        _ => (((k * 5 + first) % 19) as i32 - 9).to_ne_bytes(),
    };
    let bytes: Vec<u8> = (0..count).flat_map(element).collect();
    Array::from_bytes(dtype, shape, &bytes).unwrap()
}

fn two(context: &Context, op: Op, a: &Array, b: ArrayOrScalar<'_>) -> Array {
    context.apply(op, &[ArrayOrScalar::Array(a), b]).unwrap()
}

fn step(context: &Context, x: &Array, y: &Array, factor: f32) -> Array {
    let scaled = two(context, Op::Mul, x, ArrayOrScalar::Scalar(Scalar::f32(factor)));
    let x = two(context, Op::Add, &scaled, ArrayOrScalar::Array(y));
    context.evaluate(&[&x]).unwrap();
    x
}

#[test]
fn a_loop_plans_its_body_once() {
    for host in [true, false] {
        let (context, log) = context(true, host, 1000);
        let (y, mut x) = (array(DType::F32, &[3, 40], 1), array(DType::F32, &[3, 40], 2));
        let mut wanted = context.read(&x).unwrap().to_vec().unwrap();
        let plus = context.read(&y).unwrap().to_vec().unwrap();
        for number in 0..1000 {
            let factor = 0.5 + (number % 7) as f32 / 16.0;
            x = step(&context, &x, &y, factor);
            for (x, y) in wanted.as_chunks_mut::<4>().0.iter_mut().zip(plus.as_chunks::<4>().0) {
                *x = (f32::from_ne_bytes(*x) * factor + f32::from_ne_bytes(*y)).to_ne_bytes();
            }
        }
        assert_eq!(context.read(&x).unwrap().to_vec().unwrap(), wanted);
        let Stats { launches, plans_replayed, .. } = context.stats();
        // Of the two operands of a sum, the first is the one that was a value first.
        assert_eq!(launches, 1000);
        assert!(plans_replayed >= 998, "{plans_replayed}");
        assert!(log.lock().unwrap().programs.len() <= 2);
    }
}

/// Twelve operations on an array, so that a device of few takes several kernels for them, and their result.
fn long_step(context: &Context, x: &Array, turn: usize) -> Array {
    let mut y = x.clone();
    for number in 0..6 {
        let factor = 0.5 + ((turn + number) % 5) as f32 / 16.0;
        let scaled = two(context, Op::Mul, &y, ArrayOrScalar::Scalar(Scalar::f32(factor)));
        y = two(context, Op::Sub, &scaled, ArrayOrScalar::Array(x));
    }
    context.evaluate(&[&y]).unwrap();
    y
}

#[test]
fn a_body_of_several_kernels_is_planned_once() {
    for (host, limit, above) in [(true, 6, usize::MAX), (false, 6, usize::MAX), (true, 1000, 4)] {
        let [kept, anew] = [true, false].map(|plans| {
            let (context, log) = context_that_refuses(plans, host, limit, above);
            let mut x = array(DType::F32, &[3, 40], 2);
            let mut seen = Vec::new();
            for turn in 0..20 {
                x = long_step(&context, &x, turn);
                let log = log.lock().unwrap();
                seen.push((log.checks, log.refused, log.launches.len()));
            }
            (context.read(&x).unwrap().to_vec().unwrap(), seen, context.stats().plans_replayed)
        });
        assert_eq!(kept.0, anew.0, "the same bits");
        let launches =
            |seen: &[(usize, usize, usize)]| seen.iter().map(|s| s.2).collect::<Vec<_>>();
        assert_eq!(launches(&kept.1), launches(&anew.1));
        assert!(kept.1[0].2 > 1, "several kernels");
        // The device is asked, and refuses, in the first turns only.
        let (first, last) = (kept.1[1], kept.1[19]);
        assert_eq!((first.0, first.1), (last.0, last.1));
        assert!(kept.2 >= 18, "{} replays", kept.2);
        assert_eq!(anew.2, 0);
    }
}

#[test]
fn a_plan_that_is_refused_later_is_made_anew() {
    let (context, log) = context(true, true, 1000);
    let x = array(DType::F32, &[3, 40], 2);
    let wanted = context.read(&long_step(&context, &x, 0)).unwrap().to_vec().unwrap();
    log.lock().unwrap().refuse_above = Some(4);
    for _ in 0..3 {
        let y = long_step(&context, &array(DType::F32, &[3, 40], 2), 0);
        assert_eq!(context.read(&y).unwrap().to_vec().unwrap(), wanted);
    }
    // The plan of one kernel once; what was found then is remembered.
    let refused = log.lock().unwrap().refused;
    long_step(&context, &array(DType::F32, &[3, 40], 2), 0);
    assert_eq!(log.lock().unwrap().refused, refused);
}

/// Operands that differ in shape, dtype or layout from one pair to the next, and one operand twice.
fn pairs() -> Vec<(Array, Array)> {
    let long = |dtype| array(dtype, &[4, 40], 0);
    let twice = long(DType::F32);
    vec![
        (long(DType::F32), long(DType::F32)),
        (array(DType::F32, &[4, 41], 0), array(DType::F32, &[4, 41], 0)),
        (long(DType::I32), long(DType::I32)),
        (long(DType::F32).transpose(&[1, 0]), array(DType::F32, &[40, 4], 3)),
        (long(DType::F32).slice_axis(1, 39, 40, -1), long(DType::F32)),
        (twice.clone(), twice),
    ]
}

#[test]
fn another_shape_or_dtype_or_layout_or_way_of_sharing_is_planned() {
    let (context, _) = context(true, true, 1000);
    for turn in 0..2 {
        for (number, (x, y)) in pairs().iter().enumerate() {
            let before = context.stats().plans_replayed;
            context.evaluate(&[&two(&context, Op::Sub, x, ArrayOrScalar::Array(y))]).unwrap();
            assert_eq!(context.stats().plans_replayed - before, turn, "pair {number}");
        }
    }
}

#[test]
fn trimming_forgets_plans() {
    let (context, _) = context(true, true, 1000);
    let x = array(DType::F32, &[4, 40], 0);
    for (trims, replayed) in [(false, 0), (false, 1), (true, 1), (false, 2)] {
        if trims {
            context.trim().unwrap();
        }
        context
            .evaluate(&[&two(&context, Op::Sub, &x, ArrayOrScalar::Scalar(Scalar::f32(1.0)))])
            .unwrap();
        assert_eq!(context.stats().plans_replayed, replayed);
    }
}

#[test]
fn values_that_are_computed_together_are_planned_once() {
    let run = |plans| {
        let (context, log) = context(plans, true, 1000);
        let mut read = Vec::new();
        for turn in 0..3 {
            let x = array(DType::F32, &[3, 40], turn);
            let mut common = x.clone();
            for k in 0..20 {
                let less =
                    two(&context, Op::Sub, &common, ArrayOrScalar::Scalar(Scalar::f32(k as f32)));
                common = two(&context, Op::Max, &less, ArrayOrScalar::Array(&x));
            }
            let factor = |k: usize| ArrayOrScalar::Scalar(Scalar::f32((5 * turn + k) as f32));
            let channels: Vec<Array> =
                (2..5).map(|k| two(&context, Op::Mul, &common, factor(k))).collect();
            read.extend(
                channels.iter().map(|channel| context.read(channel).unwrap().to_vec().unwrap()),
            );
        }
        let launches = log.lock().unwrap().launches.clone();
        ((read, launches), context.stats().plans_replayed)
    };
    let ((kept, replayed), (anew, none)) = (run(true), run(false));
    assert_eq!(kept, anew);
    assert_eq!((kept.1.len(), replayed, none), (3, 2, 0));
}

/// Numbers for random programs.
struct Random(u64);

impl Random {
    fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }
}

/// A random program, three times, each time with other scalars and other elements: all that was read.
fn random(context: &Context, seed: u64) -> Vec<Vec<u8>> {
    let mut read = Vec::new();
    for turn in 0..3 {
        let mut random = Random(seed);
        let shape = [2 + random.below(3), 20 + random.below(30)];
        let mut all: Vec<Array> =
            (0..3).map(|k| array(DType::F32, &shape, 11 * turn + k)).collect();
        for _ in 0..2 + random.below(14) {
            let x = all[random.below(all.len())].clone();
            let y = all[random.below(all.len())].clone();
            let scalar = Scalar::f32((turn + random.below(5)) as f32 / 2.0 - 1.0);
            let next = match random.below(16) {
                0 => two(context, Op::Mul, &x, ArrayOrScalar::Scalar(scalar)),
                1 => two(context, Op::Add, &x, ArrayOrScalar::Scalar(scalar)),
                2 => two(context, Op::Max, &x, ArrayOrScalar::Array(&y)),
                3 => two(context, Op::Sub, &x, ArrayOrScalar::Array(&y)),
                4 => two(
                    context,
                    Op::Add,
                    &x,
                    ArrayOrScalar::Array(&y.slice_axis(1, shape[1] - 1, shape[1], -1)),
                ),
                5 => {
                    let first = y.slice_axis(0, random.below(shape[0]), 1, 1);
                    two(context, Op::Mul, &x, ArrayOrScalar::Array(&first))
                }
                6 => {
                    let sum = context.reduce(Op::Add, &y, &[1], true).unwrap();
                    two(context, Op::Add, &x, ArrayOrScalar::Array(&sum))
                }
                7 => {
                    let part = x.slice_axis(1, 1, shape[1] - 2, 1);
                    let twice = two(context, Op::Add, &part, ArrayOrScalar::Array(&part));
                    let written = context.copy(&y).unwrap();
                    context
                        .assign(
                            &written.slice_axis(1, 2, shape[1] - 2, 1),
                            ArrayOrScalar::Array(&twice),
                        )
                        .unwrap();
                    written
                }
                8 => {
                    let index = context.index(&shape, random.below(2)).unwrap();
                    let index = context.cast(&index, DType::F32).unwrap();
                    two(context, Op::Add, &x, ArrayOrScalar::Array(&index))
                }
                9 => {
                    let cut = 1 + random.below(shape[1] - 1);
                    let ends = [(cut, shape[1] - cut), (0, cut)];
                    let parts = ends.map(|(first, count)| y.slice_axis(1, first, count, 1));
                    two(
                        context,
                        Op::Add,
                        &context.join(1, &parts).unwrap(),
                        ArrayOrScalar::Array(&x),
                    )
                }
                10 => context
                    .scan(Op::Add, &two(context, Op::Max, &x, ArrayOrScalar::Array(&y)), 1)
                    .unwrap(),
                11 => context.sort(&x, 1).unwrap(),
                12 => {
                    let product = context.matmul(&x, &y.transpose(&[1, 0])).unwrap();
                    two(context, Op::Add, &x, ArrayOrScalar::Array(&product.slice_axis(1, 0, 1, 1)))
                }
                // One number everywhere, but for the written elements.
                13 => {
                    let same = Scalar::f32(random.below(3) as f32);
                    let written = context.full(&shape, same).unwrap();
                    let part = written.slice_axis(1, random.below(9), 11, 1);
                    let source = x.slice_axis(1, 3, 11, 1);
                    let scaled = two(context, Op::Mul, &source, ArrayOrScalar::Scalar(scalar));
                    context.assign(&part, ArrayOrScalar::Array(&scaled)).unwrap();
                    two(context, Op::Sub, &written, ArrayOrScalar::Scalar(same))
                }
                14 => {
                    let written =
                        context.copy(&two(context, Op::Add, &x, ArrayOrScalar::Array(&y))).unwrap();
                    let part = written.slice_axis(1, random.below(9), 11, 1);
                    context.assign(&part, ArrayOrScalar::Scalar(scalar)).unwrap();
                    written
                }
                _ => {
                    let test = two(context, Op::Lt, &x, ArrayOrScalar::Scalar(scalar));
                    context
                        .apply(
                            Op::Select,
                            &[
                                ArrayOrScalar::Array(&test),
                                ArrayOrScalar::Array(&x),
                                ArrayOrScalar::Array(&y),
                            ],
                        )
                        .unwrap()
                }
            };
            if random.below(4) == 0 {
                context.evaluate(&[&next]).unwrap();
            }
            // Some are dropped, so that their blocks may be taken.
            let place = random.below(all.len() + 1);
            if place < all.len() { all[place] = next } else { all.push(next) }
        }
        read.extend(all.iter().map(|array| context.read(array).unwrap().to_vec().unwrap()));
    }
    read
}

/// What was done besides planning, which is counted as in other counts.
fn done(stats: Stats, planned: Stats) -> Stats {
    let Stats { plans_replayed, flushes_replayed, flushes_not_kept, nodes_walked, .. } = planned;
    Stats { plans_replayed, flushes_replayed, flushes_not_kept, nodes_walked, ..stats }
}

#[test]
fn random_programs_have_the_same_bits_and_launches_with_plans_and_without() {
    let (mut walks, mut flushes) = (0, 0);
    for seed in 0..6000 {
        for (host, limit) in [(true, 1000), (false, 1000), (true, 6)] {
            let [kept, anew] = [true, false].map(|plans| {
                let (context, log) = context(plans, host, limit);
                let read = random(&context, seed);
                let log = log.lock().unwrap();
                let seen = (log.launches.clone(), log.copied, log.programs.clone(), log.allocated);
                (read, seen, context.stats())
            });
            assert_eq!(kept.0, anew.0, "seed {seed}");
            assert_eq!(kept.1, anew.1, "seed {seed}");
            // A flush that is replayed is not walked.
            assert_eq!(done(kept.2, anew.2), anew.2, "seed {seed}");
            walks += kept.2.plans_replayed;
            flushes += kept.2.flushes_replayed;
        }
    }
    assert!(walks > 1000, "{walks} walks");
    assert!(flushes > 1000, "{flushes} flushes");
}

#[test]
fn random_programs_of_all_forms_are_replayed_as_they_are_planned() {
    let mut flushes = 0;
    // In the last one, what is left of a walk when it is cut reads what a step before it gives.
    for seed in (0..400).chain([595]) {
        // Arrays of one block, of several, and where there is room for few.
        for (block_bytes, device_bytes) in [(0, 0), (256, 0), (128, 4096)] {
            let [kept, anew] = [true, false].map(|plans| {
                let registry = Registry::new().register(driver_soft::NAME, driver_soft::new);
                let driver = driver_soft::NAME.into();
                let settings =
                    Settings { driver, plans, block_bytes, device_bytes, ..Settings::default() };
                let context = Context::new(registry, settings);
                (random(&context, seed), context.stats())
            });
            assert_eq!(kept.0, anew.0, "seed {seed}, blocks of {block_bytes}");
            let mut stats = done(kept.1, anew.1);
            if device_bytes > 0 {
                // Which block goes depends on how many there are at the moment.
                let Stats { launches, blocks_evaluated, instructions, in_place, .. } = stats;
                stats = Stats { launches, blocks_evaluated, instructions, in_place, ..anew.1 };
            }
            assert_eq!(stats, anew.1, "seed {seed}, blocks of {block_bytes}");
            flushes += kept.1.flushes_replayed;
        }
    }
    assert!(flushes > 1000, "{flushes} flushes");
}
