//! Pauses between launches, interruptions, and closing devices: nothing is lost by any of them.
#![allow(clippy::unwrap_used)]

mod fused;

use fused::{Fused, Log};
use gpupy_core::{DType, ErrorKind, Op, Scalar};
use gpupy_engine::registry::Registry;
use gpupy_engine::{Array, ArrayOrScalar, Context, Settings, Stats};
use std::cell::{Cell, RefCell};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A driver for small maps, whose blocks hold 8 elements, with the reference driver below it.
fn context() -> Context {
    let log = Arc::new(Mutex::new(Log::default()));
    let registry = Registry::new()
        .register("fused", move || Box::new(Fused::new(6, usize::MAX, log.clone())))
        .register(driver_soft::NAME, driver_soft::new);
    Context::new(
        registry,
        Settings {
            driver: "fused".into(),
            block_bytes: 32,
            // A pause wherever there can be one.
            slice: Duration::ZERO,
            ..Settings::default()
        },
    )
}

fn read(context: &Context, array: &Array) -> Vec<f32> {
    let bytes = context.read(array).unwrap().to_vec().unwrap();
    bytes.chunks_exact(4).map(|c| f32::from_ne_bytes(c.try_into().unwrap())).collect()
}

fn with(context: &Context, op: Op, a: &Array, scalar: f32) -> Array {
    context
        .apply(op, &[ArrayOrScalar::Array(a), ArrayOrScalar::Scalar(Scalar::f32(scalar))])
        .unwrap()
}

/// 100 elements, each through 40 operations: several pieces in each of many blocks.
fn chain(context: &Context) -> (Array, Vec<f32>) {
    let mut x = context.cast(&context.index(&[100], 0).unwrap(), DType::F32).unwrap();
    let mut wanted: Vec<f32> = (0..100).map(|i| i as f32).collect();
    for i in 0..40 {
        let (op, number) = if i % 2 == 0 { (Op::Mul, 1.25) } else { (Op::Sub, i as f32) };
        x = with(context, op, &x, number);
        for w in &mut wanted {
            *w = if i % 2 == 0 { *w * number } else { *w - number };
        }
    }
    (x, wanted)
}

thread_local! {
    /// How often the hook below was asked, and after how many questions it says stop.
    static ASKED: Cell<u32> = const { Cell::new(0) };
    static PATIENCE: Cell<u32> = const { Cell::new(u32::MAX) };
}

fn impatient() -> bool {
    ASKED.set(ASKED.get() + 1);
    ASKED.get() > PATIENCE.get()
}

#[test]
fn an_interrupted_evaluation_loses_nothing_and_goes_on_where_it_stopped() {
    let undisturbed = context();
    let (x, wanted) = chain(&undisturbed);
    assert_eq!(read(&undisturbed, &x), wanted);
    let whole = undisturbed.stats();
    for patience in [0, 1, 7, 50] {
        let context = context();
        context.set_interrupt(impatient);
        let (x, wanted) = chain(&context);
        let mut interruptions = 0;
        loop {
            ASKED.set(0);
            PATIENCE.set(patience);
            match context.read(&x) {
                Ok(_) => break,
                Err(error) => assert_eq!(error.kind(), ErrorKind::Interrupted),
            }
            interruptions += 1;
        }
        assert!(interruptions > 0, "{patience}");
        assert_eq!(read(&context, &x), wanted);
        // Nothing was computed or moved twice, though a walk that begins again may be cut elsewhere.
        let work =
            |stats: Stats| (stats.instructions, stats.blocks_evaluated, stats.bytes_downloaded);
        assert_eq!(work(context.stats()), work(whole), "{patience}");
        assert_eq!(context.stats().driver_fallbacks, 0);
    }
}

