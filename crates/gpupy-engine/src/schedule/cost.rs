//! What computing, storing and loading cost: the model by which a schedule decides what it computes again and what it
//! stores.
//!
//! Costs are in *operations*: what one arithmetic instruction takes for one element, as a part of a kernel. A function
//! counts as many as `gpupy_core::functions::cost` says. Owns the constants, each with what it was measured on, and
//! [`Growth`]. Invariant: nothing here changes what is computed, only how often.
//!
//! Not here: who asks, which is the walker for what it reaches in several ways or more often than it has elements,
//! `again.rs` for what earlier evaluations computed, `siblings.rs` for what others want, `placement.rs` for devices.

use crate::explain::step::Prices;
use crate::graph::lanes::FEW;
use crate::graph::value::{Kind, NodeOp, Value, ValueId};
use crate::graph::whole::Whole;
use gpupy_core::driver::{Capabilities, Costs};
use gpupy_core::functions;
use gpupy_core::shape::size_of;
use smallvec::SmallVec;
use std::ops::Range;

/// Operations that may be computed again for another access to the same value, rather than storing
/// it: about what a load and a launch cost.
pub(crate) const RECOMPUTE: u32 = 16;

/// Operations that take much longer than to store an element and to load it.
pub(crate) const COSTLY: u32 = 48;

/// Operations that a kernel may have more, so that accesses to a value that lie apart are computed
/// by it.
const MOST_APART: u32 = 256;

/// Such accesses that are computed by a kernel whatever the size of the value, as those of the components of vectors:
/// they spare it the launch that would store the value.
const FEW_APART: usize = FEW;

/// The elements of the smallest value for which a kernel has more operations for many accesses: a smaller one lies in a
/// cache.
const LARGE: usize = 1 << 16;

/// What storing an element in new memory costs, and reading it from there: 0.65 ns a float32 and 1.5 ns a float64 on two
/// cores of an AMD EPYC, where an operation takes 0.02 ns.
const STORE: u64 = 64;

/// What loading an element costs that is read several times, and so mostly from a cache: less than 0.1 ns there, by one
/// measurement.
const LOAD: u64 = 4;

/// What a launch costs with all that leads to it, in nanoseconds: as OpenGL and Vulkan take on Mesa, which is assumed
/// of every device.
const LAUNCH: f64 = 20_000.0;

/// What one operation on one element costs, in nanoseconds. Measured with the distance map of 50
/// points, 350 operations, on two cores: 8.8 ns an element by Mesa's llvmpipe, 6.4 by AVX-512 code
/// on the host. A GPU is taken for one of 10^12 operations a second, which small ones reach.
const ON_SOFTWARE: f64 = 0.025;
/// As above, for the host driver.
const ON_HOST: f64 = 0.02;
/// As above, for a hardware GPU.
const ON_HARDWARE: f64 = 0.001;

/// What one operation on one element costs on a device, in nanoseconds.
pub(crate) fn operation_cost(caps: &Capabilities) -> f64 {
    match (caps.host_memory, caps.hardware) {
        (true, _) => ON_HOST,
        (false, true) => ON_HARDWARE,
        (false, false) => ON_SOFTWARE,
    }
}

/// What launches and transfers cost where the driver has not measured it: as `LAUNCH`, and 10 GB/s.
const ASSUMED: Costs = Costs { round_trip: LAUNCH, upload: 0.1, download: 0.1 };

/// What launches and transfers cost on a device, in nanoseconds.
pub(crate) fn transfer_costs(caps: &Capabilities) -> Costs {
    caps.costs.unwrap_or(ASSUMED)
}

/// What a step of an explanation is priced by.
pub(crate) fn prices(caps: &Capabilities) -> Prices {
    let Costs { round_trip, upload, download } = transfer_costs(caps);
    Prices {
        operation: operation_cost(caps),
        on_host: ON_HOST,
        load: LOAD as f64,
        store: STORE as f64,
        launch: LAUNCH,
        round_trip,
        upload,
        download,
    }
}

/// Elements of a piece of a map that is stored for a reduction to read. In host memory it is still in a cache when it is
/// read: sums of an outer product of 8000 by 8000 take 26 to 34 ms of two cores' time with pieces of 2^16 to 2^20
/// float32, and 55 with 2^22 or with all of it (an AMD EPYC with 32 MiB); the most of these has the fewest launches.
const PIECE_IN_CACHE: usize = 1 << 20;
/// Elsewhere so many that a launch takes little time beside it. Mesa's rasterisers take as long with any; not measured on
/// hardware.
const PIECE_ON_DEVICE: usize = 1 << 22;

/// The most elements of a map that are stored at a time for a reduction to read.
pub(crate) fn stored_piece(caps: &Capabilities) -> usize {
    if caps.host_memory { PIECE_IN_CACHE } else { PIECE_ON_DEVICE }
}

/// The bytes that the kernels of a strip go over. Rows of 4096² float32 that are normalised take 0.86, 0.71, 0.76 and 0.73
/// of the time without strips, with strips of 4, 8, 16 and 32 MiB, on two cores of an AMD EPYC with a cache of 32 MiB and
/// with work beside them; with 1 MiB 1.5 times as long, as each launch is shared among threads. Where they have all of that
/// machine's memory bandwidth, 0.8 to 1.0 (variances, which read twice, 1.0 to 1.1: these have no strips).
const STRIP: usize = 1 << 23;
/// The bytes that must be read again for strips to pay: below, most of them are still in that cache. Rows of 2048² take as
/// long with strips as without.
const READ_AGAIN: usize = 1 << 26;

/// The fewest strips, and the fewest rows of one: with fewer strips, rows are too long to be in a cache.
pub(crate) const FEWEST_STRIPS: usize = 2;
/// The most kernels that share strips, chosen: more wait for less and less of the same rows.
pub(crate) const MOST_STRIPED: usize = 16;

