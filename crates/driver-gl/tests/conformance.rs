//! The conformance suite, where a context can be opened: whole, and on one without integers of 64 bits.

use gpupy_core::driver::Config;

#[test]
fn the_contract_is_kept() {
    gpupy_conformance::check_if_it_starts(driver_gl::new);
}

/// The groups that are about elements and operations.
#[test]
fn integers_of_64_bits_are_computed_in_pairs_where_the_context_has_none() {
    let mut driver = driver_gl::new_short();
    let started = driver.init(&Config::default());
    driver.cleanup();
    if let Err(error) = started {
        return gpupy_conformance::skipped(error);
    }
    let groups = ["scalars", "dtypes", "block_read", "block_write"];
    gpupy_conformance::check_variant(driver_gl::new_short, |group, _| groups.contains(&group));
}