#[test]
fn what_reductions_read_of_rotations_survives_pauses() {
    const N: usize = 64;
    let values: Vec<f32> = (0..N * N).map(|k| (k * k % 31) as f32).collect();
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
    PATIENCE.set(u32::MAX);
    let results = |pauses: bool| {
        let registry = Registry::new().register(driver_soft::NAME, driver_soft::new);
        let slice = Duration::ZERO;
        let settings = Settings { driver: driver_soft::NAME.into(), slice, ..Settings::default() };
        let context = Context::new(registry, settings);
        if pauses {
            context.set_interrupt(impatient);
        }
        let field = Array::from_bytes(DType::F32, &[N, N], &bytes).unwrap();
        let rows = |by: usize| {
            let end = field.slice_axis(1, N - by, by, 1);
            let rolled = context.join(1, &[end, field.slice_axis(1, 0, N - by, 1)]).unwrap();
            context.reduce(Op::Max, &rolled, &[0], false).unwrap()
        };
        let all = context.join(0, &[rows(1), rows(2), rows(N - 3)]).unwrap();
        (read(&context, &all), context.stats().blocks_evaluated)
    };
    let (wanted, blocks) = results(false);
    for (number, by) in [1, 2, N - 3].into_iter().enumerate() {
        for x in 0..N {
            let column = (0..N).map(|y| values[y * N + (x + N - by) % N]);
            assert_eq!(wanted[number * N + x], column.fold(0.0, f32::max), "{by}, {x}");
        }
    }
    assert_eq!(blocks, 7, "three rotations, a reduction of each, and what joins them");
    assert_eq!(results(true), (wanted, blocks));
}

/// What a read gives with a pause wherever there can be one, or without any, on the reference driver; another
/// context's evaluations, or this one's of something else, may come in between.
fn on_soft(pauses: bool, block_bytes: u64, made: impl Fn(&Context) -> Array) -> (Vec<f32>, Stats) {
    let registry = Registry::new().register(driver_soft::NAME, driver_soft::new);
    let (driver, slice) = (driver_soft::NAME.into(), Duration::ZERO);
    let context =
        Context::new(registry, Settings { driver, slice, block_bytes, ..Settings::default() });
    if pauses {
        context.set_interrupt(reads_beside_always);
        BESIDE_ALWAYS.set(Some(context.clone()));
    }
    let array = made(&context);
    let found = read(&context, &array);
    BESIDE_ALWAYS.set(None);
    (found, context.stats())
}

thread_local! {
    static BESIDE_ALWAYS: RefCell<Option<Context>> = const { RefCell::new(None) };
}

/// Evaluates something small in the same context, which ends without a pause.
fn reads_beside_always() -> bool {
    ASKED.set(ASKED.get() + 1);
    if let Some(context) = BESIDE_ALWAYS.take() {
        let one = context.cast(&context.index(&[1], 0).unwrap(), DType::F32).unwrap();
        assert_eq!(read(&context, &one), [0.0]);
        BESIDE_ALWAYS.set(Some(context));
    }
    false
}

#[test]
fn a_pause_loses_no_piece_of_what_is_expanded_into_several() {
    PATIENCE.set(u32::MAX);
    let numbers: Vec<u8> = (0..300).flat_map(|i| (i as f32 * 0.37 - 50.0).to_ne_bytes()).collect();
    let given = || Array::from_bytes(DType::F32, &[300], &numbers).unwrap();
    let one = |op: Op| {
        move |context: &Context| context.apply(op, &[ArrayOrScalar::Array(&given())]).unwrap()
    };
    for block_bytes in [0, 256] {
        for op in [Op::Cos, Op::Exp, Op::Tan, Op::Atan] {
            let (wanted, whole) = on_soft(false, block_bytes, one(op));
            ASKED.set(0);
            let (found, paused) = on_soft(true, block_bytes, one(op));
            let pauses = u64::from(ASKED.get());
            assert!(pauses > 20, "{op:?} is made of many operations");
            assert_eq!(found, wanted, "{op:?}");
            // Beside it, an index is made a float in each pause.
            assert!(
                paused.launches - whole.launches <= 2 * pauses,
                "{op:?}: {paused:?}, {whole:?}"
            );
            assert!(paused.instructions <= whole.instructions + 2 * pauses, "{op:?}");
        }
        // Of an expression, and of parts behind each other.
        let sums = |context: &Context| {
            let half =
                context.apply(Op::Sin, &[ArrayOrScalar::Array(&given().slice_axis(0, 0, 150, 1))]);
            let both =
                [half.unwrap(), context.apply(Op::Cos, &[ArrayOrScalar::Array(&given())]).unwrap()];
            let joined = context.join(0, &both).unwrap();
            with(context, Op::Add, &joined, 1.0)
        };
        let (wanted, whole) = on_soft(false, block_bytes, sums);
        ASKED.set(0);
        let (found, paused) = on_soft(true, block_bytes, sums);
        assert_eq!(found, wanted);
        assert!(paused.launches <= whole.launches + 2 * u64::from(ASKED.get()));
    }
}

