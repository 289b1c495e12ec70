//! Rematerialisation: when a value is recomputed in kernels, and when it is stored instead.
//!
//! A pending value that a kernel computes on the way to another is stored nowhere: most are not read again, and the
//! memory that they do not take is the gain of fusion. But a value that lives on may be read at every iteration of a
//! loop, and then costs as much each time. This is the ski-rental problem: a skier buys when the rents reach half of
//! the price, so an evaluation stores a value when recomputing it reaches half of the cost of storing it. So the second
//! use of half of a value stores it, and no program takes much more than twice the time that it would have taken with
//! foresight. A value of few elements in host memory is stored at its first use: that takes less than a launch, and
//! what is done with it later is eager then.
//!
//! Owns [`Rematerialisation`], the budget, and the rule. Invariants: a first use of others stores nothing; only tiles
//! that a walk reads are stored; nothing is stored that an unevaluated earlier operation might have released.
//!
//! Not here: the record of recomputations (`graph/passed.rs`), which nodes of a walk are computed where they are needed
//! (`walk/mod.rs`), horizontal fusion and the operands that reductions share (`horizontal_fusion.rs`).

use crate::graph::passed::PartialRead;
use crate::graph::value::{Node, NodeOp, Value, ValueId, ValueKind, computed_bytes};
use crate::schedule::engine_device::OpenDevice;
use crate::schedule::walk::{FusionWalk, Needs, Role, WalkNode, nodes_of};
use crate::thresholds::T;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::sync::{Arc, Weak};

/// The values that were stored so, and the budget of their bytes.
pub(crate) struct Rematerialisation {
    /// The stored tiles by value and first position, as a tile to be stored first may have to wait for a pause.
    stored: FxHashMap<(ValueId, usize), (Weak<Node>, u64)>,
    /// Bytes that may be stored in any case.
    least: u64,
    /// The most elements that are stored at the first use: those on which operations are eager.
    few: usize,
    /// What the flush that is being compiled stores so.
    pub taken: Vec<(ValueId, Range<usize>)>,
    /// Whether there was no room for something that it would have stored.
    pub is_full: bool,
}

impl Rematerialisation {
    /// Nothing so far; so many bytes may be stored in any case, and so many elements at the first use.
    pub fn new(least: u64, few: usize) -> Rematerialisation {
        let (stored, taken) = (FxHashMap::default(), Vec::new());
        Rematerialisation { stored, least, few, taken, is_full: false }
    }

    /// A flush is begun.
    pub fn begin(&mut self) {
        self.taken.clear();
        self.is_full = false;
    }

    /// Takes bytes for tiles of a value, if there is room: as many as all that is computed otherwise takes, so that a
    /// program's memory no more than doubles, or as much as pending operations may keep alive in any case.
    pub fn take(&mut self, value: &Value, tiles: &Range<usize>) -> bool {
        let (name, bytes) =
            ((value.id(), tiles.start), (tiles.len() * value.dtype().size()) as u64);
        self.stored.retain(|own, (value, _)| *own != name && value.strong_count() > 0);
        let stored = self.stored.values().map(|(_, bytes)| bytes).sum::<u64>();
        let most = computed_bytes().saturating_sub(stored).max(self.least);
        let has_room = stored.saturating_add(bytes) <= most;
        if has_room {
            self.stored.insert(name, (Arc::downgrade(&value.0), bytes));
            self.taken.push((value.id(), tiles.clone()));
        }
        self.is_full |= !has_room;
        has_room
    }
}

/// The values that a walk computes in passing.
pub(crate) struct Passes(Vec<(Weak<Node>, PartialRead)>);

impl Passes {
    /// Those of a walk that lets go of its nodes.
    pub fn of(walk: &FusionWalk, device: &OpenDevice) -> Passes {
        let all = lasting(walk, device).into_iter().map(|node| {
            let node = &walk.nodes[node as usize];
            (Arc::downgrade(&node.value.0), PartialRead::of(&node.access, &walk.space))
        });
        Passes(all.collect())
    }

    /// Those that are held, with the read of each.
    pub fn values(self) -> impl Iterator<Item = (Value, PartialRead)> {
        self.0.into_iter().filter_map(|(value, read)| Some((Value(value.upgrade()?), read)))
    }
}

