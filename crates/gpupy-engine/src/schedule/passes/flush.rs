//! Flush analysis: the pending graph below the wanted values, examined once before anything of it is computed.
//!
//! Owns [`FlushAnalysis`]: plain data, operands before the values that read them.
//! Invariant: an analysis holds no value, so that it does not change the counts of handles.
//!
//! Not here: decisions (`fusion.rs`), which reductions go together (`reduction_groups.rs`).

use crate::graph::value::{NodeOp, Value, ValueId, ValueKind};
use crate::schedule::passes::demand::Demand;
use crate::schedule::passes::pending_graph::{InputSource, PendingGraph};
use crate::schedule::passes::reduction_groups::ReductionGroups;
use gpupy_core::driver::Capabilities;
use gpupy_core::shape::size_of;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// How an operation reads an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadPattern {
    /// In its own kernel, which may compute the operand.
    Inside,
    /// From a block: the operand is computed before.
    Stored,
    /// In kernels of parts of it, which may compute the operand.
    Parts(PartsRead),
}

/// How parts of a joined value read an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PartsRead {
    /// The points of all of them.
    pub points: usize,
    /// The first of their kernels: boxes of the same extents are computed together.
    pub kernel: u32,
    /// Whether they are of more than one kernel.
    pub are_several: bool,
}

/// A pending value.
#[derive(Clone, Debug)]
pub(crate) struct PendingValue {
    pub id: ValueId,
    pub len: usize,
    /// Operations to compute an element from the operands'.
    pub own: u32,
    /// Operations to compute an element from computed values, shared ones counted again; saturating.
    pub weight: u32,
    /// Whether it is never computed inside the kernel of a reader.
    pub stands_alone: bool,
    /// Whether it is not stored unless it has to be, as it would take more memory than there is.
    pub streams: bool,
    /// Whether it is a reduction.
    pub reduces: bool,
    /// Whether it is computed from elements at other positions, as a step of a stencil is.
    pub moves: bool,
    /// Whether it has handles outside the pending graph.
    pub outlives: bool,
    /// The points of its kernel, where it has one of its own.
    pub points: usize,
    /// The number of the first value that one launch computes together with it: usually its own.
    pub first: u32,
    /// Its pending operands.
    pub operands: SmallVec<[(u32, ReadPattern); 3]>,
}

/// The pending values below the wanted ones.
#[derive(Debug, Default)]
pub(crate) struct FlushAnalysis {
    /// The nodes, operands before their readers.
    pub nodes: Vec<PendingValue>,
    /// The number of each.
    pub numbers: FxHashMap<ValueId, u32>,
    /// The values that were computed before, and that nothing but this holds.
    pub unheld: Vec<ValueId>,
    /// The wanted values, each with the first value that one launch may compute together with it.
    pub wanted: SmallVec<[(u32, u32); 2]>,
    /// Which reductions go together.
    pub together: ReductionGroups,
}

impl FlushAnalysis {
    /// The analysis of the pending values below a demand, for a device of these capabilities.
    pub fn of(demand: &Demand<'_>, below: &PendingGraph, caps: &Capabilities) -> FlushAnalysis {
        let most = caps.max_dests;
        let mut nodes: Vec<PendingValue> = Vec::with_capacity(below.values.len());
        for (number, value) in below.values.iter().enumerate() {
            let outlives = below.outlives[number];
            let pending =
                PendingValue { outlives, ..pending(value, &below.reads[number], &nodes, most) };
            nodes.push(pending);
        }
        let together = reductions_together(demand, below, caps);
        let mut firsts: FxHashMap<u32, u32> = FxHashMap::default();
        for (number, node) in (0..).zip(&mut nodes) {
            let group = together.group(node.id);
            node.first = group.map_or(number, |group| *firsts.entry(group).or_insert(number));
        }
        let pending = demand.wanted().filter_map(|value| Some((value, below.number(value.id())?)));
        let mut groups: SmallVec<[(&Value, u32, usize); 2]> = SmallVec::new();
        let mut wanted = SmallVec::new();
        for (value, number) in pending {
            let is_map = !nodes[number as usize].stands_alone;
            let known = groups.iter_mut().find(|(first, _, count)| {
                is_map && first.shape() == value.shape() && *count < most
            });
            let first = match known {
                Some((_, first, count)) => {
                    *count += 1;
                    *first
                }
                None => {
                    groups.push((value, number, 1));
                    number
                }
            };
            wanted.push((number, first));
        }
        let ids = (0..).zip(&nodes).map(|(number, node)| (node.id, number));
        let leaves = below.leaves.iter().zip(&below.leaf_outlives);
        let unheld = leaves.filter(|(_, outlives)| !**outlives).map(|(leaf, _)| leaf.id());
        FlushAnalysis { numbers: ids.collect(), unheld: unheld.collect(), nodes, wanted, together }
    }
}

