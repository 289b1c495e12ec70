//! Partitioning: where graphs are cut, and what happens when a device says no.
#![allow(clippy::unwrap_used)]

mod fused;

use fused::{Fused, Log};
use gpupy_core::driver::Driver;
use gpupy_core::{DType, ErrorKind, Op, Scalar};
use gpupy_engine::registry::Registry;
use gpupy_engine::{Array, ArrayOrScalar, Context, Settings};
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

fn context_with(limit: u32, refuse: usize, fallback: bool) -> (Context, Arc<Mutex<Log>>) {
    let log = Arc::new(Mutex::new(Log::default()));
    let seen = log.clone();
    let registry = Registry::new()
        .register("fused", move || Box::new(Fused::new(limit, refuse, seen.clone())))
        .register(driver_soft::NAME, driver_soft::new);
    let settings = Settings {
        driver: "fused".into(),
        driver_fallback: fallback,
        flush_operations: usize::MAX,
        ..Settings::default()
    };
    (Context::new(registry, settings), log)
}

fn context(limit: u32) -> (Context, Arc<Mutex<Log>>) {
    context_with(limit, usize::MAX, false)
}

fn floats(values: &[f32]) -> Array {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
    Array::from_bytes(DType::F32, &[values.len()], &bytes).unwrap()
}

fn read(context: &Context, array: &Array) -> Vec<f32> {
    let bytes = context.read(array).unwrap().to_vec().unwrap();
    bytes.chunks_exact(4).map(|c| f32::from_ne_bytes(c.try_into().unwrap())).collect()
}

fn op(context: &Context, op: Op, a: &Array, b: &Array) -> Array {
    context.apply(op, &[ArrayOrScalar::Array(a), ArrayOrScalar::Array(b)]).unwrap()
}

fn with(context: &Context, op: Op, a: &Array, scalar: f32) -> Array {
    context
        .apply(op, &[ArrayOrScalar::Array(a), ArrayOrScalar::Scalar(Scalar::f32(scalar))])
        .unwrap()
}

/// The distance map's recurrence on one axis: a repeating body with other constants each time.
fn distances(context: &Context, count: usize) -> (Array, Vec<f32>) {
    let x = context.cast(&context.index(&[5], 0).unwrap(), DType::F32).unwrap();
    let mut nearest: Option<Array> = None;
    let mut wanted = vec![f32::INFINITY; 5];
    for i in 0..count {
        let at = ((i + 1) as f32 * 0.37).sin() * 9.0;
        let d = with(context, Op::Sub, &x, at);
        let d = context
            .apply(Op::Sqrt, &[ArrayOrScalar::Array(&op(context, Op::Mul, &d, &d))])
            .unwrap();
        nearest = Some(match nearest {
            None => d,
            Some(before) => op(context, Op::Min, &d, &before),
        });
        for (k, w) in wanted.iter_mut().enumerate() {
            let d = ((k as f32 - at) * (k as f32 - at)).sqrt();
            *w = if d < *w { d } else { *w };
        }
    }
    (nearest.unwrap(), wanted)
}

#[test]
fn cuts_fall_on_the_repeating_body_so_that_few_programs_are_compiled() {
    let (context, log) = context(200);
    let (map, wanted) = distances(&context, 5000);
    assert_eq!(read(&context, &map), wanted);
    let log = log.lock().unwrap();
    assert!(log.programs.len() <= 3, "{} programs", log.programs.len());
    // Exact checks are few: most pieces are known to fit by their bound.
    assert!(log.checks < 20 * log.launches.len(), "{} checks", log.checks);
    assert!(log.launches.iter().all(|count| *count <= 200));
}

#[test]
fn an_update_loop_read_at_its_end_compiles_few_programs() {
    let (context, log) = context(64);
    let y = floats(&[1.0, 2.0]);
    let mut x = floats(&[10.0, -4.0]);
    let mut wanted = vec![10.0f32, -4.0];
    for _ in 0..1000 {
        x = op(
            &context,
            Op::Add,
            &with(&context, Op::Mul, &x, 0.999),
            &with(&context, Op::Mul, &y, 0.001),
        );
        for (w, y) in wanted.iter_mut().zip([1.0f32, 2.0]) {
            *w = *w * 0.999 + y * 0.001;
        }
    }
    assert_eq!(read(&context, &x), wanted);
    {
        let log = log.lock().unwrap();
        assert!(log.programs.len() <= 3, "{} programs: {:?}", log.programs.len(), log.launches);
    }
    // What was evaluated on the way is gone: x, y and at most what reading left.
    assert!(context.stats().blocks <= 3, "{} blocks", context.stats().blocks);
}

