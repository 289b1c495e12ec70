//! Placement: the host driver beside the chosen one, within one graph.
#![allow(clippy::unwrap_used)]

mod fused;

use fused::{Fused, Log};
use gpupy_core::driver::Costs;
use gpupy_core::{DType, ErrorKind, Op, Scalar};
use gpupy_engine::registry::Registry;
use gpupy_engine::{Array, ArrayOrScalar, Context, Placement, Settings, Stats};
use std::sync::{Arc, Mutex};

/// Elements at which a hundred operations are worth a way to the device and back.
const MANY: usize = 1 << 16;

/// What one driver is made to lack, and what it saw.
#[derive(Clone, Default)]
struct Side {
    lacks: Vec<Op>,
    costs: Option<Costs>,
    log: Arc<Mutex<Log>>,
}

impl Side {
    fn lacking(lacks: &[Op]) -> Side {
        Side { lacks: lacks.into(), ..Side::default() }
    }

    fn driver(&self) -> Fused {
        Fused::new(1000, usize::MAX, self.log.clone()).lacking(&self.lacks).costing(self.costs)
    }
}

/// A hardware device of the 32-bit dtypes, a host driver of all, and the reference driver.
fn context_of(device: &Side, host: &Side, settings: Settings) -> Context {
    let (device, host) = (device.clone(), host.clone());
    let registry = Registry::new()
        .register("device", move || Box::new(device.driver().hardware()))
        .register_host("host", move || Box::new(host.driver().host()))
        .register(driver_soft::NAME, driver_soft::new);
    Context::new(registry, Settings { driver: "device".into(), ..settings })
}

/// A context where a failure is an error: the host takes over no work.
fn context() -> Context {
    let settings = Settings { driver_fallback: false, ..Settings::default() };
    context_of(&Side::default(), &Side::default(), settings)
}

fn given(count: usize) -> (Array, Vec<f32>) {
    let values: Vec<f32> = (0..count).map(|k| (k % 1013) as f32 / 16.0).collect();
    let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_ne_bytes()).collect();
    (Array::from_bytes(DType::F32, &[count], &bytes).unwrap(), values)
}

fn singles(context: &Context, array: &Array) -> Vec<f32> {
    let bytes = context.read(array).unwrap().to_vec().unwrap();
    bytes.chunks_exact(4).map(|c| f32::from_ne_bytes(c.try_into().unwrap())).collect()
}

fn doubles(context: &Context, array: &Array) -> Vec<f64> {
    let bytes = context.read(array).unwrap().to_vec().unwrap();
    bytes.chunks_exact(8).map(|c| f64::from_ne_bytes(c.try_into().unwrap())).collect()
}

/// An operation with a scalar of the array's own dtype.
fn with(context: &Context, op: Op, a: &Array, scalar: f64) -> Array {
    let scalar = match a.dtype() {
        DType::F64 => Scalar::new(DType::F64, scalar.to_bits()),
        _ => Scalar::f32(scalar as f32),
    };
    context.apply(op, &[ArrayOrScalar::Array(a), ArrayOrScalar::Scalar(scalar)]).unwrap()
}

/// Operations of float32, and what they give.
fn chain(context: &Context, x: &Array, values: &mut [f32], count: usize) -> Array {
    let mut x = x.clone();
    for k in 0..count {
        let (op, scalar) = if k % 2 == 0 { (Op::Mul, 1.25) } else { (Op::Sub, k as f32 / 8.0) };
        x = with(context, op, &x, f64::from(scalar));
        let step = |v: &mut f32| *v = if k % 2 == 0 { *v * scalar } else { *v - scalar };
        values.iter_mut().for_each(step);
    }
    x
}

/// What the device and the host driver did.
fn split(context: &Context) -> [Stats; 2] {
    let all = context.driver_stats();
    ["device", "host"].map(|name| all.iter().find(|row| row.0 == name).unwrap().1)
}

#[test]
fn much_work_before_what_the_device_lacks_stays_on_the_device() {
    let context = context();
    let (x, mut values) = given(MANY);
    let y = chain(&context, &x, &mut values, 100);
    let y = with(&context, Op::Mul, &context.cast(&y, DType::F64).unwrap(), 0.1);
    let wanted: Vec<f64> = values.iter().map(|v| f64::from(*v) * 0.1).collect();
    assert_eq!(doubles(&context, &y), wanted);
    let [device, host] = split(&context);
    assert_eq!((device.launches, host.launches), (1, 1));
    assert_eq!((device.blocks_evaluated, host.blocks_evaluated), (1, 1));
    // One upload and one download: the host driver takes what came down where it lies.
    let bytes = (MANY * 4) as u64;
    assert_eq!((device.bytes_uploaded, device.bytes_downloaded), (bytes, bytes));
    assert_eq!((host.bytes_uploaded, host.bytes_downloaded), (0, 0));
    let all = context.stats();
    assert_eq!((all.launches, all.bytes_uploaded, all.driver_fallbacks), (2, bytes, 0));
}

