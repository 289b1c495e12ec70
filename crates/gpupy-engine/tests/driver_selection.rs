//! Which driver `auto` takes, and what becomes of the others.
#![allow(clippy::unwrap_used)]

mod fused;

use fused::{Fused, Log};
use gpupy_core::{DType, ErrorKind, Op};
use gpupy_engine::registry::Registry;
use gpupy_engine::{ArrayOrScalar, Context, Settings};
use std::sync::{Arc, Mutex};

/// A context whose last driver is one of GPUs, on a machine that shows a GPU, or none.
fn context_of_gpu(sight: bool, settings: Settings) -> (Context, [Arc<Mutex<Log>>; 2]) {
    let logs = [(); 2].map(|()| Arc::new(Mutex::new(Log::default())));
    let [host, gpu] = logs.clone();
    let new = |log: &Arc<Mutex<Log>>| Fused::new(1000, usize::MAX, log.clone());
    let registry = Registry::new()
        .register_gpu("gpu", move || Box::new(new(&gpu).hardware()), move || sight)
        .register_host("host", move || Box::new(new(&host).host().lacking(&[Op::Mul])));
    (Context::new(registry, settings), logs)
}

#[test]
fn auto_asks_no_driver_of_gpus_where_the_machine_shows_none() {
    let openings = |log: &Arc<Mutex<Log>>| log.lock().unwrap().openings.len();
    let (context, [_, gpu]) = context_of_gpu(true, Settings::default());
    assert_eq!(context.driver().unwrap().0, "gpu");
    assert!(openings(&gpu) > 0);
    let (context, [_, gpu]) = context_of_gpu(false, Settings::default());
    assert_eq!(context.driver().unwrap().0, "host");
    assert_eq!(openings(&gpu), 0);
    assert!(
        context.drivers().unwrap().iter().all(|(_, found)| found.is_ok()),
        "asked for, it is opened"
    );
    assert_eq!(openings(&gpu), 1);
    let named = Settings { driver: "gpu".into(), ..Settings::default() };
    let (context, _) = context_of_gpu(false, named);
    assert_eq!(context.driver().unwrap().0, "gpu");
}

#[test]
fn what_fails_under_auto_opens_no_driver_of_gpus_either() {
    let doubled = |sight: bool| {
        let (context, [_, gpu]) = context_of_gpu(sight, Settings::default());
        context.use_driver("host").unwrap();
        context.use_driver("auto").unwrap();
        let x = context.cast(&context.index(&[1 << 17], 0).unwrap(), DType::F32).unwrap();
        let doubled =
            context.apply(Op::Mul, &[ArrayOrScalar::Array(&x), ArrayOrScalar::Array(&x)]).unwrap();
        let read = context.read(&doubled).map(|_| ());
        let opened = gpu.lock().unwrap().openings.len();
        (read.map_err(|error| error.kind()), opened)
    };
    assert!(matches!(doubled(true), (Ok(()), 1..)));
    assert_eq!(doubled(false), (Err(ErrorKind::Unsupported), 0));
}

/// A context with a software rasteriser, the host and another device, in this order.
fn context(hardware: bool, settings: Settings) -> (Context, [Arc<Mutex<Log>>; 3]) {
    let logs = [(); 3].map(|()| Arc::new(Mutex::new(Log::default())));
    let [rasteriser, host, other] = logs.clone();
    let new = |log: &Arc<Mutex<Log>>| Fused::new(1000, usize::MAX, log.clone());
    let registry = Registry::new()
        .register("rasteriser", move || Box::new(new(&rasteriser)))
        .register_host("host", move || Box::new(new(&host).host()))
        .register("other", move || match hardware {
            true => Box::new(new(&other).hardware()),
            false => Box::new(new(&other)),
        });
    (Context::new(registry, settings), logs)
}

#[test]
fn hardware_comes_before_what_stands_first() {
    let (context, logs) = context(true, Settings::default());
    assert_eq!(context.driver().unwrap().0, "other");
    let [rasteriser, host, other] = logs.map(|log| log.lock().unwrap().open);
    // The host driver works beside the chosen one.
    assert_eq!([rasteriser, host, other], [0, 1, 1], "what was only asked is closed again");
}

#[test]
fn without_hardware_the_first_that_starts_is_taken() {
    let (context, logs) = context(false, Settings::default());
    assert_eq!(context.driver().unwrap().0, "rasteriser");
    assert_eq!(logs.map(|log| log.lock().unwrap().open), [1, 1, 0]);
}

#[test]
fn a_driver_hears_which_device_is_wanted_and_whether_only_hardware_will_do() {
    let settings = Settings { device: "a name".into(), ..Settings::default() };
    let (context, [first, ..]) = context(false, settings);
    context.driver().unwrap();
    let log = first.lock().unwrap();
    assert!(log.openings.iter().all(|config| config.device == "a name"));
    assert_eq!(log.openings.iter().map(|c| c.hardware).collect::<Vec<_>>(), [true, false]);
}