/// Notes that a kernel computed a value in passing. A value that was stored on the way, or is gone, is not recomputed.
pub(crate) fn note(value: &Value, read: PartialRead) {
    let mut state = value.state();
    if !state.computed.covers(read.reach.clone()) {
        state.passed.get_or_insert_default().note(read);
    }
}

impl Rematerialisation {
    /// The tiles that a node reads, if computing some of it again has cost half as much by now as storing them does, or
    /// they are few elements.
    fn due_tiles(
        &self,
        walk: &FusionWalk,
        node: &WalkNode,
        device: &OpenDevice,
    ) -> Option<Range<usize>> {
        let read = PartialRead::of(&node.access, &walk.space);
        let is_few = device.caps.host_memory && node.value.len() <= self.few;
        let again = match (is_few, &node.value.state().passed) {
            (true, _) => usize::MAX,
            (false, passed) => passed.as_ref()?.again_with(&read)?,
        };
        let tiling = device.tiling_of(&node.value);
        let numbers = tiling.numbers(read.reach);
        let (first, last) = (tiling.tile(numbers.start), tiling.tile(numbers.end - 1));
        let tiles = first.range.start..last.range.end;
        (again >= tiles.len() / 2).then_some(tiles)
    }

    /// The values that a walk for a value's tile would recompute and should read: they are stored first.
    pub fn stored_first(
        &mut self,
        walk: &FusionWalk,
        value: &Value,
        device: &OpenDevice,
    ) -> Option<Needs> {
        let mut due: FxHashMap<u32, Range<usize>> = FxHashMap::default();
        for number in lasting(walk, device) {
            let node = &walk.nodes[number as usize];
            if node.value.id() != value.id()
                && let Some(tiles) = self.due_tiles(walk, node, device)
            {
                due.insert(number, tiles);
            }
        }
        if due.is_empty() {
            return None;
        }
        // A value that was computed in passing itself is stored now, and values below it will be read less: half of the
        // price is enough, and half of that for values stored below those.
        let was_passed = value.state().passed.is_some();
        let mut order = walk.operands_first();
        order.reverse();
        if was_passed {
            let is_computed = |n: &u32| matches!(walk.nodes[*n as usize].role, Role::Apply(..));
            let computed: Vec<u32> = order.iter().copied().filter(is_computed).collect();
            let far: FxHashSet<u32> = computed[computed.len() / 2..].iter().copied().collect();
            due.retain(|node, _| far.contains(node));
        }
        let mut needs = Needs::new();
        let mut live: Vec<bool> = vec![false; walk.nodes.len()];
        nodes_of(&walk.roots).for_each(|root| live[root as usize] = true);
        // Parents come before children; a value that only stored values read is not computed here.
        for node in order {
            if !live[node as usize] {
                continue;
            }
            let here = &walk.nodes[node as usize];
            if let Some(tiles) = due.remove(&node)
                && self.take(&here.value, &tiles)
            {
                needs.push((here.value.clone(), tiles));
                if due.is_empty() {
                    break;
                }
                continue;
            }
            if let Role::Apply(_, children) = &here.role {
                nodes_of(children).for_each(|child| live[child as usize] = true);
            }
        }
        (!needs.is_empty()).then_some(needs)
    }
}

/// The nodes that a walk computes at some cost and that have other handles: a value without other handles is not
/// recomputed. Steps of an expanded operation belong to the walk.
fn lasting(walk: &FusionWalk, device: &OpenDevice) -> Vec<u32> {
    let costs = |node: &WalkNode| node.value.0.weight > T.recompute;
    // Everything that a walk computes is part of the cost of its roots.
    if !nodes_of(&walk.roots).any(|root| costs(&walk.nodes[root as usize])) {
        return Vec::new();
    }
    let is_lasting = |(number, node): (usize, &WalkNode)| {
        let is_operation = matches!(node.role, Role::Apply(..))
            && matches!(
                node.value.0.kind,
                ValueKind::Expr {
                    op: NodeOp::Apply(_) | NodeOp::Call(_) | NodeOp::Gather | NodeOp::Join(_),
                    ..
                }
            );
        let is_read = node.value.0.streams && node.value.0.weight <= T.streamed;
        let lasts =
            is_operation && costs(node) && !is_read && device.flush.fates.lasts(&node.value);
        lasts.then_some(number as u32)
    };
    walk.nodes.iter().enumerate().filter_map(is_lasting).collect()
}
