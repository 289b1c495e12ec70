//! The conformance suite, where a device can be opened: on the best one, and through OpenGL.

use gpupy_core::driver::{Config, Driver};

/// Runs the groups that are wanted on a driver that starts here; if it does not, they are skipped with the reason.
fn check_some(
    make: impl Fn() -> Box<dyn Driver> + Send + Sync + 'static,
    wanted: impl Fn(&str) -> bool,
) {
    let mut driver = make();
    let started = driver.init(&Config::default());
    driver.cleanup();
    match started {
        Ok(_) => gpupy_conformance::check_variant(make, |group, _| wanted(group)),
        Err(error) => gpupy_conformance::skipped(error),
    }
}

#[test]
fn the_contract_is_kept() {
    gpupy_conformance::check_if_it_starts(driver_wgpu::new);
}

/// Faults are about the core, and open a device a thousand times.
#[test]
fn the_contract_is_kept_through_opengl() {
    check_some(|| driver_wgpu::new_on("OpenGL"), |group| group != "faults");
}

#[test]
fn integers_of_64_bits_are_computed_in_pairs_where_the_device_has_none() {
    let groups = ["scalars", "dtypes", "block_read", "block_write"];
    check_some(driver_wgpu::new_short, |group| groups.contains(&group));
}
