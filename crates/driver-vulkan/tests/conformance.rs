//! The whole conformance suite, where a device can be opened; where the validation layers are installed,
//! they check every call of it.

use driver_vulkan::Trial;
use gpupy_core::driver::Config;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Only one test at a time uses the validation layers: they keep tables for the whole process, and those of
/// Vulkan 1.3.239 once crashed while two tests had instances.
static LAYERS: Mutex<()> = Mutex::new(());

fn layers() -> MutexGuard<'static, ()> {
    LAYERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether such a driver starts here; if not, what it would run is skipped with the reason.
fn starts(trial: Trial) -> bool {
    let mut driver = driver_vulkan::new_trial(trial);
    let started = driver.init(&Config::default());
    driver.cleanup();
    let skipped = |error| gpupy_conformance::skipped(format_args!("{trial:?}: {error}"));
    started.map_err(skipped).is_ok()
}

/// The trial with the validation layers, if they are installed.
fn watched(trial: Trial) -> Trial {
    let watched = Trial { watched: true, ..trial };
    if starts(watched) { watched } else { trial }
}

/// The trial with each compiler of this build, where such a driver starts.
fn by_each_compiler(trial: Trial) -> Vec<Trial> {
    let both = [trial, Trial { naga: true, ..trial }];
    both.into_iter()
        .skip(usize::from(cfg!(not(feature = "shaderc"))))
        .filter(|t| starts(*t))
        .collect()
}

fn assert_no_complaints() {
    let complaints = driver_vulkan::complaints();
    assert!(complaints.is_empty(), "{} complaints: {:#?}", complaints.len(), complaints.first());
}

#[test]
fn the_contract_is_kept_and_the_validation_layers_are_silent() {
    let _layers = layers();
    let trial = watched(Trial::default());
    gpupy_conformance::check_if_it_starts(move || driver_vulkan::new_trial(trial));
    assert_no_complaints();
}

/// Faults are about the core, and take most of the suite's time.
fn all_but_faults(trial: Trial) {
    let _layers = layers();
    let trial = watched(trial);
    if starts(trial) {
        gpupy_conformance::check_variant(
            move || driver_vulkan::new_trial(trial),
            |group, _| group != "faults",
        );
    }
    assert_no_complaints();
}

/// A build without shaderc compiles by naga anyway.
#[cfg(feature = "shaderc")]
#[test]
fn the_contract_is_kept_by_kernels_that_naga_compiles() {
    all_but_faults(Trial { naga: true, ..Trial::default() });
}

/// The groups that are about operations.
#[test]
fn integers_of_64_bits_are_computed_in_pairs_where_the_device_has_none() {
    for trial in by_each_compiler(Trial { short: true, ..Trial::default() }) {
        let of_operations =
            ["scalars", "dtypes", "views", "regions", "random", "block_read", "block_write"];
        gpupy_conformance::check_variant(
            move || driver_vulkan::new_trial(trial),
            |group, _| of_operations.contains(&group),
        );
    }
}

#[test]
fn the_contract_is_kept_by_addresses_and_the_validation_layers_are_silent() {
    all_but_faults(Trial { addressed: true, ..Trial::default() });
}

/// As on hardware; on a software device each invocation takes all points of a chunk.
#[test]
fn reductions_that_invocations_share_have_the_same_bits() {
    for trial in by_each_compiler(Trial { shares: true, ..Trial::default() }) {
        gpupy_conformance::check_variant(
            move || driver_vulkan::new_trial(trial),
            |group, _| ["reductions", "several_reductions"].contains(&group),
        );
    }
}
