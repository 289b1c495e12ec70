//! Which driver `auto` takes, and what becomes of the others.
#![allow(clippy::unwrap_used)]

mod fused;

use fused::{Fused, Log};
use gpupy_core::registry::Registry;
use gpupy_core::{Context, Settings};
use std::sync::{Arc, Mutex};

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
