//! The driver keeps the contract.

#[test]
fn soft_passes_the_conformance_suite() {
    gpupy_conformance::check(driver_soft::new);
}
