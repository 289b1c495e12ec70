//! Small work is computed at once where that may be, with the bits of what is recorded; where it may
//! not, or cannot, it is recorded and nothing is lost.
#![allow(clippy::unwrap_used)]

use gpupy_core::driver::{
    BlockId, BlockSpec, Capabilities, Check, Config, Driver, Evaluated, Launch, Method, Part,
    Resources,
};
use gpupy_core::ir::Program;
use gpupy_core::{DType, Error, ErrorKind, Op, Result, Scalar};
use gpupy_engine::{Arg, Array, Context, Outside, Placement, Registry, Settings};
use std::sync::{Arc, Condvar, Mutex};

/// A context with the CPU driver as host driver, open.
fn context(driver: &str, placement: Placement) -> Context {
    let registry = Registry::new()
        .register_host(driver_cpu::NAME, driver_cpu::new)
        .register(driver_soft::NAME, driver_soft::new);
    opened(registry, driver, placement)
}

fn opened(registry: Registry, driver: &str, placement: Placement) -> Context {
    let settings = Settings { driver: driver.into(), placement, ..Settings::default() };
    let context = Context::new(registry, settings);
    context.driver().unwrap();
    context
}

fn auto() -> Context {
    context(driver_cpu::NAME, Placement::Auto)
}

fn floats(values: &[f32]) -> Array {
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
    Array::from_bytes(DType::F32, &[values.len()], &bytes).unwrap()
}

fn ramp(len: usize) -> Array {
    floats(&(0..len).map(|k| k as f32).collect::<Vec<_>>())
}

fn bytes(context: &Context, array: &Array) -> Vec<u8> {
    context.read(array).unwrap().to_vec().unwrap()
}

fn add(context: &Context, a: &Array, b: &Array) -> Array {
    context.apply(Op::Add, &[Arg::Array(a), Arg::Array(b)]).unwrap()
}

fn scaled(context: &Context, a: &Array, by: f32) -> Array {
    context.apply(Op::Mul, &[Arg::Array(a), Arg::Scalar(Scalar::f32(by))]).unwrap()
}

/// Numbers that look random, the same ones every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }
}

/// The first three are dtypes of all drivers.
const DTYPES: [DType; 6] = [DType::F32, DType::I32, DType::Bool, DType::F64, DType::U8, DType::I64];

fn scalar(dice: &mut Dice, dtype: DType) -> Scalar {
    match dtype {
        DType::F32 => Scalar::f32(dice.of(&[0.0, -0.0, 2.5, -1.5, f32::INFINITY, 1e-40])),
        DType::F64 => Scalar::f64(dice.of(&[0.0, -0.0, 2.5, -1.5, 1e300])),
        DType::Bool => Scalar::bool(dice.below(2) == 1),
        _ => Scalar::new(dtype, dice.of(&[0, 1, 3, 200])),
    }
}

fn given(dice: &mut Dice, dtype: DType, shape: &[usize]) -> Array {
    let len = shape.iter().product();
    let element = |_| match dtype {
        DType::F32 => (dice.below(2000) as f32 / 64.0 - 9.0).to_ne_bytes().to_vec(),
        DType::F64 => (dice.below(2000) as f64 / 64.0 - 9.0).to_ne_bytes().to_vec(),
        DType::I32 => (dice.below(40) as i32 - 20).to_ne_bytes().to_vec(),
        DType::I64 => (dice.below(40) as i64 - 20).to_ne_bytes().to_vec(),
        DType::Bool => vec![dice.below(2) as u8],
        _ => vec![dice.below(256) as u8],
    };
    let bytes: Vec<u8> = (0..len).flat_map(element).collect();
    Array::from_bytes(dtype, shape, &bytes).unwrap()
}

/// Some view of an array.
fn view(dice: &mut Dice, array: &Array) -> Array {
    let (shape, ndim) = (array.shape().to_vec(), array.ndim());
    if ndim == 0 {
        return array.insert_axis(0);
    }
    let axis = dice.below(ndim);
    let extent = shape[axis];
    match dice.below(7) {
        0 if extent > 1 => array.slice_axis(axis, 1, extent - 1, 1),
        1 if extent > 0 => array.slice_axis(axis, extent - 1, extent, -1),
        2 if extent > 0 => array.slice_axis(axis, 0, extent.div_ceil(2), 2),
        3 if extent > 0 => array.index_axis(axis, dice.below(extent)),
        4 => array.transpose(&(0..ndim).rev().collect::<Vec<_>>()),
        5 if ndim < 4 => array.insert_axis(axis),
        _ => {
            let rows = [&[3][..], &shape].concat();
            if array.size() < 3000 { array.broadcast_to(&rows).unwrap() } else { array.clone() }
        }
    }
}