/// Newton's method for the cube root of 1, as often, from these values.
fn newton(context: &Context, count: usize, values: &[f32]) -> (Array, Vec<f32>) {
    let mut x = floats(values);
    let mut wanted = values.to_vec();
    for _ in 0..count {
        let square = op(context, Op::Mul, &x, &x);
        let cube = with(context, Op::Sub, &op(context, Op::Mul, &square, &x), 1.0);
        let step = op(context, Op::Div, &cube, &with(context, Op::Mul, &square, 3.0));
        x = op(context, Op::Sub, &x, &step);
        wanted.iter_mut().for_each(|w| *w -= (*w * *w * *w - 1.0) / (*w * *w * 3.0));
    }
    (x, wanted)
}

/// The least of so many arrays, and the number of the first that has it: both are held on the way, so that pieces are
/// cut out of others that were found to fit before.
fn least_of(context: &Context, count: usize) -> (Array, Vec<f32>) {
    let values = |k: usize| [((k * 7) % 31) as f32, ((k * 11 + 5) % 29) as f32];
    let (mut least, mut chosen) = (floats(&values(0)), floats(&[0.0, 0.0]));
    let mut wanted = [(values(0)[0], 0.0f32), (values(0)[1], 0.0)];
    for k in 1..count {
        let one = floats(&values(k));
        let is_less = op(context, Op::Lt, &one, &least);
        chosen = context
            .apply(
                Op::Select,
                &[
                    ArrayOrScalar::Array(&is_less),
                    ArrayOrScalar::Scalar(Scalar::f32(k as f32)),
                    ArrayOrScalar::Array(&chosen),
                ],
            )
            .unwrap();
        least = op(context, Op::Min, &least, &one);
        for (best, value) in wanted.iter_mut().zip(values(k)) {
            if value < best.0 {
                *best = (value, k as f32);
            }
        }
    }
    (chosen, wanted.map(|(_, number)| number).to_vec())
}

#[test]
fn no_piece_reads_more_operands_than_the_device_takes() {
    for (operands, limit) in [(8, 4096), (12, 40), (20, 64), (31, 1536), (40, 200)] {
        let log = Arc::new(Mutex::new(Log::default()));
        let seen = log.clone();
        let driver = move || {
            let fused = Fused::new(limit, usize::MAX, seen.clone()).of_operands(operands);
            Box::new(fused) as Box<dyn Driver>
        };
        let registry = Registry::new().register("fused", driver);
        let settings = Settings {
            driver: "fused".into(),
            driver_fallback: false,
            flush_operations: usize::MAX,
            ..Settings::default()
        };
        let context = Context::new(registry, settings);
        for count in [20, 49, 120] {
            let (chosen, wanted) = least_of(&context, count);
            assert_eq!(read(&context, &chosen), wanted, "{operands} operands, {count} arrays");
            assert_eq!(log.lock().unwrap().oversized, 0, "{operands} operands, {count} arrays");
        }
    }
}

#[test]
fn turns_that_read_the_last_one_several_times_are_counted_once() {
    for (limit, count, most) in [(4096, 500, 2), (64, 200, 4)] {
        let (context, log) = context(limit);
        let (x, wanted) = newton(&context, count, &[0.5, 2.0, 7.5]);
        assert_eq!(read(&context, &x), wanted);
        let log = log.lock().unwrap();
        let launches = log.launches.len();
        // A program is built to be asked about where a piece is cut, not for each node of it.
        assert!(log.checks <= most * launches, "{} checks, {launches} launches", log.checks);
        assert!(
            log.oversized == 0 && launches >= 6 * count / limit as usize,
            "{launches} launches"
        );
    }
}

