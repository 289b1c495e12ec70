//! The driver keeps the contract.

#[test]
fn cpu_passes_the_conformance_suite() {
    gpupy_conformance::check(driver_cpu::new);
}
