//! Siblings: pending values that are computed almost for free beside the one that is wanted.
//!
//! Owns the choice of values that a launch computes besides its own: the three channels of an image
//! share most of their operations, and several destinations of one launch compute those once. A
//! sibling is a living expression of the same shape that no other pending expression uses, at
//! least half of whose operations the wanted value needs as well. Invariant: nothing is launched here; whether
//! all fit into one kernel is asked where they are (`execute/pieces.rs`).
//!
//! A reduction is no sibling, but may share what its map computes: that is chosen here too.
//!
//! Not here: values that the wanted one itself needs (`walk.rs`).

use crate::graph::value::{Input, Kind, NodeOp, Value, ValueId};
use crate::memory::access;
use crate::memory::tiling::Tile;
use crate::schedule::device::Device;
use crate::schedule::program::kernel::{Marks, nodes_of};
use crate::schedule::walk::{Child, RECOMPUTE, Role, Start, Walk, WalkNode};
use rustc_hash::FxHashSet;
use std::ops::Range;
use std::sync::Arc;

/// A value with those that are computed almost for free beside a tile of it, and the walk of all, if there are any.
pub(crate) fn beside(
    device: &Device,
    walk: &Walk,
    value: &Value,
    tile: &Tile,
) -> Option<(Vec<Value>, Walk)> {
    let candidates = candidates(device, walk, value, tile);
    if candidates.is_empty() { None } else { with_siblings(device, value, candidates, tile) }
}

/// What may be siblings of a value whose tile this walk computes.
fn candidates(device: &Device, walk: &Walk, value: &Value, tile: &Tile) -> Vec<Value> {
    /// Nodes in a walk that could still be one kernel with others beside it.
    const MANY: usize = 2048;
    let size = walk.nodes.len();
    if size < RECOMPUTE as usize || size > MANY || !is_shared(walk) {
        return Vec::new();
    }
    let computed: FxHashSet<ValueId> = operations(walk).collect();
    let pending = value.0.interner.as_ref().map_or_else(Vec::new, |table| table.pending());
    let is_alike = |other: &&Value| {
        matches!(other.0.kind, Kind::Expr { op: NodeOp::Apply(_) | NodeOp::Gather, .. })
            && other.shape() == value.shape()
            && device.caps.dtypes.contains(&other.dtype())
            && !computed.contains(&other.id())
            && !other.state().computed.covers(tile.range.clone())
    };
    let mut candidates: Vec<Value> = pending.iter().filter(is_alike).cloned().collect();
    if candidates.is_empty() {
        return candidates;
    }
    let used: FxHashSet<ValueId> = pending.iter().flat_map(inputs).collect();
    candidates.retain(|other| !used.contains(&other.id()));
    candidates.sort_unstable_by_key(Value::id);
    candidates
}

/// A value with those of the candidates that pay as its siblings, if there are any, and the walk of all.
fn with_siblings(
    device: &Device,
    value: &Value,
    mut candidates: Vec<Value>,
    tile: &Tile,
) -> Option<(Vec<Value>, Walk)> {
    let walk = |candidates: &[Value]| {
        let starts: Vec<Start<'_>> =
            std::iter::once(value).chain(candidates).map(Start::Value).collect();
        let (at, space) = access::space_of_tile(value.shape(), tile);
        Walk::new(device, &starts, at, space).ok()?.ok()
    };
    let mut together = walk(&candidates);
    if together.is_none() {
        // Some need something first, or cannot be computed here.
        candidates.retain(|other| walk(std::slice::from_ref(other)).is_some());
        together = walk(&candidates);
    }
    let all = candidates.len();
    let mut pays = paying(together.as_ref()?).into_iter();
    candidates.retain(|_| pays.next().unwrap_or(false));
    candidates.truncate(device.caps.max_dests - 1);
    if candidates.is_empty() {
        return None;
    }
    if candidates.len() < all {
        together = walk(&candidates);
    }
    let siblings = std::iter::once(value.clone()).chain(candidates).collect();
    Some((siblings, together?))
}

