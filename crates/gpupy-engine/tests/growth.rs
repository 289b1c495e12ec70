//! What a view would compute more often than it has elements is stored first where that is cheaper, and only there.
#![allow(clippy::unwrap_used)]

mod fused;

use fused::{Fused, Log};
use gpupy_core::{DType, Op, Scalar};
use gpupy_engine::registry::Registry;
use gpupy_engine::{Array, ArrayOrScalar, Context, Settings};
use std::sync::{Arc, Mutex};

/// A costly expression, and a cheap one.
const LONG: usize = 100;
const SHORT: usize = 8;
/// Rows and columns: operations on all of their points are much more than a launch.
const ROWS: usize = 1200;
const COLUMNS: usize = 800;

fn context() -> (Context, Arc<Mutex<Log>>) {
    let log = Arc::new(Mutex::new(Log::default()));
    let seen = log.clone();
    let registry = Registry::new()
        .register("fused", move || Box::new(Fused::new(1000, usize::MAX, seen.clone())))
        .register(driver_soft::NAME, driver_soft::new);
    (Context::new(registry, Settings { driver: "fused".into(), ..Settings::default() }), log)
}

fn floats(shape: &[usize]) -> (Array, Vec<f32>) {
    let values: Vec<f32> = (0..shape.iter().product()).map(|i| (i % 37) as f32 / 8.0).collect();
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_ne_bytes()).collect();
    (Array::from_bytes(DType::F32, shape, &bytes).unwrap(), values)
}

/// So many operations on an array, and on numbers.
fn chain(
    context: &Context,
    (x, values): (Array, Vec<f32>),
    operations: usize,
) -> (Array, Vec<f32>) {
    (0..operations).fold((x, values), |(x, values), i| {
        // No one among them, which would be no operation.
        let by = 0.78125 + (i % 8) as f32 / 16.0;
        let (op, on): (Op, fn(f32, f32) -> f32) = match i % 2 {
            0 => (Op::Mul, |a, b| a * b),
            _ => (Op::Sub, |a, b| a - b),
        };
        let x = context
            .apply(op, &[ArrayOrScalar::Array(&x), ArrayOrScalar::Scalar(Scalar::f32(by))])
            .unwrap();
        (x, values.into_iter().map(|x| on(x, by)).collect())
    })
}

fn product(context: &Context, a: &Array, b: &Array) -> Array {
    context.apply(Op::Mul, &[ArrayOrScalar::Array(a), ArrayOrScalar::Array(b)]).unwrap()
}

/// Evaluates an array, which has these elements, and gives the launches and operations that it took.
fn check(context: &Context, log: &Mutex<Log>, array: &Array, wanted: &[f32]) -> (usize, usize) {
    *log.lock().unwrap() = Log { open: 1, ..Log::default() };
    let bytes = context.read(array).unwrap().to_vec().unwrap();
    let found = bytes.chunks_exact(4).map(|c| u32::from_ne_bytes(c.try_into().unwrap()));
    for (at, (found, wanted)) in found.zip(wanted).enumerate() {
        assert_eq!(found, wanted.to_bits(), "{} and {wanted} at {at}", f32::from_bits(found));
    }
    assert_eq!(bytes.len(), wanted.len() * 4);
    let log = log.lock().unwrap();
    (log.launches.len(), log.operations)
}

/// A column and a matrix of which it is every column's factor, with the products.
fn scaled(context: &Context, operations: usize) -> (Array, Vec<f32>) {
    let (column, by) = chain(context, floats(&[ROWS, 1]), operations);
    let (matrix, values) = floats(&[ROWS, COLUMNS]);
    let wanted = values.iter().enumerate().map(|(i, x)| by[i / COLUMNS] * x).collect();
    (product(context, &column.broadcast_to(&[ROWS, COLUMNS]).unwrap(), &matrix), wanted)
}

#[test]
fn a_costly_column_is_computed_once_for_each_row() {
    let (context, log) = context();
    let (scaled, wanted) = scaled(&context, LONG);
    let took = check(&context, &log, &scaled, &wanted);
    assert_eq!(took, (2, ROWS * LONG + ROWS * COLUMNS));
}

#[test]
fn a_cheap_column_is_computed_where_it_is_read() {
    let (context, log) = context();
    let (scaled, wanted) = scaled(&context, SHORT);
    assert_eq!(check(&context, &log, &scaled, &wanted).0, 1);
}

