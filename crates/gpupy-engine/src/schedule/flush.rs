//! Flushes: the pending graph below what is wanted, looked at once before anything of it is computed.
//!
//! Owns [`Demand`], what is wanted, and [`Flush`]: plain data, operands before what reads them. Invariant: a flush holds
//! no value, so that looking changes nothing of who holds what.
//!
//! Not here: what is decided by it (`fuse.rs`), which reductions go together (`together.rs`).

use crate::graph::value::{Kind, NodeOp, Value, ValueId};
use crate::schedule::together::Together;
use gpupy_core::driver::Capabilities;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;

/// The most values that an evaluation is told of which will be asked for next: what it looks at grows with them.
const TOGETHER: usize = 32;

/// What is asked of an engine.
pub(crate) struct Demand<'d> {
    pub value: &'d Value,
    /// The positions of the value.
    pub range: Range<usize>,
    /// What will be asked for after it.
    pub next: &'d [Value],
}

impl<'d> Demand<'d> {
    /// Positions of a value, and nothing that is known of besides.
    pub fn of(value: &'d Value, range: Range<usize>) -> Demand<'d> {
        Demand { value, range, next: &[] }
    }

    /// All of the first of these, and the others next; `None` where there is none.
    pub fn first_of(values: &'d [Value]) -> Option<Demand<'d>> {
        let (value, rest) = values.split_first()?;
        Some(Demand { value, range: 0..value.len(), next: &rest[..rest.len().min(TOGETHER)] })
    }
}

/// How an operation reads an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// In its own kernel, which may compute the operand.
    Inside,
    /// From a block: the operand is computed before.
    Stored,
}

/// A pending value.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    pub id: ValueId,
    pub len: usize,
    /// Operations to compute an element from the operands'.
    pub own: u32,
    /// Operations to compute an element from what is computed, shared ones counted again; saturating.
    pub weight: u32,
    /// Whether no kernel of what reads it computes it.
    pub stands_alone: bool,
    /// Whether it combines what it reads.
    pub reduces: bool,
    /// Whether anything but what is pending below what is wanted holds it.
    pub outlives: bool,
    /// The points of its kernel, where it has one of its own.
    pub points: usize,
    /// The first of those that are computed together with it in one launch, by its number: mostly itself.
    pub first: u32,
    /// The pending ones among what it reads.
    pub operands: SmallVec<[(u32, Reading); 3]>,
}

/// The pending values below what is wanted.
#[derive(Debug, Default)]
pub(crate) struct Flush {
    /// Operands before what reads them.
    pub nodes: Vec<Pending>,
    /// The number of each.
    pub numbers: FxHashMap<ValueId, u32>,
    /// What is wanted, each with the first that one launch may compute together with it.
    pub wanted: SmallVec<[(u32, u32); 2]>,
    /// Which reductions go together.
    pub together: Together,
}

impl Flush {
    /// The pending values below what is asked for, for a device of these capabilities.
    pub fn of(demand: &Demand<'_>, caps: &Capabilities) -> Flush {
        let most = caps.max_dests;
        let wanted: SmallVec<[&Value; 4]> =
            std::iter::once(demand.value).chain(demand.next).collect();
        let mut found: FxHashMap<ValueId, u32> = FxHashMap::default();
        let mut values: Vec<Value> = Vec::new();
        let mut open: Vec<Value> = wanted.iter().map(|value| (*value).clone()).collect();
        while let Some(value) = open.pop() {
            if value.is_computed() || found.contains_key(&value.id()) {
                continue;
            }
            found.insert(value.id(), 0);
            open.extend(value.state().operands.iter().flatten().cloned());
            values.push(value);
        }
        values.sort_unstable_by_key(Value::order);
        for (number, value) in (0..).zip(&values) {
            found.insert(value.id(), number);
        }
        let mut nodes: Vec<Pending> = Vec::with_capacity(values.len());
        // The handles that are known of: in the list here, and of what reads it.
        let mut handles = vec![1; values.len()];
        for value in &values {
            let pending = pending(value, (&found, &mut handles), &nodes);
            nodes.push(pending);
        }
        for ((node, value), handles) in nodes.iter_mut().zip(&values).zip(handles) {
            node.outlives = Arc::strong_count(&value.0) > handles;
        }
        let together = reductions_together(demand, &values, caps);
        let mut firsts: FxHashMap<u32, u32> = FxHashMap::default();
        for (number, node) in (0..).zip(&mut nodes) {
            let group = together.group(node.id);
            node.first = group.map_or(number, |group| *firsts.entry(group).or_insert(number));
        }
        let pending = wanted.iter().filter_map(|value| Some((*value, *found.get(&value.id())?)));
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
        Flush { nodes, numbers: found, wanted, together }
    }
}

/// Which reductions go together, of these pending values and of the last that were recorded and somebody holds.
fn reductions_together(demand: &Demand<'_>, values: &[Value], caps: &Capabilities) -> Together {
    let most = caps.max_reductions.min(caps.max_dests);
    let is_reduction =
        |value: &&Value| value.reduces().is_some() && caps.dtypes.contains(&value.dtype());
    let mut reductions: Vec<Value> = values.iter().filter(is_reduction).cloned().collect();
    if most < 2 || reductions.is_empty() {
        return Together::default();
    }
    let own: FxHashSet<ValueId> = reductions.iter().map(Value::id).collect();
    let held =
        demand.value.0.interner.as_ref().map_or_else(Vec::new, |table| table.pending_reductions());
    reductions.extend(
        held.into_iter().filter(|value| is_reduction(&value) && !own.contains(&value.id())),
    );
    reductions.sort_unstable_by_key(Value::order);
    Together::of(&reductions, most)
}

/// A pending value behind these; the handles that it has of others are counted.
fn pending(
    value: &Value,
    (found, handles): (&FxHashMap<ValueId, u32>, &mut [usize]),
    before: &[Pending],
) -> Pending {
    let len = value.len();
    let mut node = Pending {
        id: value.id(),
        len,
        own: 0,
        weight: 0,
        stands_alone: false,
        reduces: value.reduces().is_some(),
        outlives: false,
        points: len,
        first: before.len() as u32,
        operands: SmallVec::new(),
    };
    let Kind::Expr { op, inputs } = &value.0.kind else { return node };
    node.own = op.cost();
    if let NodeOp::Reduce { n, .. } = op {
        let rows = len / value.shape().last().copied().unwrap_or(1).max(1);
        node.points = rows.saturating_mul(*n);
    }
    for (place, input) in inputs.iter().enumerate() {
        let number = input.id().and_then(|id| found.get(&id)).copied();
        // What was not found is computed.
        let Some(number) = number.filter(|number| (*number as usize) < before.len()) else {
            continue;
        };
        handles[number as usize] += 1;
        let reading = match op {
            NodeOp::Whole(_) | NodeOp::Scatter(_) | NodeOp::WhereTrue => Reading::Stored,
            NodeOp::Assign(_) if place == 0 => Reading::Stored,
            NodeOp::Gather if place == 1 => Reading::Stored,
            _ => Reading::Inside,
        };
        if !node.operands.contains(&(number, reading)) {
            node.operands.push((number, reading));
        }
    }
    let below = node.operands.iter().map(|(number, _)| &before[*number as usize]);
    let inside = below.filter(|operand| !operand.stands_alone).map(|operand| operand.weight);
    node.weight = inside.fold(node.own, u32::saturating_add);
    node.stands_alone = op.stands_alone();
    node
}