/// For each root of a walk but the first, whether it shares so much with those before it that pay that it is
/// computed almost for free beside them.
fn paying(walk: &Walk) -> Vec<bool> {
    let mut computed = vec![false; walk.nodes.len()];
    let mut seen = Marks::default();
    let mut below = |root: &Child| -> Vec<u32> {
        seen.clear(walk.nodes.len());
        let mut found: Vec<u32> = Vec::new();
        let mut open: Vec<u32> = nodes_of(std::slice::from_ref(root)).collect();
        while let Some(node) = open.pop() {
            if let Role::Apply(_, children) = &walk.nodes[node as usize].role
                && seen.mark(node)
            {
                found.push(node);
                open.extend(nodes_of(children));
            }
        }
        found
    };
    let mut pays = Vec::new();
    for (number, root) in walk.roots.iter().enumerate() {
        let own = below(root);
        let shared = own.iter().filter(|node| computed[**node as usize]).count();
        let is_kept = number == 0 || shared >= RECOMPUTE as usize && shared * 2 >= own.len();
        if is_kept {
            own.iter().for_each(|node| computed[*node as usize] = true);
        }
        if number > 0 {
            pays.push(is_kept);
        }
    }
    pays
}

/// The values of the operations that a walk computes.
fn operations(walk: &Walk) -> impl Iterator<Item = ValueId> + '_ {
    let computes = |node: &&WalkNode| matches!(node.role, Role::Apply(..));
    walk.nodes.iter().filter(computes).map(|node| node.value.id())
}

/// What the map of a reduction (the value) computes at great cost and another pending expression wants as
/// well, a second reduction of it for one, with the positions that the map reads: computed by itself, it
/// is there for both.
pub(crate) fn costly_for_others(walk: &Walk, value: &Value) -> Option<(Value, Range<usize>)> {
    /// Operations that take much longer than to store an element and to load it.
    const COSTLY: u32 = 48;
    let is_costly = |node: &&WalkNode| node.value.0.weight >= COSTLY;
    // Most walks have none, and what is not held outside nobody wants.
    walk.nodes.iter().find(is_costly).and_then(|_| shared(walk).find(is_costly))?;
    let own: FxHashSet<ValueId> = walk.nodes.iter().map(|node| node.value.id()).collect();
    let pending = value.0.interner.as_ref().map_or_else(Vec::new, |table| table.pending());
    let others =
        pending.iter().filter(|other| !own.contains(&other.id()) && other.id() != value.id());
    let wanted: FxHashSet<ValueId> = others.flat_map(inputs).collect();
    let is_wanted = |node: &&WalkNode| is_costly(node) && wanted.contains(&node.value.id());
    let node = shared(walk).find(is_wanted)?;
    Some((node.value.clone(), access::reach(&node.access, &walk.space)))
}

/// The values that an expression reads.
fn inputs(value: &Value) -> impl Iterator<Item = ValueId> + '_ {
    let inputs = match &value.0.kind {
        Kind::Expr { inputs, .. } => &inputs[..],
        _ => &[],
    };
    inputs.iter().filter_map(Input::id)
}

/// Whether somebody outside the walk holds one of its inner values: without that there is no
/// sibling, and nothing to look for.
fn is_shared(walk: &Walk) -> bool {
    shared(walk).next().is_some()
}

/// The inner nodes whose values somebody outside the walk holds.
fn shared(walk: &Walk) -> impl Iterator<Item = &WalkNode> {
    let mut handles = vec![1usize; walk.nodes.len()];
    for node in &walk.nodes {
        if let Role::Apply(_, children) = &node.role {
            for child in nodes_of(children) {
                handles[child as usize] += 1;
            }
        }
    }
    let inner = |role: &Role| matches!(role, Role::Apply(..));
    walk.nodes
        .iter()
        .zip(handles)
        .skip(1)
        .filter(move |(node, known)| inner(&node.role) && Arc::strong_count(&node.value.0) > *known)
        .map(|(node, _)| node)
}
