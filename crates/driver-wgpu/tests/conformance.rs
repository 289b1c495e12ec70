//! The whole conformance suite, where a device can be opened: on the best one, and through OpenGL.

#[test]
fn the_contract_is_kept() {
    gpupy_conformance::check_if_it_starts(driver_wgpu::new);
}

#[test]
fn the_contract_is_kept_through_opengl() {
    gpupy_conformance::check_if_it_starts(|| driver_wgpu::new_on("OpenGL"));
}
