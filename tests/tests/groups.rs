//! Groups of devices keep the contract, with every launch that can be cut shared.

use gpupy_engine::{Constructor, DeviceGroup, Registry, Sharing};
use std::sync::Arc;

/// A driver's name, and what makes one.
type Made = (&'static str, fn() -> Box<dyn gpupy_core::driver::Driver>);

/// A group of these drivers.
fn group(drivers: &[Made]) -> Constructor {
    let members = drivers.iter().map(|(name, new)| {
        let constructor: Constructor = Arc::new(*new);
        (name.to_string(), String::new(), constructor)
    });
    DeviceGroup::of(members.collect(), Sharing::Always).0
}

#[test]
fn two_of_the_reference_driver_keep_the_contract() {
    let new = group(&[("soft", driver_soft::new), ("soft", driver_soft::new)]);
    gpupy_conformance::check(move || new());
}

#[cfg(feature = "cpu")]
#[test]
fn two_of_the_host_driver_keep_the_contract() {
    let new = group(&[("cpu", driver_cpu::new), ("cpu", driver_cpu::new)]);
    gpupy_conformance::check_some(move || new(), |group, _| group != "faults");
}

#[cfg(feature = "cpu")]
#[test]
fn two_different_drivers_keep_the_contract() {
    let new = group(&[("cpu", driver_cpu::new), ("soft", driver_soft::new)]);
    gpupy_conformance::check_some(move || new(), |group, _| group != "faults");
}

#[cfg(feature = "vulkan")]
#[test]
fn two_devices_of_vulkan_keep_the_contract() {
    let new = group(&[("vulkan", driver_vulkan::new), ("vulkan", driver_vulkan::new)]);
    if new().init(&gpupy_core::driver::Config::default()).is_ok() {
        let wanted = ["reductions", "views", "eval_ir", "block_read", "block_write", "arrays"];
        gpupy_conformance::check_some(move || new(), |group, _| wanted.contains(&group));
    }
}

#[test]
fn a_registry_makes_groups_of_words() {
    let mut registry = Registry::new().register("soft", driver_soft::new);
    registry.register_words("soft,soft");
    assert_eq!(registry.names().collect::<Vec<_>>(), ["soft", "soft,soft"]);
}
