//! The order of steps: each is behind what it reads, however they are found, and nothing is computed twice.
#![allow(clippy::unwrap_used)]

use gpupy_core::{DType, Op, Scalar};
use gpupy_engine::registry::Registry;
use gpupy_engine::{Array, ArrayOrScalar, Context, Placement, Settings, Stats};

/// A reference driver with blocks of so many bytes.
fn context(block_bytes: u64) -> Context {
    let registry = Registry::new().register(driver_soft::NAME, driver_soft::new);
    let driver = driver_soft::NAME.into();
    Context::new(
        registry,
        Settings { driver, block_bytes, placement: Placement::Strict, ..Settings::default() },
    )
}

fn floats(shape: &[usize], of: impl Fn(usize) -> f32) -> Array {
    let bytes: Vec<u8> = (0..shape.iter().product()).flat_map(|i| of(i).to_ne_bytes()).collect();
    Array::from_bytes(DType::F32, shape, &bytes).unwrap()
}

fn apply(context: &Context, op: Op, a: &Array, b: &Array) -> Array {
    context.apply(op, &[ArrayOrScalar::Array(a), ArrayOrScalar::Array(b)]).unwrap()
}

fn with(context: &Context, op: Op, a: &Array, scalar: f32) -> Array {
    context
        .apply(op, &[ArrayOrScalar::Array(a), ArrayOrScalar::Scalar(Scalar::f32(scalar))])
        .unwrap()
}

fn read(context: &Context, array: &Array) -> Vec<f32> {
    let bytes = context.read(array).unwrap().to_vec().unwrap();
    bytes.chunks_exact(4).map(|c| f32::from_ne_bytes(c.try_into().unwrap())).collect()
}

#[test]
fn a_long_reduction_finds_nothing_that_only_later_steps_give() {
    // The scan reads the doubled numbers, and the sums of their chunks, which are found before the numbers are.
    for n in [999, 4096, 5000] {
        let context = context(256);
        let doubled = with(&context, Op::Mul, &floats(&[n], |i| (i % 7) as f32), 2.0);
        let sums = context.scan(Op::Add, &doubled, 0).unwrap();
        let last = with(&context, Op::Add, &sums, 1.0);
        let mut sum = 0.0;
        let wanted: Vec<f32> = (0..n)
            .map(|i| {
                sum += (i % 7) as f32 * 2.0;
                sum + 1.0
            })
            .collect();
        assert_eq!(read(&context, &last), wanted, "{n}");
    }
}

#[test]
fn what_a_step_stores_on_the_way_is_read_by_those_behind_it() {
    // On a driver of one operation a launch, the differences are stored for the squares, and wanted once more.
    let context = context(0);
    let x = floats(&[4, 60], |i| (i * i % 31) as f32);
    let mean =
        with(&context, Op::Mul, &context.reduce(Op::Add, &x, &[1], true).unwrap(), 1.0 / 60.0);
    let apart = apply(&context, Op::Sub, &x, &mean);
    let squares = apply(&context, Op::Mul, &apart, &apart);
    let spread = context.reduce(Op::Add, &squares, &[1], true).unwrap();
    let normal = apply(&context, Op::Div, &apart, &spread);
    drop((mean, apart, squares, spread));
    let before = context.stats().instructions;
    let all = read(&context, &normal);
    assert_eq!(
        context.stats().instructions - before,
        4,
        "a product, a difference, a square, a quotient"
    );
    let row: f32 = all[..60].iter().sum();
    assert!(row.abs() < 1e-3, "{row}");
}

#[test]
fn more_steps_than_are_found_at_a_time_are_done_in_order() {
    // Each turn needs the sum of the one before: 300 reductions, one behind the other, of tiles and of one block.
    for block_bytes in [0, 64] {
        let context = context(block_bytes);
        let mut x = floats(&[40], |i| i as f32);
        let mut wanted: Vec<f32> = (0..40).map(|i| i as f32).collect();
        for _ in 0..300 {
            let high = context.reduce(Op::Max, &x, &[0], true).unwrap();
            x = apply(&context, Op::Sub, &high, &x);
            let high = wanted.iter().copied().fold(f32::MIN, f32::max);
            wanted.iter_mut().for_each(|w| *w = high - *w);
        }
        assert_eq!(read(&context, &x), wanted, "{block_bytes}");
    }
}

#[test]
fn blocks_of_a_joined_value_read_what_is_computed_before_all_of_them() {
    let turns = |turns: usize| -> (Vec<f32>, Stats) {
        let context = context(0);
        let mut x = floats(&[20, 30], |i| (i * 7 % 13) as f32);
        for _ in 0..turns {
            let rolled = |axis: usize, by: usize| {
                let n = x.shape()[axis];
                let parts = [x.slice_axis(axis, n - by, by, 1), x.slice_axis(axis, 0, n - by, 1)];
                context.join(axis, &parts).unwrap()
            };
            let pair = apply(&context, Op::Add, &rolled(0, 1), &rolled(1, 1));
            x = with(&context, Op::Mul, &pair, 0.5);
        }
        (read(&context, &x), context.stats())
    };
    let (one, two, five) = (turns(1), turns(2), turns(5));
    let at = |x: &[f32], i: usize, j: usize| x[(i + 20) % 20 * 30 + (j + 30) % 30];
    let mut x: Vec<f32> = (0..600).map(|i| (i * 7 % 13) as f32).collect();
    for turn in 1..=5 {
        x = (0..600)
            .map(|k| (k / 30, k % 30))
            .map(|(i, j)| (at(&x, i + 19, j) + at(&x, i, j + 29)) / 2.0)
            .collect();
        match turn {
            1 => assert_eq!(one.0, x),
            2 => assert_eq!(two.0, x),
            5 => assert_eq!(five.0, x),
            _ => {}
        }
    }
    // A turn more is as much work as the one before it.
    let more = two.1.instructions - one.1.instructions;
    assert_eq!(five.1.instructions - two.1.instructions, 3 * more);
}