/// A random operation on some of these arrays; `None` where they do not fit it.
fn operation(
    context: &Context,
    dtypes: &[DType],
    dice: &mut Dice,
    arrays: &[Array],
) -> Option<Array> {
    let a = &arrays[dice.below(arrays.len())];
    let b = &arrays[dice.below(arrays.len())];
    let apply = |op, args: &[Arg<'_>]| context.apply(op, args).ok();
    match dice.below(12) {
        0 | 1 => {
            let ops =
                [Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Min, Op::Max, Op::Lt, Op::Eq, Op::And];
            apply(dice.of(&ops), &[Arg::Array(a), Arg::Array(b)])
        }
        2 => {
            let number = Arg::Scalar(scalar(dice, a.dtype()));
            let ops = [Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Max, Op::Ge];
            let args = [Arg::Array(a), number];
            if dice.below(2) == 0 {
                return apply(dice.of(&ops), &args);
            }
            apply(dice.of(&ops), &[args[1], args[0]])
        }
        3 => {
            let ops = [Op::Neg, Op::Abs, Op::Sqrt, Op::Floor, Op::Exp, Op::Sin, Op::Not];
            apply(dice.of(&ops), &[Arg::Array(a)])
        }
        4 => {
            let mask = arrays.iter().find(|array| array.dtype() == DType::Bool)?;
            apply(Op::Select, &[Arg::Array(mask), Arg::Array(a), Arg::Array(b)])
        }
        5 => context.cast(a, dice.of(dtypes)).ok(),
        6 => {
            let axes: Vec<usize> = (0..a.ndim()).filter(|_| dice.below(3) > 0).collect();
            let op = dice.of(&[Op::Add, Op::Mul, Op::Min, Op::Max, Op::Or]);
            context.reduce(op, a, &axes, dice.below(2) == 0).ok()
        }
        7 => context.copy(&view(dice, a)).ok(),
        8 if a.ndim() > 0 => context.index(a.shape(), dice.below(a.ndim())).ok(),
        9 if a.ndim() > 0 => context.join(dice.below(a.ndim()), &[a.clone(), b.clone()]).ok(),
        10 => {
            // Seen through another view, perhaps of the very array that is read.
            let dest = view(dice, a);
            if dest.strides().iter().zip(dest.shape()).any(|(s, n)| *s == 0 && *n > 1) {
                return None;
            }
            let source = if dice.below(2) == 0 { b.clone() } else { view(dice, &dest) };
            match dice.below(2) {
                0 => context.assign(&dest, Arg::Scalar(scalar(dice, dest.dtype()))).ok()?,
                _ => context.assign(&dest, Arg::Array(&source)).ok()?,
            }
            Some(dest)
        }
        _ => Some(view(dice, a)),
    }
}

/// The elements with every NaN the same.
fn plain(dtype: DType, mut bytes: Vec<u8>) -> Vec<u8> {
    let is_nan = |element: &[u8]| match dtype {
        DType::F32 => f32::from_ne_bytes(element.try_into().unwrap()).is_nan(),
        DType::F64 => f64::from_ne_bytes(element.try_into().unwrap()).is_nan(),
        _ => false,
    };
    bytes.chunks_exact_mut(dtype.size()).filter(|e| is_nan(e)).for_each(|e| e.fill(255));
    bytes
}

/// Runs a random program; its arrays with their elements, at the end and on the way.
fn run(context: &Context, dtypes: &[DType], seed: u64) -> Vec<(DType, Vec<usize>, Vec<u8>)> {
    let mut dice = Dice(seed);
    let shapes = [&[10][..], &[4, 6], &[1], &[], &[2, 3, 5], &[300], &[17_000], &[0, 3]];
    let mut arrays: Vec<Array> = (0..4)
        .map(|_| {
            let (dtype, shape) = (dice.of(dtypes), dice.of(&shapes));
            given(&mut dice, dtype, shape)
        })
        .collect();
    let mut seen = Vec::new();
    let mut see = |array: &Array| {
        let elements = plain(array.dtype(), bytes(context, array));
        seen.push((array.dtype(), array.shape().to_vec(), elements));
    };
    for _ in 0..24 {
        let Some(array) = operation(context, dtypes, &mut dice, &arrays) else { continue };
        if array.size() > 70_000 {
            continue;
        }
        if dice.below(5) == 0 {
            see(&array);
        }
        if arrays.len() > 8 {
            let gone = dice.below(arrays.len());
            arrays.swap_remove(gone);
        }
        arrays.push(array);
    }
    arrays.iter().for_each(see);
    seen
}

#[test]
fn what_is_computed_at_once_has_the_bits_of_what_is_recorded() {
    let now = auto();
    let recorded = context(driver_cpu::NAME, Placement::Strict);
    // A device of its own memory, and the host driver beside it.
    let beside = context(driver_soft::NAME, Placement::Auto);
    for seed in 0..400 {
        let want = run(&recorded, &DTYPES, seed);
        assert_eq!(run(&now, &DTYPES, seed), want, "program {seed}");
        let want = run(&recorded, &DTYPES[..3], seed);
        assert_eq!(run(&beside, &DTYPES[..3], seed), want, "program {seed}, beside another driver");
    }
    let stats = now.stats();
    assert!(stats.computed_at_once > 1000 && stats.blocks_evaluated > 100, "{stats:?}");
    assert_eq!(recorded.stats().computed_at_once, 0);
}

#[test]
fn small_work_is_neither_recorded_nor_evaluated_later() {
    let context = auto();
    let (x, y) = (ramp(10), ramp(10));
    let z = add(&context, &scaled(&context, &x, 2.5), &y);
    let total = context.reduce(Op::Add, &z, &[0], false).unwrap();
    let stats = context.stats();
    assert_eq!((stats.computed_at_once, stats.launches, stats.values), (3, 3, 0));
    assert_eq!(bytes(&context, &total), 157.5f32.to_ne_bytes());
    assert_eq!(context.stats().blocks_evaluated, 0);
    assert_eq!(context.stats().blocks, 0);
}

#[test]
fn what_lies_in_memory_is_read_without_the_engine() {
    let context = auto();
    let z = scaled(&context, &ramp(10), 2.0);
    assert_eq!(z.in_memory().unwrap().to_vec().unwrap(), bytes(&context, &z));
    let large = scaled(&context, &ramp(100_000), 2.0);
    assert!(large.in_memory().is_none(), "it is not computed yet");
    context.evaluate(&[&large]).unwrap();
    assert_eq!(large.in_memory().unwrap().to_vec().unwrap(), bytes(&context, &large));
}

#[test]
fn large_work_is_recorded() {
    let context = auto();
    let z = scaled(&context, &ramp(100_000), 2.0);
    assert!(z.in_memory().is_none());
    let stats = context.stats();
    assert_eq!((stats.computed_at_once, stats.launches, stats.values), (0, 0, 1));
    // Few elements of it are not computed by themselves.
    let few = scaled(&context, &z.slice_axis(0, 5, 3, 1), 2.0);
    assert_eq!(context.stats().computed_at_once, 0);
    assert_eq!(bytes(&context, &few), bytes(&context, &floats(&[20.0, 24.0, 28.0])));
}

#[test]
fn what_lies_on_another_device_alone_is_not_brought_back_for_it() {
    let context = context(driver_soft::NAME, Placement::Auto);
    let x = scaled(&context, &ramp(100_000), 2.0).slice_axis(0, 0, 10, 1);
    context.evaluate(&[&x]).unwrap();
    let before = context.stats();
    let y = scaled(&context, &x, 2.0);
    let after = context.stats();
    assert_eq!(after.computed_at_once, before.computed_at_once);
    assert_eq!(after.bytes_downloaded, before.bytes_downloaded);
    assert_eq!(
        bytes(&context, &y),
        bytes(&context, &floats(&(0..10).map(|k| 4.0 * k as f32).collect::<Vec<_>>()))
    );
}

#[test]
fn writing_leaves_those_who_hold_the_old_elements() {
    let context = auto();
    let a = ramp(6);
    let (before, snapshot) = (scaled(&context, &a, 1.0), a.snapshot().unwrap());
    // Overlapping, and through a view.
    context.assign(&a.slice_axis(0, 1, 5, 1), Arg::Array(&a.slice_axis(0, 0, 5, 1))).unwrap();
    context.assign(&a.slice_axis(0, 0, 3, 2), Arg::Scalar(Scalar::f32(-1.0))).unwrap();
    assert_eq!(bytes(&context, &a), bytes(&context, &floats(&[-1.0, 0.0, -1.0, 2.0, -1.0, 4.0])));
    for old in [before, snapshot] {
        assert_eq!(bytes(&context, &old), bytes(&context, &ramp(6)));
    }
    assert_eq!(context.stats().blocks_evaluated, 0);
}

#[test]
fn a_write_in_place_leaves_nothing_known_of_the_elements_before() {
    let context = auto();
    let (table, at) = (ramp(10), Array::from_bytes(DType::I32, &[2], &[0; 8]).unwrap());
    for position in [3, 9, 4] {
        let second = at.slice_axis(0, 1, 1, 1);
        context.assign(&second, Arg::Scalar(Scalar::i32(position))).unwrap();
        let picked = context.pick(&table, &[Some(&at)], 0, Outside::Refuse).unwrap();
        assert_eq!(bytes(&context, &picked), bytes(&context, &floats(&[0.0, position as f32])));
    }
    context.assign(&at, Arg::Scalar(Scalar::i32(0))).unwrap();
    context.assign(&at.slice_axis(0, 1, 1, 1), Arg::Scalar(Scalar::i32(10))).unwrap();
    assert!(context.pick(&table, &[Some(&at)], 0, Outside::Refuse).is_err());
}

#[test]
fn an_explanation_says_that_it_was_computed_at_once() {
    let context = auto();
    let z = scaled(&context, &ramp(10), 2.0);
    let text = context.explain(&z).unwrap().text();
    assert!(text.contains("computed at once"), "{text}");
    let told = Arc::new(Mutex::new(String::new()));
    let sink = told.clone();
    context.set_trace(Some(Box::new(move |text| sink.lock().unwrap().push_str(text))));
    scaled(&context, &z, 2.0);
    assert_eq!(*told.lock().unwrap(), "mul computed at once on cpu: float32 (10,)\n");
}

/// Is told of each call and how many elements it is for, and may stop or fail it.
type Watch = Arc<dyn Fn(&str, usize) -> Result<()> + Send + Sync>;

/// The CPU driver, watched.
struct Watched {
    driver: Box<dyn Driver>,
    watch: Watch,
}

fn watched(watch: impl Fn(&str, usize) -> Result<()> + Send + Sync + 'static) -> Registry {
    let watch: Watch = Arc::new(watch);
    Registry::new()
        .register_host("watched", move || {
            Box::new(Watched { driver: driver_cpu::new(), watch: watch.clone() })
        })
        .register(driver_soft::NAME, driver_soft::new)
}

impl Driver for Watched {
    fn init(&mut self, config: &Config) -> Result<Capabilities> {
        (self.watch)("init", 0)?;
        self.driver.init(config)
    }
    fn cleanup(&mut self) {
        self.driver.cleanup();
    }
    fn get_method(&self, op: Op, dtype: DType) -> Method {
        self.driver.get_method(op, dtype)
    }
    fn block_alloc(&mut self, spec: BlockSpec) -> Result<BlockId> {
        (self.watch)("block_alloc", spec.len)?;
        self.driver.block_alloc(spec)
    }
    fn block_free(&mut self, block: BlockId) {
        self.driver.block_free(block);
    }
    fn block_read(&mut self, block: BlockId, offset: usize, out: &mut [u8]) -> Result<()> {
        self.driver.block_read(block, offset, out)
    }
    fn block_write(&mut self, block: BlockId, offset: usize, data: &[u8]) -> Result<()> {
        self.driver.block_write(block, offset, data)
    }
    fn check_ir(&mut self, program: &Program) -> Result<Check> {
        (self.watch)("check_ir", 0)?;
        self.driver.check_ir(program)
    }
    fn eval_ir(&mut self, launch: &Launch<'_>) -> Result<Evaluated> {
        (self.watch)("eval_ir", launch.shape.iter().product())?;
        self.driver.eval_ir(launch)
    }
    fn resource_get(&self, part: Part) -> Resources {
        self.driver.resource_get(part)
    }
    fn resource_check(&self, resources: &Resources) -> bool {
        self.driver.resource_check(resources)
    }
}

#[test]
fn a_host_driver_that_fails_loses_nothing() {
    let kinds =
        [ErrorKind::OutOfMemory, ErrorKind::Refused, ErrorKind::Unsupported, ErrorKind::DeviceLost];
    for call in ["init", "block_alloc", "check_ir", "eval_ir"] {
        for kind in kinds {
            let failing = watched(move |called, _| match called == call {
                true => Err(Error::new(kind, "watched").says("told to fail")),
                false => Ok(()),
            });
            let context = opened(failing, driver_soft::NAME, Placement::Auto);
            let x = ramp(10);
            let z = add(&context, &scaled(&context, &x, 2.0), &x);
            let total = context.reduce(Op::Add, &z, &[0], false).unwrap();
            assert_eq!(bytes(&context, &total), 135f32.to_ne_bytes(), "{call}: {kind:?}");
            assert_eq!(bytes(&context, &x), bytes(&context, &ramp(10)));
            assert_eq!(context.stats().computed_at_once, 0, "{call}: {kind:?}");
        }
    }
}

#[test]
fn nobody_waits_for_an_evaluation_to_compute_at_once() {
    let (begun, go) = (
        Arc::new((Mutex::new(false), Condvar::new())),
        Arc::new((Mutex::new(false), Condvar::new())),
    );
    let wait = |flag: &(Mutex<bool>, Condvar)| {
        drop(flag.1.wait_while(flag.0.lock().unwrap(), |set| !*set).unwrap());
    };
    let set = |flag: &(Mutex<bool>, Condvar)| {
        *flag.0.lock().unwrap() = true;
        flag.1.notify_all();
    };
    let context = {
        let (begun, go) = (begun.clone(), go.clone());
        let registry = watched(move |called, points| {
            if called == "eval_ir" && points == 100_000 {
                set(&begun);
                wait(&go);
            }
            Ok(())
        });
        opened(registry, "watched", Placement::Auto)
    };
    let large = scaled(&context, &ramp(100_000), 2.0);
    std::thread::scope(|scope| {
        scope.spawn(|| context.evaluate(&[&large]).unwrap());
        wait(&begun);
        // The engine is taken; this returns all the same.
        let z = scaled(&context, &ramp(10), 2.0);
        assert!(z.in_memory().is_none());
        set(&go);
        assert_eq!(bytes(&context, &z), bytes(&context, &scaled(&context, &ramp(10), 2.0)));
    });
    assert_eq!(context.stats().computed_at_once, 1);
}

#[test]
fn closed_devices_are_not_opened_by_small_work() {
    let context = auto();
    let x = scaled(&context, &ramp(10), 2.0);
    context.close();
    let y = scaled(&context, &x, 2.0);
    assert!(y.in_memory().is_none());
    assert_eq!(context.stats().computed_at_once, 1);
    assert_eq!(bytes(&context, &y), bytes(&context, &scaled(&context, &ramp(10), 4.0)));
}

#[test]
fn few_rows_are_picked_where_they_lie_and_mistakes_are_left_to_others() {
    let context = auto();
    let table = floats(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]).reshape(&[3, 2]).unwrap();
    let index = |at: &[i8]| {
        let bytes: Vec<u8> = at.iter().map(|n| *n as u8).collect();
        Array::from_bytes(DType::I8, &[at.len()], &bytes).unwrap()
    };
    let found = context.picked_at_once(&table, &index(&[-1, 0])).unwrap();
    assert_eq!(found.shape(), [2, 2]);
    assert_eq!(bytes(&context, &found), bytes(&context, &floats(&[4.0, 5.0, 0.0, 1.0])));
    assert!(context.picked_at_once(&table, &index(&[3])).is_none());
    assert!(context.picked_at_once(&table, &index(&[-4])).is_none());
    let mask = context.apply(Op::Gt, &[Arg::Array(&table), Arg::Scalar(Scalar::f32(2.5))]).unwrap();
    let found = context.picked_at_once(&table, &mask).unwrap();
    assert_eq!(bytes(&context, &found), bytes(&context, &floats(&[3.0, 4.0, 5.0])));
    assert!(context.picked_at_once(&ramp(5), &mask).is_none());
}