#[test]
fn a_costly_node_of_many_pieces_is_evaluated_once() {
    let (context, log) = context(40);
    let mut shared = floats(&[0.5, 1.5, 2.5]);
    for i in 0..30 {
        shared = with(&context, Op::Mul, &shared, 1.5 + i as f32 / 1024.0);
    }
    let mut sum = with(&context, Op::Add, &shared, 1.0);
    for i in 0..6 {
        let mut term = shared.clone();
        for k in 0..20 {
            term = with(&context, Op::Add, &term, (i * 20 + k) as f32);
        }
        sum = op(&context, Op::Add, &sum, &term);
    }
    read(&context, &sum);
    let total: usize = log.lock().unwrap().launches.iter().sum();
    // 30 shared operations once, and 127 others.
    assert_eq!(total, 157);
}

#[test]
fn one_piece_is_one_launch_when_it_fits() {
    let (context, log) = context(1000);
    let (map, wanted) = distances(&context, 100);
    assert_eq!(read(&context, &map), wanted);
    assert_eq!(log.lock().unwrap().launches.len(), 1);
}

#[test]
fn a_refused_piece_is_split_before_anything_falls_back() {
    let (context, log) = context_with(1000, 60, false);
    let (map, wanted) = distances(&context, 100);
    assert_eq!(read(&context, &map), wanted);
    let log = log.lock().unwrap();
    assert!(log.launches.len() > 1 && log.launches.iter().all(|count| *count <= 60));
    assert_eq!(context.stats().driver_fallbacks, 0);
}

#[test]
fn what_a_device_refuses_even_alone_goes_to_the_next_driver() {
    let (context, _) = context_with(1000, 0, true);
    let (map, wanted) = distances(&context, 3);
    assert_eq!(read(&context, &map), wanted);
    assert!(context.stats().driver_fallbacks > 0);
}

#[test]
fn a_failed_evaluation_loses_nothing_and_another_driver_succeeds() {
    let (context, _) = context_with(1000, 0, false);
    let (map, wanted) = distances(&context, 3);
    let error = context.read(&map).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Refused);
    assert_eq!(error.fact("driver"), Some("fused"));
    assert!(error.fact("operation").is_some(), "{error}");
    context.use_driver(driver_soft::NAME).unwrap();
    assert_eq!(read(&context, &map), wanted);
}

#[test]
fn a_form_that_a_driver_lacks_is_done_by_the_next_in_the_same_graph() {
    let (context, log) = context_with(1000, usize::MAX, true);
    let (map, wanted) = distances(&context, 10);
    let sum = context.reduce(Op::Add, &map, &[0], false).unwrap();
    let scaled = with(&context, Op::Mul, &sum, 2.0);
    let exact: f32 = wanted.iter().sum();
    assert!((read(&context, &scaled)[0] - 2.0 * exact).abs() < 1e-3);
    assert!(!log.lock().unwrap().launches.is_empty());
}

#[test]
fn what_is_pending_is_evaluated_by_itself() {
    let log = Arc::new(Mutex::new(Log::default()));
    let registry = Registry::new()
        .register("fused", move || Box::new(Fused::new(1000, usize::MAX, log.clone())));
    let settings = Settings { flush_operations: 50, ..Settings::default() };
    let context = Context::new(registry, settings);
    let flushes = || context.stats().automatic_flushes;
    // Behind what is not written there may be twice as many.
    let mut x = floats(&[1.0; 64]);
    for _ in 0..99 {
        x = with(&context, Op::Add, &x, 1.0);
    }
    assert_eq!(flushes(), 0);
    for _ in 0..200 {
        x = with(&context, Op::Add, &x, 1.0);
    }
    // What sets one off stays pending: it comes at 100, 199 and 298.
    assert_eq!(flushes(), 3);
    // Shared operations count once: 2^40 of them would be pending otherwise.
    let mut y = floats(&[0.5; 64]);
    for _ in 0..40 {
        y = op(&context, Op::Mul, &y, &y);
    }
    assert_eq!(flushes(), 3);
    // Nor do those that an old pending value was recorded before, or what was computed since.
    let old = with(&context, Op::Mul, &floats(&[3.0; 64]), 2.0);
    for k in 0..300 {
        read(&context, &with(&context, Op::Add, &floats(&[k as f32; 64]), 1.0));
    }
    let sum = op(&context, Op::Add, &old, &old);
    assert_eq!(flushes(), 3);
    // Behind what is written there are fewer.
    let z = context.copy(&floats(&[1.0; 64])).unwrap();
    for _ in 0..120 {
        let half = z.slice_axis(0, 0, 32, 1);
        context.assign(&half, ArrayOrScalar::Array(&with(&context, Op::Add, &half, 1.0))).unwrap();
    }
    assert!((5..=9).contains(&flushes()), "{}", flushes());
    assert_eq!(read(&context, &x)[63], 300.0);
    assert_eq!(read(&context, &sum)[0], 12.0);
    let written = read(&context, &z);
    assert_eq!((written[31], written[32]), (121.0, 1.0));
}

