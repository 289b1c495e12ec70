//! The passes of a flush: decisions about the pending graph before anything of it is computed.
//!
//! A [`Demand`](demand::Demand) is what is wanted, a [`PendingGraph`](pending_graph::PendingGraph) a copy of the graph
//! below, and a [`FlushAnalysis`](flush::FlushAnalysis) describes its values. `fusion.rs` says which are stored.
//! [`ReductionGroups`](reduction_groups::ReductionGroups) are reductions of the same points, a
//! [`ValuePlacement`](placement::ValuePlacement) has the device of each value, and [`Others`](others::Others) are
//! pending values that the flush was not asked for. [`FlushWindows`](flush_windows::FlushWindows) are the parts of a
//! long flush. [`Decided`](decided::Decided) has all decisions. Invariant: all passes read one copy of the graph.
//!
//! Imports `cost.rs` and `engine_device.rs` of the schedule. Not here: choices that depend on how one kernel reads a
//! value (`walk/`, `kernels/`).

pub(crate) mod decided;
pub(crate) mod demand;
pub(crate) mod flush;
pub(crate) mod flush_windows;
pub(crate) mod fusion;
mod needed;
pub(crate) mod others;
pub(crate) mod pending_graph;
pub(crate) mod placement;
pub(crate) mod reduction_groups;