/// The least points of the first kernel of strips: 16 of these that read a float64 would read enough.
const POINTS: usize = 1 << 17;

/// Whether a kernel over such a space may be the first of strips.
pub(crate) fn is_for_strips(space: &[usize]) -> bool {
    size_of(space) >= POINTS
}

/// How many strips there are of kernels that go over so many bytes, if that pays: they read so many of these again, and
/// so many are given by one and read by another.
pub(crate) fn strips(bytes: usize, again: usize, in_passing: usize, rows: usize) -> Option<usize> {
    // All that strips give is there until the last: what is given in passing would be let go before.
    let pays = again >= READ_AGAIN && in_passing <= bytes / 16;
    let count = (bytes / STRIP).min(rows / FEWEST_STRIPS);
    (pays && count >= FEWEST_STRIPS).then_some(count)
}

/// The operations that take as long as a launch.
fn launch(caps: &Capabilities) -> u64 {
    (LAUNCH / operation_cost(caps)) as u64
}

/// The operations that computing a value at so many accesses takes beyond those of computing it once; `points` are
/// all that are computed, `reach` is where they lie, and `weight` counts the operations of an element up to so many.
pub(crate) fn again(
    value: &Value,
    accesses: usize,
    points: usize,
    reach: impl FnOnce() -> Range<usize>,
    weight: impl FnOnce(u32) -> u32,
) -> u32 {
    let others = accesses as u32 - 1;
    // What it cost when it was recorded is the most that it costs now.
    let most = value.0.weight.saturating_mul(others);
    if most <= RECOMPUTE {
        return most;
    }
    // Accesses that lie apart, as those of the rows of blocks do, compute nothing twice.
    let may_be_apart = accesses <= FEW_APART || value.len() >= LARGE;
    let is_apart = may_be_apart && points <= reach().len();
    let limit = if is_apart { MOST_APART } else { RECOMPUTE + 1 };
    let again = weight(limit.div_ceil(others)).saturating_mul(others);
    if is_apart && again < MOST_APART { 0 } else { again }
}

/// What is computed where it is needed: at so many points an element of a value of which so many would be stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Growth {
    pub points: usize,
    pub stored: usize,
}

impl Growth {
    /// Of more operations a kernel takes so long that storing is always little.
    pub const MOST: u32 = 4 * COSTLY;

    /// Whether a value may be worth storing, of which no more is known than what it cost when it was recorded.
    pub fn may_pay(value: &Value, points: usize, caps: &Capabilities) -> bool {
        let weight = value.0.weight;
        weight > RECOMPUTE && u64::from(weight).saturating_mul(points as u64) > launch(caps)
    }

    /// Whether storing the elements and loading them at each point costs less than computing them at each point.
    pub fn pays(self, weight: u32, caps: &Capabilities) -> bool {
        let (points, stored) = (self.points as u64, self.stored as u64);
        let saved = u64::from(weight).saturating_mul(points.saturating_sub(stored));
        let paid = stored.saturating_mul(STORE).saturating_add(points.saturating_mul(LOAD));
        weight > RECOMPUTE && saved > paid.saturating_add(launch(caps))
    }
}

/// The operations that an element of a value takes now, from what is there or has a kernel of its own; what is
/// shared counts once. As many are counted as make a difference: `most`.
pub(crate) fn weight(value: &Value, most: u32, is_there: impl Fn(&Value) -> bool) -> u32 {
    let mut open: SmallVec<[Value; 8]> = SmallVec::new();
    let mut seen: SmallVec<[ValueId; 16]> = SmallVec::new();
    let mut weight = 0u32;
    open.push(value.clone());
    while let Some(value) = open.pop() {
        let Kind::Expr { op, .. } = &value.0.kind else { continue };
        if op.stands_alone() || is_there(&value) || seen.contains(&value.id()) {
            continue;
        }
        seen.push(value.id());
        weight += op.cost();
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
        NodeOp::Apply(op) => elements * f64::from(functions::cost(*op)),
        NodeOp::Reduce { n, .. } => {
            let last = shape.last().copied().unwrap_or(1).max(1);
            elements / last as f64 * *n as f64
        }
        NodeOp::Whole(Whole::MatMul(k)) => elements * 2.0 * *k as f64,
        NodeOp::Whole(Whole::Sort | Whole::ArgSort) => {
            let row = shape.last().copied().unwrap_or(1);
            elements * (1.0 + (row as f64).log2())
        }
        NodeOp::Whole(Whole::Scan(_))
        | NodeOp::Gather
        | NodeOp::Index(_)
        | NodeOp::Assign(_)
        | NodeOp::Scatter(_)
        | NodeOp::WhereTrue
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
        assert!(pays(4_000_000, 100_000, COSTLY));
        // Nothing is saved where each element is computed once, however much it is.
        assert!(!pays(1 << 40, 1 << 40, u32::MAX));
        // Two points an element are fewer operations than a store is worth.
        assert!(!pays(2_000_000, 1_000_000, COSTLY) && pays(3_000_000, 1_000_000, COSTLY));
        assert!(!pays(1 << 40, 1, RECOMPUTE) && pays(1 << 40, 1, RECOMPUTE + 1));
        // A launch has to be worth it, which is more operations on a faster device.
        let few = launch(&caps) as usize / COSTLY as usize;
        assert!(!pays(few, 1, COSTLY) && pays(few * 2, 1, COSTLY));
        let gpu = Capabilities { hardware: true, ..Capabilities::default() };
        assert!(!Growth { points: few * 2, stored: 1 }.pays(COSTLY, &gpu));
    }
}