#[test]
fn what_a_device_was_measured_to_cost_decides_what_is_worth_the_way_to_it() {
    let launches = |costs: Costs| {
        let device = Side { costs: Some(costs), ..Side::default() };
        let context = context_of(&device, &Side::default(), Settings::default());
        let (x, mut values) = given(MANY);
        let y = chain(&context, &x, &mut values, 100);
        let y = with(&context, Op::Mul, &context.cast(&y, DType::F64).unwrap(), 0.1);
        let wanted: Vec<f64> = values.iter().map(|v| f64::from(*v) * 0.1).collect();
        assert_eq!(doubles(&context, &y), wanted);
        split(&context).map(|side| side.launches)
    };
    let near = Costs { round_trip: 5_000.0, upload: 0.02, download: 0.02 };
    assert_eq!(launches(near), [1, 1]);
    // The hundred operations take the host 131 µs.
    assert_eq!(launches(Costs { round_trip: 1e6, ..near }), [0, 1]);
    assert_eq!(launches(Costs { download: 2.0, ..near }), [0, 1]);
}

#[test]
fn much_work_behind_what_the_device_lacks_goes_to_the_device_by_one_upload() {
    let context = context();
    let (x, mut values) = given(MANY);
    let y = with(&context, Op::Mul, &context.cast(&x, DType::F64).unwrap(), 0.1);
    let y = context.cast(&y, DType::F32).unwrap();
    values.iter_mut().for_each(|v| *v = (f64::from(*v) * 0.1) as f32);
    let y = chain(&context, &y, &mut values, 100);
    assert_eq!(singles(&context, &y), values);
    let [device, host] = split(&context);
    assert_eq!((device.launches, host.launches), (1, 1));
    let bytes = (MANY * 4) as u64;
    assert_eq!((device.bytes_uploaded, device.bytes_downloaded), (bytes, bytes));
    assert_eq!((host.bytes_uploaded, host.bytes_downloaded), (0, 0));
}

#[test]
fn little_work_between_what_the_device_lacks_stays_on_the_host() {
    let context = context();
    let (x, mut values) = given(MANY);
    let mut y = context.cast(&x, DType::F64).unwrap();
    for _ in 0..100 {
        y = with(&context, Op::Add, &y, 0.1);
        let single = with(&context, Op::Mul, &context.cast(&y, DType::F32).unwrap(), 0.75);
        y = context.cast(&single, DType::F64).unwrap();
        values.iter_mut().for_each(|v| *v = (f64::from(*v) + 0.1) as f32 * 0.75);
    }
    let wanted: Vec<f64> = values.iter().map(|v| f64::from(*v)).collect();
    assert_eq!(doubles(&context, &y), wanted);
    let [device, host] = split(&context);
    assert_eq!((device.launches, host.launches), (0, 1));
    assert_eq!((device.bytes_uploaded, device.bytes_downloaded), (0, 0));
}

#[test]
fn alternating_costly_pieces_change_sides_once_for_each() {
    const TURNS: usize = 4;
    let context = context();
    let (x, mut values) = given(MANY);
    let mut y = context.cast(&x, DType::F64).unwrap();
    for _ in 0..TURNS {
        y = with(&context, Op::Mul, &y, 0.1);
        values.iter_mut().for_each(|v| *v = (f64::from(*v) * 0.1) as f32);
        let single = chain(&context, &context.cast(&y, DType::F32).unwrap(), &mut values, 120);
        y = context.cast(&single, DType::F64).unwrap();
    }
    let wanted: Vec<f64> = values.iter().map(|v| f64::from(*v)).collect();
    assert_eq!(doubles(&context, &y), wanted);
    let [device, host] = split(&context);
    assert_eq!((device.launches, host.launches), (TURNS as u64, TURNS as u64 + 1));
    assert_eq!(device.bytes_uploaded, (TURNS * MANY * 4) as u64);
}

#[test]
fn a_hundred_forced_changes_are_a_hundred_changes() {
    let (device, host) = (Side::lacking(&[Op::Mul]), Side::lacking(&[Op::Sub]));
    let context = context_of(&device, &host, Settings::default());
    let (x, mut values) = given(5);
    let y = chain(&context, &x, &mut values, 100);
    assert_eq!(singles(&context, &y), values);
    let [device, host] = split(&context);
    assert_eq!((device.launches, host.launches), (50, 50));
    assert_eq!((device.bytes_uploaded, device.bytes_downloaded), (50 * 20, 50 * 20));
    assert_eq!(context.stats().driver_fallbacks, 0);
}