#[test]
fn a_pause_loses_no_piece_of_a_map_that_is_stored_for_a_reduction() {
    let numbers = |n: usize| -> Vec<f32> { (0..n).map(|i| i as f32 * 0.37 - 5.0).collect() };
    let (column, row) = (numbers(60), numbers(100));
    let array = |shape: &[usize], numbers: &[f32]| {
        let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_ne_bytes()).collect();
        Array::from_bytes(DType::F32, shape, &bytes).unwrap()
    };
    let most = |context: &Context| {
        let both = [array(&[60, 1], &column), array(&[100], &row)];
        let product = context
            .apply(Op::Mul, &[ArrayOrScalar::Array(&both[0]), ArrayOrScalar::Array(&both[1])]);
        let map = with(context, Op::Sub, &product.unwrap(), 3.0);
        context.reduce(Op::Max, &map, &[0, 1], false).unwrap()
    };
    let all = column.iter().flat_map(|x| row.iter().map(move |y| x * y - 3.0));
    let wanted = [all.fold(f32::MIN, f32::max)];
    for block_bytes in [0, 64, 1024, 4096] {
        let (found, whole) = on_soft(false, block_bytes, most);
        assert_eq!(found, wanted, "{block_bytes}");
        ASKED.set(0);
        let (found, paused) = on_soft(true, block_bytes, most);
        assert_eq!(found, wanted, "{block_bytes}");
        assert!(paused.launches <= whole.launches + 2 * u64::from(ASKED.get()), "{block_bytes}");
    }
}

#[test]
fn a_pause_loses_none_of_several_reductions_that_go_together() {
    let numbers: Vec<f32> = (0..3000).map(|i| (i * 7 % 31) as f32 - 9.0).collect();
    let bytes: Vec<u8> = numbers.iter().flat_map(|x| x.to_ne_bytes()).collect();
    let all = |context: &Context| {
        let array = Array::from_bytes(DType::F32, &[3000], &bytes).unwrap();
        let square = context
            .apply(Op::Mul, &[ArrayOrScalar::Array(&array), ArrayOrScalar::Array(&array)])
            .unwrap();
        let reduced = |op, of: &Array| context.reduce(op, of, &[0], true).unwrap();
        let parts = [reduced(Op::Add, &array), reduced(Op::Max, &square), reduced(Op::Min, &array)];
        context.join(0, &parts).unwrap()
    };
    let squares = numbers.iter().map(|x| x * x);
    let least = numbers.iter().copied().fold(f32::MAX, f32::min);
    let wanted = [numbers.iter().sum::<f32>(), squares.fold(f32::MIN, f32::max), least];
    for block_bytes in [0, 64, 1024, 4096] {
        let (found, whole) = on_soft(false, block_bytes, all);
        assert_eq!(found, wanted, "{block_bytes}");
        ASKED.set(0);
        let (found, paused) = on_soft(true, block_bytes, all);
        assert_eq!(found, wanted, "{block_bytes}");
        // Nothing is launched twice; beside it, an index is made a float in each pause.
        assert!(paused.launches <= whole.launches + u64::from(ASKED.get()), "{block_bytes}");
    }
}

