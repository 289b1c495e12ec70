//! The driver keeps the contract, wherever it starts.

#[test]
fn gl_passes_the_conformance_suite() {
    gpupy_conformance::check_if_it_starts(driver_gl::new);
}
