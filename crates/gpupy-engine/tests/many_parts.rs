//! What is joined of many parts takes memory and launches as the parts do, however they are joined: what walks
//! over all parts for each part shows in the bytes that are allocated.
#![allow(clippy::unwrap_used)]

use gpupy_core::{DType, Op, Scalar};
use gpupy_engine::registry::Registry;
use gpupy_engine::{Array, ArrayOrScalar, Context, Settings};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Bytes that this thread has allocated.
    static BYTES: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is forwarded to the system's allocator; counting touches no memory of it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = BYTES.try_with(|bytes| bytes.set(bytes.get() + layout.size()));
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, which the system's allocator shares.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `GlobalAlloc`, which the system's allocator shares.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Elements of a part.
const EACH: usize = 4;

fn part(k: usize) -> Array {
    let bytes: Vec<u8> = (0..EACH).flat_map(|i| ((k * EACH + i) as f32).to_ne_bytes()).collect();
    Array::from_bytes(DType::F32, &[EACH], &bytes).unwrap()
}

fn add(context: &Context, array: &Array, number: f32) -> Array {
    context
        .apply(Op::Add, &[ArrayOrScalar::Array(array), ArrayOrScalar::Scalar(Scalar::f32(number))])
        .unwrap()
}

type Joined = fn(&Context, Vec<Array>) -> Array;

/// Checks the elements; gives the bytes that were allocated and the launches.
fn cost(joined: Joined, n: usize) -> (usize, u64) {
    let registry = Registry::new().register(driver_soft::NAME, driver_soft::new);
    let settings = Settings { driver: driver_soft::NAME.into(), ..Settings::default() };
    let context = Context::new(registry, settings);
    let parts = (0..n).map(part).collect();
    let before = BYTES.get();
    let array = joined(&context, parts);
    let bytes = context.read(&array).unwrap().to_vec().unwrap();
    let cost = BYTES.get() - before;
    let found = bytes.chunks_exact(4).map(|c| f32::from_ne_bytes(c.try_into().unwrap()));
    assert!(found.eq((0..n * EACH).map(|i| i as f32 + 1.0)));
    (cost, context.stats().launches)
}

#[test]
fn many_parts_cost_as_much_each_as_few() {
    let ways: [(&str, Joined); 5] = [
        ("at once", |context, parts| add(context, &context.join(0, &parts).unwrap(), 1.0)),
        ("pending", |context, parts| {
            let parts: Vec<Array> = parts.iter().map(|part| add(context, part, 1.0)).collect();
            context.join(0, &parts).unwrap()
        }),
        ("as columns", |context, parts| {
            let column = |part: &Array| add(context, part, 1.0).insert_axis(1);
            let columns: Vec<Array> = parts.iter().map(column).collect();
            let joined = context.join(1, &columns).unwrap();
            let turned = context.copy(&joined.transpose(&[1, 0])).unwrap();
            turned.reshape(&[parts.len() * EACH]).unwrap()
        }),
        ("nested", |context, parts| {
            let tens: Vec<Array> =
                parts.chunks(10).map(|ten| context.join(0, ten).unwrap()).collect();
            add(context, &context.join(0, &tens).unwrap(), 1.0)
        }),
        ("split and joined", |context, parts| {
            let n = parts.len();
            let all = add(context, &context.join(0, &parts).unwrap(), 1.0);
            let split = |k: usize| all.slice_axis(0, k * EACH, EACH, 1);
            context.join(0, &(0..n).map(split).collect::<Vec<_>>()).unwrap()
        }),
    ];
    for (name, joined) in ways {
        let (few, many) = (cost(joined, 400), cost(joined, 3200));
        assert!(many.0 < few.0 * 8 * 3 / 2, "{name}: {few:?} for 400, {many:?} for 3200");
        assert!(many.1 <= few.1 * 9, "{name}: {few:?} for 400, {many:?} for 3200");
    }
}

#[test]
fn what_is_appended_to_again_and_again_is_read_in_as_many_launches() {
    let appended: Joined = |context, parts| {
        let mut parts = parts.into_iter();
        let first = add(context, &parts.next().unwrap(), 1.0);
        parts.fold(first, |all, next| context.join(0, &[all, add(context, &next, 1.0)]).unwrap())
    };
    let (few, many) = (cost(appended, 100).1, cost(appended, 400).1);
    assert!(many <= few * 5, "{few} and {many} launches");
}
