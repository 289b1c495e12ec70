//! Random programs of arrays through the core: operations, views, writes and reads on the driver
//! under test, compared with a model that computes at once.
//!
//! With tiny limits, blocks, eviction and partitioning are met everywhere. What the core asks of the
//! driver is watched on the way.
//!
//! Not here: what such a program does (`world.rs`), drivers that fail (`faults.rs`).

use super::Suite;
use crate::watch::Watched;
use crate::world::World;
use gpupy_core::driver::Resources;
use gpupy_core::{Context, Registry, Settings};

pub const GROUP: &str = "arrays";

pub fn run(suite: &mut Suite<'_>) {
    let lowered = Resources([16; 8]);
    let limits = [
        ("as it is", Settings::default(), 60),
        ("blocks of 256 bytes", Settings { block_bytes: 256, ..Settings::default() }, 40),
        ("blocks of 20 bytes", Settings { block_bytes: 20, ..Settings::default() }, 20),
        (
            "blocks of 64 bytes on a device of 4096",
            Settings { block_bytes: 64, device_bytes: 4096, ..Settings::default() },
            30,
        ),
        ("few resources", Settings { resources: lowered, ..Settings::default() }, 30),
        ("early flushes", Settings { flush_depth: 3, ..Settings::default() }, 20),
    ];
    for (name, settings, seeds) in limits {
        for seed in 0..seeds {
            let settings =
                Settings { driver: "one".into(), driver_fallback: false, ..settings.clone() };
            let make = suite.constructor();
            suite.apart(GROUP, &format!("{name}, seed {seed}"), || {
                let registry = Registry::new().register("one", move || Watched::boxed(make()));
                World::new(&Context::new(registry, settings), seed, 0)?.live(25)
            });
        }
    }
    for seed in 0..30 {
        let (one, other) = (suite.constructor(), suite.constructor());
        suite.apart(GROUP, &format!("two drivers in turns, seed {seed}"), || {
            let registry = Registry::new()
                .register("one", move || Watched::boxed(one()))
                .register("other", move || Watched::boxed(other()));
            let settings = Settings { driver: "one".into(), ..Settings::default() };
            World::new(&Context::new(registry, settings), seed, 0)?.live(40)
        });
    }
}
