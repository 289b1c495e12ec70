//! Devices with room for a few blocks: launches that read less before values are cut smaller, views that share a
//! block, and values that are cut as at first once that is paid for.
#![allow(clippy::unwrap_used)]

mod fused;

use fused::{Fused, Log};
use gpupy_core::{DType, Op, Scalar};
use gpupy_engine::registry::Registry;
use gpupy_engine::{Array, ArrayOrScalar, Context, Settings};
use std::sync::{Arc, Mutex};

/// Elements of an array, and its bytes.
const LEN: usize = 2048;
const BYTES: u64 = 4 * LEN as u64;

/// A device with room for so many bytes.
fn context(room: u64) -> Context {
    let log = Arc::new(Mutex::new(Log::default()));
    let fused = move || Box::new(Fused::new(1000, usize::MAX, log.clone()).with_room(room)) as _;
    let registry =
        Registry::new().register("fused", fused).register(driver_soft::NAME, driver_soft::new);
    let settings =
        Settings { driver: "fused".into(), driver_fallback: false, ..Settings::default() };
    Context::new(registry, settings)
}

fn numbers(len: usize, seed: usize) -> Vec<f32> {
    (0..len).map(|k| ((k * (2 * seed + 3) + seed * 7) % 61) as f32).collect()
}

fn array(values: &[f32]) -> Array {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
    Array::from_bytes(DType::F32, &[values.len()], &bytes).unwrap()
}

fn read(context: &Context, array: &Array) -> Vec<f32> {
    let bytes = context.read(array).unwrap().to_vec().unwrap();
    bytes.chunks_exact(4).map(|c| f32::from_ne_bytes(c.try_into().unwrap())).collect()
}

fn op(context: &Context, op: Op, a: &Array, b: &Array) -> Array {
    context.apply(op, &[ArrayOrScalar::Array(a), ArrayOrScalar::Array(b)]).unwrap()
}

/// The least of the squares of these, and a sum that says where: each turn reads one more array.
fn least(context: &Context, arrays: &[Array]) -> (Array, Array) {
    let mut found: Option<(Array, Array)> = None;
    for each in arrays {
        let square = op(context, Op::Mul, each, each);
        found = Some(match found {
            None => (square.clone(), square),
            Some((least, sum)) => {
                let less = op(context, Op::Min, &square, &least);
                let more = op(context, Op::Add, &sum, &op(context, Op::Mul, &less, &square));
                (less, more)
            }
        });
    }
    found.unwrap()
}

#[test]
fn a_launch_that_reads_more_than_there_is_room_for_is_cut_before_values_are() {
    const ARRAYS: usize = 13;
    let context = context(6 * BYTES);
    let mut launches = Vec::new();
    for turn in 0..4 {
        let given: Vec<Vec<f32>> = (0..ARRAYS).map(|n| numbers(LEN, n + turn)).collect();
        let arrays: Vec<Array> = given.iter().map(|values| array(values)).collect();
        let before = context.stats();
        let (_, sum) = least(&context, &arrays);
        let got = read(&context, &sum);
        let wanted = (0..LEN).map(|k| {
            let squares = given.iter().map(|values| values[k] * values[k]);
            let (mut least, mut sum) = (f32::NAN, 0.0);
            for (n, square) in squares.enumerate() {
                least = if n == 0 { square } else { square.min(least) };
                sum = if n == 0 { square } else { sum + least * square };
            }
            sum
        });
        assert_eq!(got, wanted.collect::<Vec<f32>>());
        launches.push(context.stats().launches - before.launches);
    }
    assert_eq!(context.stats().smaller_cuts, 0);
    // A launch for each array and each result at most, and as many each time.
    assert!(launches.iter().all(|count| *count <= 2 * ARRAYS as u64), "{launches:?}");
    assert_eq!(launches[1..], [launches[1]; 3]);
}

#[test]
fn views_of_a_cut_value_that_lie_close_together_are_one_block() {
    const SHIFTS: usize = 6;
    let context = context(2 * BYTES);
    let values = numbers(LEN + SHIFTS, 1);
    let given = array(&values);
    let shifted = |n| given.slice_axis(0, n, LEN, 1);
    let sum = (1..SHIFTS).fold(shifted(0), |sum, n| op(&context, Op::Add, &sum, &shifted(n)));
    let wanted: Vec<f32> = values.windows(SHIFTS).take(LEN).map(|all| all.iter().sum()).collect();
    assert_eq!(read(&context, &sum), wanted);
    let stats = context.stats();
    // Each tile reads a row of elements, not six views; some were brought for nothing before values were cut.
    let tiles = stats.launches;
    assert!(tiles > 1, "values were cut");
    assert!(stats.cache_misses <= 2 * tiles + SHIFTS as u64, "{stats:?}");
}

#[test]
fn values_are_cut_as_at_first_once_enough_was_done_since() {
    let context = context(5 * BYTES / 2);
    let launches = |run: &dyn Fn()| {
        let before = context.stats().launches;
        run();
        context.stats().launches - before
    };
    let one = || {
        let doubled = context.apply(
            Op::Mul,
            &[
                ArrayOrScalar::Array(&array(&numbers(LEN, 2))),
                ArrayOrScalar::Scalar(Scalar::f32(2.0)),
            ],
        );
        assert_eq!(read(&context, &doubled.unwrap())[3], 2.0 * numbers(LEN, 2)[3]);
    };
    assert_eq!(launches(&one), 1);
    let both = || {
        let sum = op(&context, Op::Add, &array(&numbers(LEN, 3)), &array(&numbers(LEN, 4)));
        assert_eq!(read(&context, &sum)[5], numbers(LEN, 3)[5] + numbers(LEN, 4)[5]);
    };
    both();
    assert_eq!(context.stats().smaller_cuts, 1);
    assert_eq!(launches(&one), 2);
    let turns = (0..100).find(|_| launches(&one) == 1).unwrap();
    assert!(turns > 3, "{turns}");
    assert_eq!(launches(&one), 1);
    // A program that fails whenever it may pays for it by what it does between.
    let before = context.stats();
    (0..100).for_each(|_| both());
    let after = context.stats();
    let cuts = after.smaller_cuts - before.smaller_cuts;
    assert!((1..=100 / 4).contains(&cuts), "{cuts}");
}