#[test]
fn pending_operations_do_not_keep_much_memory_alive() {
    let log = Arc::new(Mutex::new(Log::default()));
    let registry = Registry::new()
        .register("fused", move || Box::new(Fused::new(1000, usize::MAX, log.clone())));
    let settings = Settings { flush_bytes: 4096, ..Settings::default() };
    let context = Context::new(registry, settings);
    let mut x = floats(&[0.0; 64]);
    for i in 0..100 {
        // Each step's operand is held only by the graph.
        x = op(&context, Op::Add, &x, &floats(&[i as f32; 64]));
    }
    let flushes = context.stats().automatic_flushes;
    assert!((3..=20).contains(&flushes), "{flushes} flushes");
    let (kept, mut y) = (floats(&[1.0; 64]), floats(&[0.0; 64]));
    for _ in 0..100 {
        // What the user holds anyway does not count.
        y = op(&context, Op::Add, &y, &kept);
    }
    assert_eq!(context.stats().automatic_flushes, flushes);
    assert_eq!(read(&context, &x)[0], 4950.0);
    assert_eq!(read(&context, &y)[0], 100.0);
}

/// Three values that share a costly part, and nothing else that holds it.
fn channels(context: &Context) -> Vec<Array> {
    let (common, _) = distances(context, 20);
    (0..3).map(|i| with(context, Op::Mul, &common, i as f32 + 2.0)).collect()
}

#[test]
fn values_that_share_most_of_their_operations_are_one_launch() {
    let (context, log) = context(1000);
    let channels = channels(&context);
    let first = read(&context, &channels[0]);
    {
        let log = log.lock().unwrap();
        // The common part once: 20 times sub and mul; 19 minima; one root (of the least, not the
        // least of roots); a cast; and three products.
        assert_eq!(log.launches, [20 * 2 + 19 + 1 + 1 + 3]);
    }
    for (i, channel) in channels.iter().enumerate() {
        let wanted: Vec<f32> = first.iter().map(|x| x / 2.0 * (i as f32 + 2.0)).collect();
        assert_eq!(read(&context, channel), wanted);
    }
    assert_eq!(log.lock().unwrap().launches.len(), 1);
}

#[test]
fn siblings_that_do_not_fit_beside_it_leave_the_value_alone() {
    // The common part and one product fit; two more products do not.
    let (context, log) = context(62);
    let channels = channels(&context);
    for channel in &channels {
        read(&context, channel);
    }
    // What the second of them would compute again is stored first.
    assert_eq!(log.lock().unwrap().launches, [62, 61, 1, 1]);
}

#[test]
fn what_is_wanted_together_and_is_no_one_kernel_shares_what_it_has_in_common() {
    // The common part is two kernels, of which the last gives all that is wanted; both cast the index.
    let (halves, log) = context(40);
    let wanted = channels(&halves);
    halves.evaluate(&wanted.iter().collect::<Vec<_>>()).unwrap();
    assert_eq!(log.lock().unwrap().launches, [39, 26]);
    // With one product it is as large as may be: it is stored, and one kernel gives all products.
    let (context, log) = context(62);
    let channels = channels(&context);
    context.evaluate(&channels.iter().collect::<Vec<_>>()).unwrap();
    assert_eq!(log.lock().unwrap().launches, [61, 3]);
    for (channel, wanted) in channels.iter().zip(&wanted) {
        assert_eq!(read(&context, channel), read(&halves, wanted));
    }
}