#[test]
fn a_costly_matrix_that_is_read_once_is_part_of_the_kernel() {
    let (context, log) = context();
    let (x, wanted) = chain(&context, floats(&[ROWS, COLUMNS]), LONG);
    assert_eq!(check(&context, &log, &x, &wanted), (1, ROWS * COLUMNS * LONG));
    let (x, values) = chain(&context, floats(&[ROWS, COLUMNS]), LONG);
    let turned = x.transpose(&[1, 0]);
    let wanted: Vec<f32> =
        (0..ROWS * COLUMNS).map(|i| values[i % ROWS * COLUMNS + i / ROWS] + 0.0).collect();
    let copied = context.copy(&turned).unwrap();
    assert_eq!(check(&context, &log, &copied, &wanted).0, 1);
}

#[test]
fn both_sides_of_an_outer_product_are_computed_once() {
    let (context, log) = context();
    let (x, xs) = chain(&context, floats(&[ROWS, 1]), LONG);
    let (y, ys) = chain(&context, floats(&[COLUMNS]), LONG + 2);
    let shape = [ROWS, COLUMNS];
    let outer =
        product(&context, &x.broadcast_to(&shape).unwrap(), &y.broadcast_to(&shape).unwrap());
    let wanted: Vec<f32> = xs.iter().flat_map(|x| ys.iter().map(move |y| x * y)).collect();
    let (launches, operations) = check(&context, &log, &outer, &wanted);
    assert_eq!(launches, 3);
    assert_eq!(operations, ROWS * LONG + COLUMNS * (LONG + 2) + ROWS * COLUMNS);
}

#[test]
fn repetitions_and_windows_of_a_costly_row_are_copied() {
    let (context, log) = context();
    let (x, values) = chain(&context, floats(&[COLUMNS]), LONG);
    let tiled = context.copy(&x.broadcast_to(&[ROWS, COLUMNS]).unwrap()).unwrap();
    let (_, operations) = check(&context, &log, &tiled, &values.repeat(ROWS));
    assert_eq!(operations, COLUMNS * LONG);
}

#[test]
fn a_costly_row_that_is_joined_to_itself_is_computed_once() {
    let (context, log) = context();
    let (x, values) = chain(&context, floats(&[COLUMNS]), LONG);
    let joined = context.join(0, &vec![x; ROWS]).unwrap();
    let (_, operations) = check(&context, &log, &joined, &values.repeat(ROWS));
    // What else there is finds the place in the row: a test and a selection for each part that one launch tells apart.
    let numbers = ROWS * COLUMNS * 2 * 8;
    assert!((COLUMNS * LONG..COLUMNS * LONG + numbers).contains(&operations), "{operations}");
    // As many elements of it as it has are computed where they are read.
    let (x, values) = chain(&context, floats(&[COLUMNS]), LONG);
    let halves = [COLUMNS / 2, 0].map(|first| x.slice_axis(0, first, COLUMNS / 2, 1));
    let turned = context.join(0, &halves).unwrap();
    let wanted = [&values[COLUMNS / 2..], &values[..COLUMNS / 2]].concat();
    let (launches, operations) = check(&context, &log, &turned, &wanted);
    assert_eq!(launches, 2);
    // A comparison, a selection and a sum find the place of an element.
    assert_eq!(operations, COLUMNS * (LONG + 3));
}

#[test]
fn a_sum_of_a_grown_map_is_still_one_kernel_with_it() {
    // The test's driver has no reductions.
    let context = Context::new(
        Registry::new().register(driver_soft::NAME, driver_soft::new),
        Settings::default(),
    );
    let (scaled, wanted) = scaled(&context, LONG);
    let sums = context.reduce(Op::Add, &scaled, &[1], false).unwrap();
    let bytes = context.read(&sums).unwrap().to_vec().unwrap();
    for (row, found) in bytes.chunks_exact(4).enumerate() {
        let wanted: f64 = wanted[row * COLUMNS..][..COLUMNS].iter().map(|x| f64::from(*x)).sum();
        let found = f64::from(f32::from_ne_bytes(found.try_into().unwrap()));
        assert!((found - wanted).abs() <= 1e-4 * wanted.abs().max(1.0), "{found} {wanted}");
    }
}