#[test]
fn reductions_and_writes_survive_pauses_and_other_drivers_help_as_before() {
    PATIENCE.set(u32::MAX);
    let results = |pauses: bool| {
        let context = context();
        if pauses {
            context.set_interrupt(impatient);
        }
        let (x, _) = chain(&context);
        let sum = context.reduce(Op::Add, &x, &[0], false).unwrap();
        let y = context.copy(&x).unwrap();
        let middle = y.slice_axis(0, 5, 70, 1);
        context
            .assign(&middle, ArrayOrScalar::Array(&with(&context, Op::Mul, &middle, 3.0)))
            .unwrap();
        context
            .assign(&y.slice_axis(0, 0, 50, 2), ArrayOrScalar::Scalar(Scalar::f32(7.0)))
            .unwrap();
        let all = [read(&context, &sum), read(&context, &y), read(&context, &x)];
        (all, context.stats())
    };
    let (undisturbed, before) = results(false);
    ASKED.set(0);
    let (paused, after) = results(true);
    assert!(ASKED.get() > 50);
    assert_eq!(paused, undisturbed);
    assert!(before.driver_fallbacks > 0, "the reduction is the reference driver's");
    assert_eq!(after.driver_fallbacks, before.driver_fallbacks);
    assert_eq!(after.blocks_evaluated, before.blocks_evaluated);
}

#[test]
fn pauses_change_nothing_that_is_planned_or_launched() {
    PATIENCE.set(u32::MAX);
    let counts = |pauses: bool| {
        let context = context();
        if pauses {
            context.set_interrupt(impatient);
        }
        let mut all = Vec::new();
        // The second flush is replayed.
        for turn in 0..3 {
            let (x, wanted) = chain(&context);
            let y = context.copy(&x).unwrap();
            for k in 0..30 {
                let part = y.slice_axis(0, k, 60, 1);
                let next = with(&context, Op::Mul, &y.slice_axis(0, k + 5, 60, 1), 0.5);
                context.assign(&part, ArrayOrScalar::Array(&next)).unwrap();
            }
            let found = read(&context, &y);
            assert_eq!(found[95..], wanted[95..], "{turn}");
            all.push(found);
        }
        (all, context.stats())
    };
    let undisturbed = counts(false);
    assert!(undisturbed.1.nodes_walked > 0);
    ASKED.set(0);
    assert_eq!(counts(true), undisturbed);
    assert!(ASKED.get() > 100, "{}", ASKED.get());
}

thread_local! {
    static BESIDE: RefCell<Option<(Context, Array)>> = const { RefCell::new(None) };
    static SEEN: RefCell<Vec<Vec<f32>>> = const { RefCell::new(Vec::new()) };
}

fn reads_beside() -> bool {
    if let Some((context, array)) = BESIDE.take() {
        let seen = read(&context, &array);
        SEEN.with_borrow_mut(|all| all.push(seen));
    }
    false
}

#[test]
fn whoever_is_asked_may_use_the_context() {
    let context = context();
    context.set_interrupt(reads_beside);
    let (x, wanted) = chain(&context);
    BESIDE.set(Some((context.clone(), with(&context, Op::Add, &x, 1.0))));
    assert_eq!(read(&context, &x), wanted);
    let beside: Vec<f32> = wanted.iter().map(|w| w + 1.0).collect();
    assert_eq!(SEEN.take(), [beside]);
}

#[test]
fn closed_devices_take_nothing_with_them_and_open_again() {
    let context = context();
    let (x, wanted) = chain(&context);
    let half = x.slice_axis(0, 0, 50, 1);
    context.evaluate(&[&half]).unwrap();
    assert!(context.stats().blocks > 0);
    let later = with(&context, Op::Mul, &x, 2.0);
    context.close();
    assert_eq!(context.stats().blocks, 0);
    let launches = context.stats().launches;
    assert_eq!(read(&context, &half), wanted[..50]);
    assert_eq!(context.stats().launches, launches, "what was computed is not computed again");
    assert_eq!(context.driver().unwrap().0, "fused");
    let twice: Vec<f32> = wanted.iter().map(|w| w * 2.0).collect();
    assert_eq!(read(&context, &later), twice);
    context.close();
    context.close();
    assert_eq!(read(&context, &x), wanted);
}
