//! Random programs of arrays through the core: operations, views, writes and reads on the driver under test,
//! compared with a model that computes eagerly.
//!
//! Owns [`live`]. The core's calls of the driver are monitored.
//!
//! Not here: the programs (`model_based.rs`), the same with lowered limits (`partitioning.rs`, `memory.rs`),
//! drivers that fail (`faults/`).

use super::Suite;
use crate::drivers::contract_monitor::ContractMonitor;
use crate::drivers::lacking_driver::LackingDriver;
use crate::model_based::ModelBasedUser;
use crate::reporting::outcome::{Outcome, ensure};
use gpupy_engine::{Constructor, Context, Registry, Settings};
use std::time::Duration;

pub const GROUP: &str = "arrays";

pub fn run(suite: &mut Suite<'_>) {
    live(suite, GROUP, "as it is", &Settings::default(), 60);
    let early = Settings { flush_operations: 3, ..Settings::default() };
    live(suite, GROUP, "early flushes", &early, 20);
    for seed in 0..30 {
        let (one, other) = (suite.constructor(), suite.constructor());
        suite.apart(GROUP, &format!("two drivers in turns, seed {seed}"), || {
            let registry = Registry::new()
                .register("one", move || ContractMonitor::boxed(one()))
                .register("other", move || ContractMonitor::boxed(other()));
            let settings = Settings { driver: "one".into(), ..Settings::default() };
            let settings = pausing(settings, seed);
            ModelBasedUser::new(&Context::new(registry, settings), seed, 0)?.live(40)
        });
    }
    for seed in 0..30 {
        let (one, other) = (suite.constructor(), suite.constructor());
        suite.apart(GROUP, &format!("beside a host driver, seed {seed}"), || {
            beside_host(one, other, seed)
        });
    }
}

/// A driver that lacks a third of its operations, with a complete one as the host driver: nothing is missing,
/// although nothing may fall back to another driver.
fn beside_host(one: Constructor, other: Constructor, seed: u64) -> Outcome {
    let registry = Registry::new()
        .register("one", move || LackingDriver::boxed(ContractMonitor::boxed(one()), seed))
        .register_host("host", move || ContractMonitor::boxed(other()));
    let driver_fallback = false;
    let settings = Settings { driver: "one".into(), driver_fallback, ..Settings::default() };
    let context = Context::new(registry, pausing(settings, seed));
    ModelBasedUser::new(&context, seed, 0)?.live(40)?;
    ensure(context.stats().driver_fallbacks == 0, || "a fallback is counted".into())
}

/// Settings with which every other seed's evaluations pause wherever they can.
pub fn pausing(settings: Settings, seed: u64) -> Settings {
    let slice = if seed.is_multiple_of(2) { settings.slice } else { Duration::ZERO };
    Settings { slice, ..settings }
}

/// A case for each seed: a random user of the driver under test with these settings.
pub fn live(
    suite: &mut Suite<'_>,
    group: &'static str,
    name: &str,
    settings: &Settings,
    seeds: u64,
) {
    for seed in 0..seeds {
        let make = suite.constructor();
        suite.apart(group, &format!("{name}, seed {seed}"), || {
            let settings = pausing(settings.clone(), seed);
            ModelBasedUser::new(&context(make, settings), seed, 0)?.live(25)
        });
    }
}

/// The core on the driver under test, monitored, without any other driver.
pub fn context(make: Constructor, settings: Settings) -> Context {
    let registry = Registry::new().register("one", move || ContractMonitor::boxed(make()));
    Context::new(registry, Settings { driver: "one".into(), driver_fallback: false, ..settings })
}