#[test]
fn a_lost_device_takes_only_what_was_nowhere_else() {
    let (context, log) = context_with(1000, usize::MAX, true);
    let given = floats(&[1.0, 2.0]);
    let read_before = with(&context, Op::Mul, &given, 3.0);
    read(&context, &read_before);
    let only_there = with(&context, Op::Mul, &given, 5.0);
    context.evaluate(&[&only_there]).unwrap();
    let pending = op(&context, Op::Add, &given, &read_before);
    log.lock().unwrap().lost = true;
    assert_eq!(read(&context, &pending), [4.0, 8.0]);
    assert_eq!(read(&context, &read_before), [3.0, 6.0]);
    let error = context.read(&only_there).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Lost);
    // The device was opened again and serves what comes.
    assert_eq!(read(&context, &with(&context, Op::Mul, &given, 7.0)), [7.0, 14.0]);
    assert!(!log.lock().unwrap().lost);
}

/// The most blocks that live at once while a chain is computed that is cut into many pieces.
fn most_blocks(settings: Settings) -> (usize, Vec<f32>) {
    let log = Arc::new(Mutex::new(Log::default()));
    let seen = log.clone();
    let registry = Registry::new()
        .register("fused", move || Box::new(Fused::new(5, usize::MAX, seen.clone())));
    let context = Context::new(registry, settings);
    let mut x = context.cast(&context.index(&[64], 0).unwrap(), DType::F32).unwrap();
    for _ in 0..300 {
        x = with(&context, Op::Add, &op(&context, Op::Mul, &x, &x), 0.5);
        x = with(
            &context,
            Op::Mul,
            &context.apply(Op::Sqrt, &[ArrayOrScalar::Array(&x)]).unwrap(),
            0.75,
        );
    }
    let values = read(&context, &x);
    let most = log.lock().unwrap().most_blocks;
    (most, values)
}

#[test]
fn a_chain_in_many_pieces_takes_the_memory_of_few() {
    let (whole, values) = most_blocks(Settings::default());
    assert!(whole <= 4, "{whole} blocks");
    // In tiles: what one tile needed on the way is gone before the next.
    let (tiled, same) = most_blocks(Settings { block_bytes: 32, ..Settings::default() });
    assert!(tiled <= 8 + 4, "{tiled} blocks");
    assert_eq!(values, same);
}

/// Operations on two of the values before, counted from the newest.
fn graph(context: &Context, steps: &[(usize, usize, bool)]) -> Array {
    graphs(context, steps, &[steps.len()]).remove(0)
}

/// The values after so many of these operations.
fn graphs(context: &Context, steps: &[(usize, usize, bool)], lengths: &[usize]) -> Vec<Array> {
    let mut values = vec![floats(&[0.5, -1.25, 3.0]), floats(&[2.0, 0.75, -0.125])];
    for (a, b, is_min) in steps {
        let before = |k: &usize| values[values.len() - 1 - k % values.len()].clone();
        let kind = if *is_min { Op::Min } else { Op::Sub };
        let value = op(context, kind, &before(a), &before(b));
        values.push(value);
    }
    lengths.iter().map(|length| values[1 + length].clone()).collect()
}

proptest! {
    /// Values that are wanted together have the elements that each has alone, however they are cut.
    #[test]
    fn wanted_together_is_as_wanted_alone(
        steps in prop::collection::vec((0usize..12, 0usize..12, any::<bool>()), 2..90),
        wanted in prop::collection::vec(1usize..90, 1..5),
        limit in 4u32..40,
    ) {
        let lengths: Vec<usize> = wanted.iter().map(|few| 1 + few % steps.len()).collect();
        let (small, log) = context(limit);
        let together = graphs(&small, &steps, &lengths);
        small.evaluate(&together.iter().collect::<Vec<_>>()).unwrap();
        let (large, _) = context(u32::MAX);
        for (value, length) in together.iter().zip(&lengths) {
            prop_assert_eq!(read(&small, value), read(&large, &graph(&large, &steps[..*length])));
        }
        prop_assert_eq!(log.lock().unwrap().oversized, 0);
    }

    /// What several nodes read, and what is cut out of a piece, is counted neither too little nor too often to cut by.
    #[test]
    fn no_launch_is_larger_than_the_device_takes(
        steps in prop::collection::vec((0usize..12, 0usize..12, any::<bool>()), 1..90),
        limit in 4u32..30,
    ) {
        let (small, log) = context(limit);
        let found = read(&small, &graph(&small, &steps));
        let (large, whole) = context(u32::MAX);
        prop_assert_eq!(found, read(&large, &graph(&large, &steps)));
        prop_assert_eq!(log.lock().unwrap().oversized, 0);
        prop_assert!(whole.lock().unwrap().launches.len() <= 1);
    }
}

