//! The whole conformance suite, where a device can be opened.

#[test]
fn the_contract_is_kept() {
    gpupy_conformance::check_if_it_starts(driver_wgpu::new);
}
