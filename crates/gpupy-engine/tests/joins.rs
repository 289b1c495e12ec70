//! Joined values: parts behind each other are read where they lie.
#![allow(clippy::unwrap_used)]

mod fused;

use fused::{Fused, Log};
use gpupy_core::{DType, ErrorKind, Op};
use gpupy_engine::registry::Registry;
use gpupy_engine::{Array, ArrayOrScalar, Context, Settings};
use std::sync::{Arc, Mutex};

const N: usize = 12;

fn context() -> (Context, Arc<Mutex<Log>>) {
    let log = Arc::new(Mutex::new(Log::default()));
    let seen = log.clone();
    let registry = Registry::new()
        .register("fused", move || Box::new(Fused::new(1000, usize::MAX, seen.clone())));
    let settings = Settings { driver: "fused".into(), ..Settings::default() };
    (Context::new(registry, settings), log)
}

fn field() -> (Array, Vec<f32>) {
    let values: Vec<f32> = (0..N * N).map(|k| (k * k % 31) as f32).collect();
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
    (Array::from_bytes(DType::F32, &[N, N], &bytes).unwrap(), values)
}

fn read(context: &Context, array: &Array) -> Vec<f32> {
    let bytes = context.read(array).unwrap().to_vec().unwrap();
    bytes.chunks_exact(4).map(|c| f32::from_ne_bytes(c.try_into().unwrap())).collect()
}

/// What NumPy calls `roll`.
fn rolled(context: &Context, array: &Array, by: usize, axis: usize) -> Array {
    let n = array.shape()[axis];
    let end = array.slice_axis(axis, n - by, by, 1);
    let start = array.slice_axis(axis, 0, n - by, 1);
    context.join(axis, &[end, start]).unwrap()
}

fn sum(context: &Context, terms: &[Array]) -> Array {
    let add = |a: Array, b: &Array| {
        context.apply(Op::Add, &[ArrayOrScalar::Array(&a), ArrayOrScalar::Array(b)]).unwrap()
    };
    terms[1..].iter().fold(terms[0].clone(), add)
}

/// The sum of the eight neighbours on a torus.
fn neighbours(context: &Context, field: &Array) -> Array {
    let mut terms = Vec::new();
    for (down, right) in
        [(1, 0), (N - 1, 0), (0, 1), (0, N - 1), (1, 1), (1, N - 1), (N - 1, 1), (N - 1, N - 1)]
    {
        let moved = if down > 0 { rolled(context, field, down, 0) } else { field.clone() };
        terms.push(if right > 0 { rolled(context, &moved, right, 1) } else { moved });
    }
    sum(context, &terms)
}

#[test]
fn shifts_that_wrap_around_are_one_program_for_the_inside_and_the_edges() {
    let (context, log) = context();
    let (field, values) = field();
    let result = read(&context, &neighbours(&context, &field));
    for (at, got) in result.iter().enumerate() {
        let (y, x) = (at / N, at % N);
        let mut wanted = 0.0;
        for (down, right) in (0..9).map(|k| (k / 3 + N - 1, k % 3 + N - 1)).filter(|s| *s != (N, N))
        {
            wanted += values[(y + down) % N * N + (x + right) % N];
        }
        assert_eq!(*got, wanted, "at {y}, {x}");
    }
    // One launch, which stores nothing on the way.
    assert_eq!(log.lock().unwrap().launches.len(), 1);
}

#[test]
fn many_parts_are_computed_by_themselves_rather_than_cut_into_many_boxes() {
    let (context, log) = context();
    let (field, values) = field();
    let line = field.reshape(&[N * N]).unwrap();
    // Every other element, one by one: all boxes of two such values would be far too many.
    let ones = |from: usize| {
        let parts: Vec<_> =
            (0..300).map(|k| line.slice_axis(0, (k * 7 + from) % (N * N), 1, 1)).collect();
        context.join(0, &parts).unwrap()
    };
    let result = read(&context, &sum(&context, &[ones(0), ones(3)]));
    for (k, got) in result.iter().enumerate() {
        assert_eq!(*got, values[k * 7 % (N * N)] + values[(k * 7 + 3) % (N * N)]);
    }
    assert!(log.lock().unwrap().launches.len() < 1000);
}

#[test]
fn arrays_that_do_not_fit_are_not_joined() {
    let (context, _) = context();
    let (field, _) = field();
    let kind = |axis, arrays: &[Array]| context.join(axis, arrays).map(|_| ()).unwrap_err().kind();
    assert_eq!(kind(0, &[]), ErrorKind::Shape);
    assert_eq!(kind(2, std::slice::from_ref(&field)), ErrorKind::Index);
    assert_eq!(kind(1, &[field.clone(), field.slice_axis(0, 0, 3, 1)]), ErrorKind::Shape);
    let other = context.cast(&field, DType::I32).unwrap();
    assert_eq!(kind(0, &[field, other]), ErrorKind::DType);
}
