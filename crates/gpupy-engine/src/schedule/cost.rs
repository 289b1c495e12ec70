//! The cost model of computing, storing and loading, by which a schedule decides what it recomputes and what it stores.
//!
//! Costs are in *operations*: the time of one arithmetic instruction for one element, as a part of a kernel. A function
//! counts as many as `gpupy_core::op::OpInfo::cost` says. Owns the constants, each with its measurement, and
//! [`Growth`]. Invariant: nothing here changes what is computed, only how often.
//!
//! Not here: the users of the model. The walker asks for values that are reached in several ways or more often than
//! they have elements, `rematerialisation.rs` for values that earlier evaluations computed, `horizontal_fusion.rs` for
//! values that other kernels want, `placement.rs` for devices.

use crate::explain::step::Prices;
use crate::graph::library_op::LibraryOp;
use crate::graph::value::{NodeOp, Value, ValueId, ValueKind};
use crate::thresholds::T;
use gpupy_core::driver::{Capabilities, Costs};
use gpupy_core::shape::size_of;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::ops::Range;

/// The cost of one operation on one element on a device, in nanoseconds, by which its kernels are chosen: a rasteriser
/// in software gets those of a GPU.
pub(crate) fn operation_cost(caps: &Capabilities) -> f64 {
    if caps.host_memory { T.on_host } else { T.on_device }
}

/// The same, by which the device is chosen.
pub(crate) fn placed_operation_cost(caps: &Capabilities) -> f64 {
    match caps.host_memory || caps.hardware {
        true => operation_cost(caps),
        false => T.on_rasteriser,
    }
}

/// The costs of launches and transfers on a device, in nanoseconds; `T.launch` and 10 GB/s where the driver has not
/// measured them.
pub(crate) fn transfer_costs(caps: &Capabilities) -> Costs {
    caps.costs.unwrap_or(Costs { round_trip: T.launch, upload: 0.1, download: 0.1 })
}

/// What it costs to read part of a value's elements as a value of their own, and to read all, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadPrices {
    /// To plan, to launch and to wait, to compute so many elements, and to move them.
    pub part: f64,
    /// Likewise for all elements.
    pub whole: f64,
    /// What each of these costs for any number of elements.
    pub begun: f64,
    /// To compile a kernel for them.
    pub kernel: f64,
}

impl ReadPrices {
    /// Those of so many of the elements of a value that is pending, or on this device.
    pub fn of(value: &Value, part: usize, caps: &Capabilities) -> ReadPrices {
        let (round, kernel, kernel_node) = match caps.host_memory {
            true => (T.read_on_host, T.compiled_on_host, T.compiled_node_on_host),
            false => (T.read_on_device, T.compiled_on_device, T.compiled_node_on_device),
        };
        let is_pending = !value.is_computed() || matches!(value.0.kind, ValueKind::Constant(_));
        let nodes = if is_pending { f64::from(value.0.depth.max(1)) } else { 1.0 };
        let computed = if is_pending { computed_apart(value) } else { 0.0 };
        let moved = match caps.host_memory {
            true => 0.0,
            false => value.dtype().size() as f64 * T.moved_byte,
        };
        let each = computed * operation_cost(caps) + moved;
        let begun = round + nodes * T.planned_node;
        ReadPrices {
            part: begun + part as f64 * each,
            whole: begun + value.len() as f64 * each,
            begun,
            kernel: kernel + nodes * kernel_node,
        }
    }
}

/// The operations that an element of a pending value takes, as far as an element more or less makes a difference.
fn computed_apart(value: &Value) -> f64 {
    let (mut at, mut reduced) = (value.clone(), 1.0);
    while let ValueKind::Expr { op, .. } = &at.0.kind {
        match op {
            NodeOp::Reduce { n, .. } => reduced *= (*n).max(1) as f64,
            // All of it is computed in any case.
            NodeOp::Whole(_) | NodeOp::Scatter(_) | NodeOp::WhereTrue => return 0.0,
            _ => break,
        }
        let below = at.state().operands.first().cloned().flatten();
        match below.filter(|below| !below.is_computed()) {
            Some(below) => at = below,
            None => break,
        }
    }
    // The cost when it was recorded is an upper bound, in which shared operations count again.
    let weight = match value.0.weight {
        few if few <= T.recompute => few,
        _ => weight(value, u32::MAX / 2, 1, Value::is_computed),
    };
    reduced * (f64::from(weight) + T.load as f64)
}