#[test]
fn an_element_is_written_and_those_who_have_the_old_elements_keep_them() {
    let context = auto();
    let x = ramp(4);
    assert!(context.write_element(&x, 2, Scalar::f32(9.0)));
    assert!(!context.write_element(&x, 4, Scalar::f32(9.0)), "there is no such element");
    assert!(!context.write_element(&x, 1, Scalar::f64(9.0)), "it has another dtype");
    let snapshot = x.snapshot().unwrap();
    assert!(context.write_element(&x, 1, Scalar::f32(7.0)));
    assert_eq!(bytes(&context, &snapshot), bytes(&context, &floats(&[0.0, 1.0, 9.0, 3.0])));
    assert_eq!(bytes(&context, &x), bytes(&context, &floats(&[0.0, 7.0, 9.0, 3.0])));
    assert_eq!(x.version(), 2);
}

#[test]
fn operands_of_one_base_and_of_bases_that_others_have_are_right() {
    let context = auto();
    let x = ramp(6);
    let both = add(&context, &x.slice_axis(0, 0, 3, 1), &x.slice_axis(0, 5, 3, -1));
    assert_eq!(bytes(&context, &both), bytes(&context, &floats(&[5.0, 5.0, 5.0])));
    // From two threads, each with the other's operands first.
    let y = ramp(6);
    std::thread::scope(|scope| {
        for (a, b) in [(&x, &y), (&y, &x)] {
            let context = &context;
            scope.spawn(move || {
                for _ in 0..2000 {
                    let sum = add(context, a, b);
                    assert_eq!(bytes(context, &sum), bytes(context, &scaled(context, a, 2.0)));
                }
            });
        }
    });
}

