//! The whole conformance suite, where a device can be opened; where the validation layers are installed,
//! they check every call of it.
#![cfg(feature = "shaderc")]

use gpupy_core::driver::Config;

#[test]
fn the_contract_is_kept_and_the_validation_layers_are_silent() {
    let mut driver = driver_vulkan::new_watched();
    match driver.init(&Config::default()) {
        Ok(_) => {
            driver.cleanup();
            gpupy_conformance::check(driver_vulkan::new_watched);
        }
        Err(error) => {
            println!("without validation layers: {error}");
            gpupy_conformance::check_if_it_starts(driver_vulkan::new);
        }
    }
    let complaints = driver_vulkan::complaints();
    assert!(complaints.is_empty(), "{} complaints: {:#?}", complaints.len(), complaints.first());
}
