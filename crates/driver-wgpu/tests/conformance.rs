//! The whole conformance suite, where a device can be opened: on the best one, and through OpenGL.

use gpupy_core::driver::Config;

#[test]
fn the_contract_is_kept() {
    gpupy_conformance::check_if_it_starts(driver_wgpu::new);
}

#[test]
fn the_contract_is_kept_through_opengl() {
    gpupy_conformance::check_if_it_starts(|| driver_wgpu::new_on("OpenGL"));
}

#[test]
fn integers_of_64_bits_are_computed_in_pairs_where_the_device_has_none() {
    let mut driver = driver_wgpu::new_short();
    let started = driver.init(&Config::default());
    driver.cleanup();
    match started {
        Ok(_) => gpupy_conformance::check_some(driver_wgpu::new_short, |group, _| {
            ["scalars", "dtypes", "block_read", "block_write"].contains(&group)
        }),
        Err(error) => println!("skipped: {error}"),
    }
}