#[test]
fn what_neither_can_do_is_the_next_drivers() {
    let lacking = Side::lacking(&[Op::Sub]);
    let context = context_of(&lacking, &lacking, Settings::default());
    let (x, mut values) = given(40);
    let y = chain(&context, &x, &mut values, 7);
    assert_eq!(singles(&context, &y), values);
    // Neither has reductions.
    let sum = context.reduce(Op::Add, &y, &[0], false).unwrap();
    let wanted: f32 = values.iter().sum();
    assert!((singles(&context, &sum)[0] - wanted).abs() < 1e-2);
    assert!(context.stats().driver_fallbacks > 0);
}

#[test]
fn views_and_writes_meet_between_the_devices() {
    let context = context();
    let (x, mut values) = given(MANY);
    let single = chain(&context, &x, &mut values, 100);
    let double = context.copy(&context.cast(&single, DType::F64).unwrap()).unwrap();
    let every_third = single.slice_axis(0, 1, MANY / 3, 3);
    let source = context.cast(&every_third, DType::F64).unwrap();
    let source = with(&context, Op::Add, &source, 0.5);
    context.assign(&double.slice_axis(0, 0, MANY / 3, 1), ArrayOrScalar::Array(&source)).unwrap();
    let mut wanted: Vec<f64> = values.iter().map(|v| f64::from(*v)).collect();
    for k in 0..MANY / 3 {
        wanted[k] = f64::from(values[1 + 3 * k]) + 0.5;
    }
    assert_eq!(doubles(&context, &double), wanted);
    assert!(split(&context).iter().all(|side| side.launches > 0));
}

#[test]
fn a_strict_placement_fails_with_what_is_missing_and_what_to_do() {
    let settings = Settings { placement: Placement::Strict, ..Settings::default() };
    let context = context_of(&Side::default(), &Side::default(), settings);
    let (x, values) = given(9);
    let double = with(&context, Op::Mul, &context.cast(&x, DType::F64).unwrap(), 0.1);
    let error = context.read(&double).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let facts = ["operation", "dtype", "driver"].map(|key| error.fact(key));
    assert_eq!(facts, [Some("mul"), Some("float64"), Some("device")], "{error}");
    assert!(error.to_string().contains("GPUPY_PLACEMENT"), "{error}");
    assert!(!context.supports(Op::Mul, DType::F64) && context.supports(Op::Mul, DType::F32));
    // The other driver finds everything as it was.
    context.use_driver("host").unwrap();
    let wanted: Vec<f64> = values.iter().map(|v| f64::from(*v) * 0.1).collect();
    assert_eq!(doubles(&context, &double), wanted);
}

#[test]
fn what_the_host_driver_can_do_is_supported() {
    let context = context_of(&Side::lacking(&[Op::Sub]), &Side::default(), Settings::default());
    assert!(context.supports(Op::Sub, DType::F32) && context.supports(Op::Mul, DType::F64));
}

#[test]
fn a_companion_or_device_that_is_lost_is_opened_again() {
    for lost in ["device", "host"] {
        for driver_fallback in [false, true] {
            let (device, host) = (Side::default(), Side::default());
            let settings = Settings { driver_fallback, ..Settings::default() };
            let context = context_of(&device, &host, settings);
            let (x, mut values) = given(MANY);
            // The first use opens both.
            let first = with(&context, Op::Mul, &context.cast(&x, DType::F64).unwrap(), 3.0);
            doubles(&context, &first);
            let y = chain(&context, &x, &mut values, 100);
            let y = with(&context, Op::Mul, &context.cast(&y, DType::F64).unwrap(), 0.1);
            let side = if lost == "device" { &device } else { &host };
            side.log.lock().unwrap().lost = true;
            let wanted: Vec<f64> = values.iter().map(|v| f64::from(*v) * 0.1).collect();
            assert_eq!(doubles(&context, &y), wanted, "{lost}, {driver_fallback}");
        }
    }
}

#[test]
fn a_device_that_can_do_everything_does_it_alone() {
    let context = context();
    let (x, mut values) = given(100);
    let y = chain(&context, &x, &mut values, 3);
    assert_eq!(singles(&context, &y), values);
    let [device, host] = split(&context);
    assert_eq!((device.launches, host), (1, Stats::default()));
}

#[test]
fn an_explanation_says_which_driver_computes_what() {
    let context = context();
    let (x, mut values) = given(MANY);
    let y = chain(&context, &x, &mut values, 100);
    let y = with(&context, Op::Mul, &context.cast(&y, DType::F64).unwrap(), 0.1);
    // The first evaluation opens the host driver, and would tell of that.
    doubles(&context, &with(&context, Op::Mul, &context.cast(&x, DType::F64).unwrap(), 2.0));
    let explanation = context.explain(&y).unwrap();
    let kernels = explanation.flush().unwrap().kernels();
    let kernels: Vec<_> = kernels.map(|(step, kernel)| (step.driver, kernel.operations)).collect();
    assert_eq!(kernels, [("device", 100), ("host", 2)]);
}