#[test]
fn the_rest_of_a_long_chain_of_larger_results_is_recorded() {
    let context = auto();
    let x = ramp(13_000);
    let mut y = x.clone();
    for _ in 0..10 {
        y = add(&context, &y, &x);
    }
    assert!(y.in_memory().is_none());
    assert!(context.stats().computed_at_once < 10);
    assert_eq!(bytes(&context, &y), bytes(&context, &scaled(&context, &x, 11.0)));
    let mut y = ramp(1000);
    for _ in 0..100 {
        y = scaled(&context, &y, 0.5);
    }
    assert!(y.in_memory().is_some(), "what is smaller is not");
}

#[test]
fn an_update_takes_the_place_of_elements_that_nobody_else_has() {
    let context = auto();
    let (x, y) = (ramp(6), ramp(6));
    let row = x.slice_axis(0, 1, 3, 1);
    assert!(context.update_at_once(Op::Add, &[Arg::Array(&x), Arg::Array(&y)], &x));
    assert_eq!(bytes(&context, &row), bytes(&context, &floats(&[2.0, 4.0, 6.0])));
    let compare = [Arg::Array(&x), Arg::Array(&y)];
    assert!(!context.update_at_once(Op::Lt, &compare, &x), "results are of another dtype");
    assert!(!context.update_at_once(Op::Add, &compare, &row), "it is a part");
    let snapshot = x.snapshot().unwrap();
    assert!(!context.update_at_once(Op::Add, &compare, &x), "somebody else has them");
    assert_eq!(bytes(&context, &snapshot), bytes(&context, &scaled(&context, &y, 2.0)));
    assert!(context.assign(&y, Arg::Scalar(Scalar::f64(1.0))).is_err(), "of another dtype");
    assert_eq!(bytes(&context, &y), bytes(&context, &ramp(6)));
}