/// The prices by which explanations estimate a step.
pub(crate) fn prices(caps: &Capabilities) -> Prices {
    let Costs { round_trip, upload, download } = transfer_costs(caps);
    Prices {
        operation: placed_operation_cost(caps),
        on_host: T.on_host,
        load: T.load as f64,
        store: T.store as f64,
        launch: T.launch,
        round_trip,
        upload,
        download,
    }
}

/// The most elements of a map that are stored at a time for a reduction to read.
pub(crate) fn stored_piece(caps: &Capabilities) -> usize {
    if caps.host_memory { T.piece_in_cache } else { T.piece_on_device }
}

/// Whether a kernel over such a space may be the first of strips.
pub(crate) fn is_for_strips(space: &[usize]) -> bool {
    size_of(space) >= T.striped_points
}

/// The number of strips for kernels that touch `bytes` bytes, if strips pay: `again` of these are read again, and
/// `in_passing` are results that a later kernel reads.
pub(crate) fn strips(bytes: usize, again: usize, in_passing: usize, rows: usize) -> Option<usize> {
    // Results of strips are kept until the last strip; without strips, results on the way would be freed before.
    let pays = again >= T.read_again && in_passing <= bytes / 16;
    let count = (bytes / T.strip).min(rows / T.fewest_strips);
    (pays && count >= T.fewest_strips).then_some(count)
}

/// Whether computing operations once for all components of so many points costs less than for each of them. Out of host
/// memory a device may need a launch for each component.
pub(crate) fn is_by_components(
    shared: u32,
    points: usize,
    components: usize,
    caps: &Capabilities,
) -> bool {
    let saved = (components - 1) as f64 * points as f64 * f64::from(shared) * operation_cost(caps);
    let launches = if caps.host_memory { 0.0 } else { components as f64 * T.launch };
    shared >= T.shared_by_components && saved > launches
}

/// Whether reading the elements of other values too at `points` points, with the operations that each takes, and
/// selecting from them, costs less than a launch for each run of points that read one value.
pub(crate) fn is_selected(
    points: usize,
    others: impl Iterator<Item = u64>,
    runs: usize,
    caps: &Capabilities,
) -> bool {
    let each: u64 = others.map(|weight| weight + T.load + 1).sum();
    let selected = (points as f64) * each as f64 * operation_cost(caps);
    selected <= runs.saturating_sub(1) as f64 * T.launch
}

/// The operations that take as long as a launch.
fn launch(caps: &Capabilities) -> u64 {
    (T.launch / operation_cost(caps)) as u64
}

/// The operations that computing a value at so many accesses takes beyond those of computing it once; `points` are
/// all that are computed, `reach` is where they lie, `is_only_here` tells whether no other kernel of the same step
/// computes it, and `weight` counts the operations of an element up to so many.
pub(crate) fn again(
    value: &Value,
    accesses: usize,
    points: usize,
    reach: impl FnOnce() -> Range<usize>,
    is_only_here: impl FnOnce() -> bool,
    weight: impl FnOnce(u32) -> u32,
) -> u32 {
    let others = accesses as u32 - 1;
    // The cost when it was recorded is an upper bound of the present cost.
    let most = value.0.weight.saturating_mul(others);
    if most <= T.recompute {
        return most;
    }
    // Accesses that lie apart, as those of the rows of blocks do, compute nothing twice.
    let is_apart = points <= reach().len()
        && (accesses <= T.few_apart || value.len() >= T.apart_from && is_only_here());
    let limit = if is_apart { T.most_apart } else { T.recompute + 1 };
    let again = weight(limit.div_ceil(others)).saturating_mul(others);
    if is_apart && again < T.most_apart { 0 } else { again }
}

/// The growth of work when a value is recomputed where it is read: the number of points that compute an element,
/// against the number of elements that would be stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    pub points: usize,
    pub stored: usize,
}

impl Growth {
    /// Of more operations a kernel takes so long that storing is always little.
    pub fn most() -> u32 {
        4 * T.costly
    }

    /// Whether a value may be worth storing, judged by its cost when it was recorded.
    pub fn may_pay(value: &Value, points: usize, caps: &Capabilities) -> bool {
        let weight = value.0.weight;
        weight > T.recompute && u64::from(weight).saturating_mul(points as u64) > launch(caps)
    }