/// Operations of a turn of `weighted`.
const OF_TURN: usize = 20;

/// A sum of weighted terms and the sum of their weights, as of a bilateral filter: each weight is costly, and both read
/// it.
fn weighted(context: &Context, turns: usize) -> ([Array; 2], [Vec<f32>; 2]) {
    let values = [0.5f32, -0.25, 0.125];
    let x = floats(&values);
    let (mut total, mut weights) = (floats(&[0.0; 3]), floats(&[0.0; 3]));
    let mut wanted = [vec![0.0f32; 3], vec![0.0; 3]];
    for turn in 0..turns {
        let shift = turn as f32 / 64.0;
        let near = with(context, Op::Sub, &x, shift);
        let mut weight = near.clone();
        for _ in 0..OF_TURN - 4 {
            weight = with(context, Op::Mul, &weight, 1.0625);
        }
        total = op(context, Op::Add, &total, &op(context, Op::Mul, &weight, &near));
        weights = op(context, Op::Add, &weights, &weight);
        for (k, value) in values.iter().enumerate() {
            let near = value - shift;
            let weight = (0..OF_TURN - 4).fold(near, |weight, _| weight * 1.0625);
            wanted[0][k] += weight * near;
            wanted[1][k] += weight;
        }
    }
    ([total, weights], wanted)
}

#[test]
fn chains_that_share_their_terms_are_cut_across_all_of_them() {
    for limit in [50, 64, 200, 1000] {
        for turns in [10, 60, 61] {
            let (context, log) = context(limit);
            let ([total, weights], [terms, wanted]) = weighted(&context, turns);
            let ratio = op(&context, Op::Div, &total, &weights);
            let terms: Vec<f32> = terms.iter().zip(&wanted).map(|(a, b)| a / b).collect();
            assert_eq!(read(&context, &ratio), terms);
            let log = log.lock().unwrap();
            // No term is computed twice, and pieces are at least half as large as may be.
            let operations: usize = log.launches.iter().sum();
            assert!(operations <= turns * OF_TURN + 2 * log.launches.len(), "{:?}", log.launches);
            let most = 2 * turns * OF_TURN / (limit as usize - 6) + 2;
            assert!(log.launches.len() <= most, "{limit}: {:?}, {most}", log.launches);
            assert!(log.programs.len() <= 5, "{limit}: {} programs", log.programs.len());
        }
    }
}

#[test]
fn a_refused_piece_of_several_results_is_cut_into_pieces_of_one() {
    let (context, log) = context_with(200, 150, false);
    let ([total, weights], [terms, wanted]) = weighted(&context, 30);
    let ratio = op(&context, Op::Div, &total, &weights);
    let terms: Vec<f32> = terms.iter().zip(&wanted).map(|(a, b)| a / b).collect();
    assert_eq!(read(&context, &ratio), terms);
    assert!(log.lock().unwrap().refused > 0);
}

#[test]
fn sums_that_are_asked_for_together_compute_their_terms_once() {
    for limit in [64, 200] {
        let (context, log) = context(limit);
        let turns = 60;
        let ([total, weights], [terms, wanted]) = weighted(&context, turns);
        context.evaluate(&[&total, &weights]).unwrap();
        let operations: usize = log.lock().unwrap().launches.iter().sum();
        assert!(operations < turns * OF_TURN * 11 / 10, "{operations} of {}", turns * OF_TURN);
        assert_eq!(read(&context, &total), terms);
        assert_eq!(read(&context, &weights), wanted);
    }
}