/// The groups of reductions among these pending values and the recent ones that are held.
fn reductions_together(
    demand: &Demand<'_>,
    below: &PendingGraph,
    caps: &Capabilities,
) -> ReductionGroups {
    let most = caps.max_reductions.min(caps.max_dests);
    let is_reduction =
        |value: &&Value| value.reduces().is_some() && caps.dtypes.contains(&value.dtype());
    let mut reductions: Vec<Value> = below.values.iter().filter(is_reduction).cloned().collect();
    if most < 2 || reductions.is_empty() {
        return ReductionGroups::default();
    }
    let table = demand.value.0.interner.as_ref().filter(|_| !below.others.is_empty());
    let held = table.map_or_else(Vec::new, |table| table.pending_reductions());
    let is_other =
        |value: &Value| matches!(below.numbers.get(&value.id()), Some(InputSource::Other(_)));
    reductions.extend(held.into_iter().filter(|value| is_reduction(&value) && is_other(value)));
    reductions.sort_unstable_by_key(Value::order);
    ReductionGroups::of(&reductions, most)
}

/// A pending value behind these, which reads these sources, where a launch has so many destinations.
fn pending(
    value: &Value,
    reads: &[InputSource],
    before: &[PendingValue],
    most: usize,
) -> PendingValue {
    let len = value.len();
    let mut node = PendingValue {
        id: value.id(),
        len,
        own: 0,
        weight: 0,
        stands_alone: false,
        streams: value.0.streams,
        reduces: value.reduces().is_some(),
        moves: value.0.kind.moves(),
        outlives: false,
        points: len,
        first: before.len() as u32,
        operands: SmallVec::new(),
    };
    let ValueKind::Expr { op, .. } = &value.0.kind else { return node };
    node.own = op.cost();
    if let NodeOp::Reduce { n, .. } = op {
        let rows = len / value.shape().last().copied().unwrap_or(1).max(1);
        node.points = rows.saturating_mul(*n);
    }
    for (place, source) in reads.iter().enumerate() {
        let InputSource::Pending(number) = *source else { continue };
        let reading = match op {
            NodeOp::Whole(_) | NodeOp::Scatter(_) | NodeOp::WhereTrue => ReadPattern::Stored,
            NodeOp::Assign(_) if place == 0 => ReadPattern::Stored,
            NodeOp::Gather if place == 1 => ReadPattern::Stored,
            NodeOp::Join(join) => {
                let points = size_of(&join.shape(place, value.shape()));
                let kernel = if join.are_alike() { place / most.max(1) } else { place } as u32;
                let known = node.operands.iter_mut().find(|(known, _)| *known == number);
                if let Some((_, ReadPattern::Parts(others))) = known {
                    others.points = others.points.saturating_add(points);
                    others.are_several |= others.kernel != kernel;
                    continue;
                }
                ReadPattern::Parts(PartsRead { points, kernel, are_several: false })
            }
            _ => ReadPattern::Inside,
        };
        if !node.operands.contains(&(number, reading)) {
            node.operands.push((number, reading));
        }
    }
    let below = node.operands.iter().map(|(number, _)| &before[*number as usize]);
    let mut inside: SmallVec<[&PendingValue; 3]> = below.collect();
    inside.retain(|operand| !operand.stands_alone);
    node.moves |= inside.iter().any(|operand| operand.moves);
    node.weight = inside.iter().map(|operand| operand.weight).fold(node.own, u32::saturating_add);
    node.stands_alone = op.stands_alone();
    node
}
