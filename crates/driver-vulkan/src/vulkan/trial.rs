//! Drivers as tests want them: watched, or on a device that seems to be another.
//!
//! Owns [`Trial`]. Invariant: without a trial nothing is changed. Not here: the tests.

use super::binding_choice::BindingCosts;
use super::gpu::open_device::Traits;

/// How a test wants a driver; the default is the usual one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trial {
    /// The validation layers check every call; what they say is in [`complaints`](super::complaints).
    pub watched: bool,
    /// Blocks are reached by their addresses, as where none can be bound.
    pub addressed: bool,
    /// What is found of the ways to reach blocks, instead of trying them.
    pub binding_costs: Option<BindingCosts>,
    /// There are no integers of 64 bits, and so no float64.
    pub short: bool,
    /// Kernels are WGSL, which naga compiles, also where shaderc is linked.
    pub naga: bool,
    /// Invocations share the points of a reduction, as on hardware.
    pub shares: bool,
}

impl Trial {
    /// Makes of a device what the test wants.
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
