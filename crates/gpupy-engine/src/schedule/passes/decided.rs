//! The decisions of an evaluation before its first step: the passes over the pending graph.
//!
//! Owns [`Decided`]. Each pass reads the same copy of the graph ([`PendingGraph`], and its analysis,
//! [`FlushAnalysis`]).
//!
//! Not here: the passes (`fusion.rs`, `reduction_groups.rs`, `placement.rs`, `others.rs`), the order of steps
//! (`ordering.rs`).

use super::demand::Demand;
use super::flush::FlushAnalysis;
use super::fusion::Fates;
use super::others::Others;
use super::pending_graph::PendingGraph;
use super::placement::{self, DeviceOrder, Sides};
use super::reduction_groups::ReductionGroups;
use crate::schedule::engine_device::OpenDevice;
use gpupy_core::driver::Capabilities;
use std::sync::Arc;

/// The decisions of an evaluation.
#[derive(Clone, Default)]
pub(crate) struct Decided {
    /// The fates of its values.
    pub fates: Arc<Fates>,
    /// Which reductions go together.
    pub together: Arc<ReductionGroups>,
    /// Which device computes each value.
    pub sides: Arc<Sides>,
    /// The values that it was not asked for, and may compute on the way.
    pub others: Arc<Others>,
}

impl Decided {
    /// The decisions for a demand on these devices.
    pub fn of(
        demand: &Demand<'_>,
        below: &PendingGraph,
        devices: &[Option<OpenDevice>],
        order: &DeviceOrder,
    ) -> Decided {
        // Of a device that is gone the next one does the work.
        let chosen = order.devices.first().and_then(|position| devices.get(*position));
        let unknown = Capabilities::default();
        let caps = chosen.and_then(Option::as_ref).map_or(&unknown, |device| &device.caps);
        let mut flush = FlushAnalysis::of(demand, below, caps);
        Decided {
            fates: Arc::new(Fates::of(&mut flush)),
            together: Arc::new(flush.together),
            sides: Arc::new(placement::sides(below, devices, order)),
            others: Arc::new(match demand.is_window {
                true => Others::default(),
                false => Others::of(below),
            }),
        }
    }
}
