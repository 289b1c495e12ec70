//! Drivers for tests: watched by the validation layers, or on a device that seems to be another.
//!
//! Owns [`Trial`]. Invariant: the default changes nothing. Not here: the tests.

use super::binding_choice::BindingCosts;
use super::gpu::gpu_device::Traits;

/// The changes that a test makes to a driver; the default makes none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trial {
    /// Whether the validation layers check every call; their messages are in [`complaints`](super::complaints).
    pub watched: bool,
    /// Whether blocks are reached by their addresses, as on devices that cannot bind them.
    pub addressed: bool,
    /// The costs of the ways to reach blocks, instead of measuring them.
    pub binding_costs: Option<BindingCosts>,
    /// Whether integers of 64 bits, and so float64, are hidden.
    pub short: bool,
    /// Whether kernels are WGSL, which naga compiles, even if shaderc is linked.
    pub naga: bool,
    /// Whether invocations share the points of a reduction, as on hardware.
    pub shares: bool,
}

impl Trial {
    /// Changes a device's traits as the test wants.
    pub fn reduce(self, traits: &mut Traits) {
        if self.addressed {
            traits.bound = None;
        }
        if self.short {
            traits.kernels.int64 = false;
        }
        if self.naga {
            traits.write_wgsl();
        }
        if self.shares {
            traits.kernels.shares = true;
        }
    }
}
