//! Many random programs of arrays, one after another in one context: they leave nothing behind.
//!
//! Owns [`live`]. Invariant: after a program that has dropped its arrays, no block holds a value and no
//! recorded operation is alive; memory that is kept for reuse can be released.
//!
//! Not here: the programs (`model_based.rs`).

use super::Suite;
use crate::drivers::contract_monitor::ContractMonitor;
use crate::model_based::ModelBasedUser;
use crate::reporting::outcome::{Outcome, Stop, ensure};
use gpupy_engine::{Constructor, Context, Registry, Settings, Stats};

pub const GROUP: &str = "leaks";

pub fn run(suite: &mut Suite<'_>) {
    let small = Settings { block_bytes: 64, device_bytes: 4096, ..Settings::default() };
    let early = Settings { flush_operations: 3, ..Settings::default() };
    let limits = [
        ("as it is", Settings::default(), 100),
        ("small blocks", small, 40),
        ("early flushes", early, 40),
    ];
    for (name, settings, programs) in limits {
        let make = suite.constructor();
        suite.apart(GROUP, &format!("{programs} programs, {name}"), || {
            live(make, settings, programs, |_, _| ())
        });
    }
}

/// Runs so many random programs; after each, tells how many there were, and the context's counts.
pub fn live(
    make: Constructor,
    settings: Settings,
    programs: u64,
    mut after: impl FnMut(u64, &Stats),
) -> Outcome {
    let settings = Settings { driver: "one".into(), driver_fallback: false, ..settings };
    let registry = Registry::new().register("one", move || ContractMonitor::boxed(make()));
    let context = Context::new(registry, settings);
    for seed in 0..programs {
        match ModelBasedUser::new(&context, seed, 0)?.live(25) {
            Ok(()) | Err(Stop::Skip(_)) => {}
            failed => return failed,
        }
        let stats = context.stats();
        ensure((stats.blocks, stats.values) == (0, 0), || {
            let Stats { blocks, values, .. } = stats;
            format!("program {seed} has left {blocks} blocks and {values} recorded operations")
        })?;
        after(seed + 1, &stats);
    }
    ensure(context.trim().is_ok(), || "nothing is read, and memory is not given back".into())?;
    let Stats { pool_blocks, pool_bytes, .. } = context.stats();
    ensure((pool_blocks, pool_bytes) == (0, 0), || format!("{pool_blocks} free blocks stay"))
}