    /// Whether storing the elements and loading them at each point costs less than computing them at each point.
    pub fn pays(self, weight: u32, caps: &Capabilities) -> bool {
        let (points, stored) = (self.points as u64, self.stored as u64);
        let saved = u64::from(weight).saturating_mul(points.saturating_sub(stored));
        let paid = stored.saturating_mul(T.store).saturating_add(points.saturating_mul(T.load));
        weight > T.recompute && saved > paid.saturating_add(launch(caps))
    }
}

/// The operations that an element of a value takes now, from values that are computed or have a kernel of their own.
/// Shared operations count once, and each join counts as `join`. Counting stops at `most`, beyond which the number
/// makes no difference.
pub(crate) fn weight(
    value: &Value,
    most: u32,
    join: u32,
    is_there: impl Fn(&Value) -> bool,
) -> u32 {
    let mut open: SmallVec<[Value; 8]> = SmallVec::new();
    let mut seen: FxHashSet<ValueId> = FxHashSet::default();
    let mut weight = 0u32;
    open.push(value.clone());
    while let Some(value) = open.pop() {
        let ValueKind::Expr { op, .. } = &value.0.kind else { continue };
        if op.stands_alone() || seen.contains(&value.id()) || is_there(&value) {
            continue;
        }
        seen.insert(value.id());
        weight += if matches!(op, NodeOp::Join(_)) { join } else { op.cost() };
        if weight >= most {
            return most;
        }
        let state = value.state();
        let operands = state.operands.iter().flatten();
        match op {
            // An element is one of a part's, and one of a table's, which is computed first.
            NodeOp::Join(_) => open.extend(operands.max_by_key(|part| part.0.weight).cloned()),
            NodeOp::Gather => open.extend(operands.take(1).cloned()),
            _ => open.extend(operands.cloned()),
        }
    }
    weight
}

/// The operations of so many elements of a value of this shape.
pub(crate) fn operations(op: &NodeOp, shape: &[usize], elements: usize) -> f64 {
    let elements = elements as f64;
    match op {
        NodeOp::Apply(_) | NodeOp::Call(_) => elements * f64::from(op.cost()),
        NodeOp::Reduce { n, .. } => {
            let last = shape.last().copied().unwrap_or(1).max(1);
            elements / last as f64 * *n as f64
        }
        NodeOp::Whole(LibraryOp::MatMul(k)) => elements * 2.0 * *k as f64,
        NodeOp::Whole(LibraryOp::Sort | LibraryOp::ArgSort) => {
            let row = shape.last().copied().unwrap_or(1);
            elements * (1.0 + (row as f64).log2())
        }
        NodeOp::Whole(LibraryOp::Routine(call)) => call.cost(elements as usize),
        NodeOp::Whole(LibraryOp::Scan(_))
        | NodeOp::Gather
        | NodeOp::Index(_)
        | NodeOp::InPieces(_)
        | NodeOp::Assign(_)
        | NodeOp::Scatter(_)
        | NodeOp::WhereTrue
        | NodeOp::Argument
        | NodeOp::Deferred(_)
        | NodeOp::Join(_) => elements,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cheap_small_or_seldom_read_is_computed_again() {
        let caps = Capabilities { host_memory: true, ..Capabilities::default() };
        let pays = |points, stored, weight| Growth { points, stored }.pays(weight, &caps);
        assert!(pays(4_000_000, 100_000, T.costly));
        // Nothing is saved where each element is computed once, however much it is.
        assert!(!pays(1 << 40, 1 << 40, u32::MAX));
        // Two points an element are fewer operations than a store is worth.
        assert!(!pays(2_000_000, 1_000_000, T.costly) && pays(3_000_000, 1_000_000, T.costly));
        assert!(!pays(1 << 40, 1, T.recompute) && pays(1 << 40, 1, T.recompute + 1));
        // A launch has to be worth it, which is more operations on a faster device.
        let few = launch(&caps) as usize / T.costly as usize;
        assert!(!pays(few, 1, T.costly) && pays(few * 2, 1, T.costly));
        let gpu = Capabilities::default();
        assert!(!Growth { points: few * 2, stored: 1 }.pays(T.costly, &gpu));
    }
}