#[test]
fn scans_sorts_and_products_at_once_have_the_bits_of_what_is_recorded() {
    let (now, recorded) = (auto(), context(driver_cpu::NAME, Placement::Strict));
    let mut dice = Dice(7);
    let mut check = |shape: &[usize], dtype: DType, run: &dyn Fn(&Context, &Array) -> Array| {
        let array = given(&mut dice, dtype, shape);
        // In C order, and seen through strides.
        for array in [array.clone(), array.transpose(&[1, 0])] {
            let (found, want) = (run(&now, &array), run(&recorded, &array));
            assert!(found.in_memory().is_some(), "{shape:?} is computed at once");
            let wanted = plain(dtype, bytes(&recorded, &want));
            assert_eq!(found.shape(), want.shape());
            assert_eq!(plain(dtype, bytes(&now, &found)), wanted, "{shape:?} of {dtype}");
        }
    };
    for dtype in [DType::F32, DType::F64, DType::I32] {
        for shape in [[1, 1], [3, 5], [2, 300], [40, 7]] {
            check(&shape, dtype, &|context, array| context.sort(array, 1).unwrap());
            check(&shape, dtype, &|context, array| context.argsort(array, 0).unwrap());
            check(&shape, dtype, &|context, array| context.scan(Op::Add, array, 0).unwrap());
            check(&shape, dtype, &|context, array| {
                context.matmul(array, &array.transpose(&[1, 0])).unwrap()
            });
        }
    }
    assert_eq!(now.stats().blocks_evaluated, 0);
}
