//! The whole conformance suite, where a context can be opened.

#[test]
fn the_contract_is_kept() {
    gpupy_conformance::check_if_it_starts(driver_gl::new);
}
